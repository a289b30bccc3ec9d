"""An epoch: many interactions on the complete graph at once, exactly (Berenbrink et al., ESA 2020, multi-batch).

While no agent is met twice, an interaction needs no states: its two agents are *delayed*. A run of delayed
interactions ends with one that meets an agent again; that agent is then looked at: it is *touched* already
(its state is in a list), or it is one of a delayed interaction, which is carried out now. At the end all
interactions still delayed are carried out together: their initiators and responders are taken from the
untouched population without replacement and matched at random.
"""

import math
from collections import namedtuple

import numpy as np

from hegemon.compute.compilation import lean
from hegemon.compute.randomness import next_below, next_double, next_index
from hegemon.compute.sampling import binomial, hypergeometric, take
from hegemon.compute.waiting import fresh_run
from hegemon.engines.batch.census import (
    CHANGED,
    COINS,
    COUNT,
    MARKED,
    RANKED,
    SIZE,
    change_of,
    first_of,
    is_watched,
    look_up,
    second_of,
    toss,
)

# Relative costs, in nanoseconds where they were measured; only their ratios matter.
COLLISION, DRAW, CARD = 130.0, 55.0, 8.0

# table: rows over the occupied slots. touched: the slots of touched agents. deck: responders to be dealt. kept: a
# generator to come back to.
Workspace = namedtuple("Workspace", "table touched deck kept")
ORDER, BOUND, GUIDE, REMOVED, REST, FIRSTS, SECONDS, SAVED, PAIR = range(9)

# What an epoch did. sizes: the entries used. written: position, initiator, responder and coins of every interaction
# carried out by itself; taken: a hash set of their positions. kinds: number, initiator, responder and coins of all
# others. rng: draws positions, and is set when the epoch begins. Without room nothing is written down.
Log = namedtuple("Log", "sizes written taken kinds rng")
POSITION, FIRST, SECOND, COIN, NUMBER = 0, 1, 2, 3, 0

SPARE = 8  # what one more collision may need

# The tally of an epoch: interactions that changed something; that changed a watched mark; then how often each
# count of the stop grew, and how often each shrank.
EFFECTIVE, WATCHED, COUNTS = 0, 1, 2


def new_workspace(capacity: int, touched: int, deck: int) -> Workspace:
    sizes = ((9, capacity), np.int64), (touched, np.int32), (deck, np.int32), (4, np.uint64)
    return Workspace(*(np.zeros(size, kind) for size, kind in sizes))


def new_log(written: int, kinds: int) -> Log:
    hashed = 1 << (4 * written).bit_length()
    rows = [np.zeros((4, size), np.int64) for size in (written, kinds)]
    return Log(np.zeros(2, np.int64), rows[0], np.zeros(hashed, np.int64), rows[1], np.zeros(4, np.uint64))


@lean
def plan(occupied, n):
    """How long an epoch should be, and what an interaction then costs.

    An epoch of k sqrt(n) steps has about 2 k^2 collisions; the rest costs the same for every length if states
    are matched by rows, or a card per interaction if they are few agents each.
    """
    fixed = 300.0 + 2 * occupied * DRAW
    rows = fixed + occupied * occupied * DRAW
    root = math.sqrt(n)
    by_cards = CARD + math.sqrt(8 * COLLISION * fixed) / root
    by_rows = math.sqrt(8 * COLLISION * rows) / root
    setup = rows if by_rows < by_cards else fixed
    return max(1, np.int64(root * math.sqrt(setup / (2 * COLLISION)))), min(by_rows, by_cards)


@lean
def note(census, tally, entry, i, j, times):
    """Add `times` interactions of slots i and j to the tally."""
    if entry & CHANGED:
        tally[EFFECTIVE] += times
    if entry & MARKED:
        if is_watched(census, entry, i, j):
            tally[WATCHED] += times
        conditions = (len(tally) - COUNTS) // 2
        for k in range(conditions):
            change = change_of(census, entry, i, j, k)
            tally[COUNTS + k + (conditions if change < 0 else 0)] += abs(change) * times


@lean
def write_down(log, position, i, j, coin):
    """This interaction, carried out by itself, took place at this step of the epoch."""
    size = log.sizes[0]
    log.written[POSITION, size], log.written[FIRST, size], log.written[SECOND, size] = position, i, j
    log.written[COIN, size] = coin
    log.sizes[0] += 1
    mask = len(log.taken) - 1
    place = position & mask
    while log.taken[place]:
        place = (place + 1) & mask
    log.taken[place] = position


@lean
def some_delayed_position(log, before):
    """When a delayed interaction took place: uniform over the steps before that are not written down."""
    mask = len(log.taken) - 1
    while True:
        position = 1 + next_below(log.rng, before - 1)
        place = position & mask
        while log.taken[place] and log.taken[place] != position:
            place = (place + 1) & mask
        if log.taken[place] == 0:
            return position


@lean
def lay_out(census, table, n):
    """The occupied slots and the means to draw from them; answers how many, and the width of the guide."""
    occupied, total = 0, 0
    for rank in range(census.head[SIZE]):
        slot = census.states[RANKED, rank]
        count = census.states[COUNT, slot]
        if count:
            total += count
            table[ORDER, occupied], table[BOUND, occupied], table[REMOVED, occupied] = slot, total, 0
            occupied += 1
    shift = max(0, 1 + int(math.log2(n / min(2.0 * occupied, float(table.shape[1])))))
    k = 0
    for entry in range(((n - 1) >> shift) + 1):
        while table[BOUND, k] <= entry << shift:
            k += 1
        table[GUIDE, entry] = k
    return occupied, shift


@lean
def draw_untouched(table, rng, n, shift):
    """Take one agent out of the untouched population: its slot.

    An agent is a number below n; of each state the first so many were removed before.
    """
    while True:
        x = next_below(rng, n)
        k = table[GUIDE, x >> shift]
        while x >= table[BOUND, k]:
            k += 1
        if x - (table[BOUND, k - 1] if k else 0) >= table[REMOVED, k]:
            table[REMOVED, k] += 1
            return table[ORDER, k]


@lean
def collide(census, workspace, log, rng, n, length, tally):
    """The epoch up to its end, with the delayed interactions still to be carried out.

    Answers the steps made, the number of occupied slots, how many steps are delayed, and the number of touched
    agents; negative steps are an error. The epoch ends early when the list of touched agents is full, or when as
    many interactions were carried out by themselves.
    """
    table, touched = workspace.table, workspace.touched
    writing = len(log.taken) > 1
    occupied, shift = lay_out(census, table, n)
    delayed = made = agents = alone = np.int64(0)
    pair = table[PAIR]
    while agents < len(touched) - SPARE and alone < len(touched) - SPARE:
        run = fresh_run(rng, n, 2 * delayed + agents, length - made)
        delayed += run
        made += run
        if made == length:
            break
        made += 1
        met = 2 * delayed + agents
        # Of the pairs with an agent that was met: both were, or only the initiator, or only the responder.
        both = (met - 1.0) / (2.0 * n - met - 1.0)
        u = next_double(rng)
        fresh = -1 if u < both else int(u < 0.5 + 0.5 * both)
        for side in range(2):
            if side == fresh:
                continue
            x = next_below(rng, 2 * delayed + agents)
            if x < agents:
                pair[side] = touched[x]
                agents -= 1
                touched[x] = touched[agents]
                continue
            i, j = draw_untouched(table, rng, n, shift), draw_untouched(table, rng, n, shift)
            coin = toss(census, rng)
            entry = look_up(census, i, j, coin)
            if entry < 0:
                return entry, occupied, delayed, agents
            note(census, tally, entry, i, j, 1)
            if writing:
                write_down(log, some_delayed_position(log, made), i, j, coin)
            delayed -= 1
            alone += 1
            other = (x - agents) & 1  # which of the two agents of the delayed interaction is met
            pair[side] = second_of(entry) if other else first_of(entry)
            touched[agents] = first_of(entry) if other else second_of(entry)
            agents += 1
        if fresh >= 0:
            pair[fresh] = draw_untouched(table, rng, n, shift)
        i, j = pair[0], pair[1]
        coin = toss(census, rng)
        entry = look_up(census, i, j, coin)
        if entry < 0:
            return entry, occupied, delayed, agents
        note(census, tally, entry, i, j, 1)
        if writing:
            write_down(log, made, i, j, coin)
        touched[agents], touched[agents + 1] = first_of(entry), second_of(entry)
        agents += 2
        alone += 1
    return made, occupied, delayed, agents


@lean
def carry_out(census, log, tally, i, j, coin, times):
    """Put the outcome of `times` delayed interactions with these coins back into the population; 0, or an error."""
    entry = look_up(census, i, j, coin)
    if entry < 0:
        return entry
    census.states[COUNT, first_of(entry)] += times
    census.states[COUNT, second_of(entry)] += times
    if entry & (CHANGED | MARKED):
        note(census, tally, entry, i, j, times)
    if log.kinds.shape[1]:
        kind = log.sizes[1]
        log.kinds[NUMBER, kind], log.kinds[FIRST, kind], log.kinds[SECOND, kind] = times, i, j
        log.kinds[COIN, kind] = coin
        log.sizes[1] += 1
    return np.int64(0)


@lean
def carry_out_all(census, log, rng, tally, i, j, times):
    """Toss the coins of `times` delayed interactions, how many show which value, and carry them out."""
    values = census.head[COINS]
    for coin in range(values):
        left = values - coin
        here = binomial(rng, times, 1.0 / left) if left > 1 else times
        times -= here
        if here:
            error = carry_out(census, log, tally, i, j, coin, here)
            if error < 0:
                return error
        if times == 0:
            break
    return np.int64(0)


@lean
def match(census, workspace, log, rng, tally, occupied, delayed):
    """Match initiators and responders at random: whole rows of pairs where many agents share a state, cards
    dealt from a shuffled deck where few do. Answers 0, or an error."""
    table, deck = workspace.table, workspace.deck
    many = occupied * DRAW / CARD
    for k in range(occupied):
        need, pool = table[FIRSTS, k], delayed
        if need <= many and delayed <= len(deck):
            continue
        delayed -= need
        table[FIRSTS, k] = 0
        for m in range(occupied):
            here = table[SECONDS, m]
            if need == 0:
                break
            if here == 0:
                continue
            times = hypergeometric(rng, here, pool - here, need)
            pool -= here
            if times:
                need -= times
                table[SECONDS, m] = here - times
                i, j = table[ORDER, k], table[ORDER, m]
                error = carry_out_all(census, log, rng, tally, i, j, times)
                if error < 0:
                    return error
    size = 0
    for m in range(occupied):
        for _ in range(table[SECONDS, m]):
            deck[size] = table[ORDER, m]
            size += 1
    dealt = 0
    for k in range(occupied):
        i = table[ORDER, k]
        for _ in range(table[FIRSTS, k]):
            chosen = dealt + next_index(rng, size - dealt)
            j = np.int64(deck[chosen])
            deck[chosen] = deck[dealt]
            dealt += 1
            error = carry_out(census, log, tally, i, j, toss(census, rng), 1)
            if error < 0:
                return error
    return np.int64(0)


@lean
def epoch(census, workspace, log, rng, n, length, tally):
    """At most `length` interactions, all of them carried out; the steps made, or a negative error."""
    for k in range(len(tally)):
        tally[k] = 0
    made, occupied, delayed, agents = collide(census, workspace, log, rng, n, length, tally)
    if made < 0:
        return made
    table = workspace.table
    total = n
    before = 0
    for k in range(occupied):
        table[REST, k] = table[BOUND, k] - before - table[REMOVED, k]
        before = table[BOUND, k]
        total -= table[REMOVED, k]
    take(rng, table[REST], occupied, total, delayed, table[FIRSTS])
    take(rng, table[REST], occupied, total - delayed, delayed, table[SECONDS])
    for k in range(occupied):
        census.states[COUNT, table[ORDER, k]] = table[REST, k]
    error = match(census, workspace, log, rng, tally, occupied, delayed)
    if error < 0:
        return error
    for k in range(agents):
        census.states[COUNT, workspace.touched[k]] += 1
    return made
