"""An epoch: many interactions on the complete graph at once, exactly (Berenbrink et al., ESA 2020, multi-batch).

While no agent is met twice, an interaction needs no states: its two agents are *delayed*. A run of delayed
interactions ends with one that meets an agent again; then the state of that agent is needed: it is *touched* already
(its state is in a list), or it is one of a delayed interaction, which is carried out now. At the end all
interactions still delayed are carried out together: their initiators and responders are taken from the
untouched population without replacement and matched at random.
"""

import math
from typing import Any

import numpy as np

from hegemon.compute.bundles import bundle
from hegemon.compute.compilation import lean
from hegemon.compute.randomness import next_below, next_double, next_index
from hegemon.compute.sampling import binomial, hypergeometric, smaller, take
from hegemon.compute.waiting import fresh_run, listed_costs, listed_run
from hegemon.engines.batch.census import (
    CAPACITY,
    CHANGED,
    COINS,
    CONDITIONS,
    MARKED,
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

# sizes: the most touched agents and the most cards that there is room for; how many costs are listed; the guide's entry
# of an agent is its number shifted by this many bits, which suits this many occupied slots. order to saved: over the
# occupied slots. bound: the agents below it are of this slot or of one before; free: those from it on are not drawn
# yet. pair: of an interaction that is carried out by itself. touched: the slots of touched agents. deck: responders to
# be dealt. kept: a generator to come back to. costs: entry m is the cost of meeting m agents, none twice.
Workspace, open_workspace = bundle(
    "Workspace", sizes=np.int64, order=np.int64, bound=np.int64, guide=np.int64, free=np.int64, rest=np.int64,
    firsts=np.int64, seconds=np.int64, saved=np.int64, pair=np.int64, touched=np.int32, deck=np.int32, kept=np.uint64,
    costs=np.float64,
)  # fmt: skip
MOST_TOUCHED, MOST_CARDS, LISTED_COSTS, GUIDE_SHIFT, GUIDE_OCCUPIED = range(5)

# What an epoch did. sizes: the entries used, and the mask of `taken`; if that is 0 nothing is written down. written:
# position, initiator, responder and coins of every interaction carried out by itself, WIDTH numbers each; taken: a hash
# set of their positions. kinds: number, initiator, responder and coins of all others. rng: draws positions, and is set
# when the epoch begins.
Log, open_log = bundle("Log", sizes=np.int64, written=np.int64, taken=np.int64, kinds=np.int64, rng=np.uint64)
POSITION, FIRST, SECOND, COIN, WIDTH, NUMBER = 0, 1, 2, 3, 4, 0
WRITTEN, KINDS, MASK = 0, 1, 2

# What a run carries along. held: the stop's counts, which end it between low and high, in one of several rows of
# bounds; grown, shrunk: by how much they did in an epoch. tally: how many interactions of an epoch changed something;
# how many a watched mark.
Course, open_course = bundle(
    "Course", rng=np.uint64, held=np.int64, rows=np.int64, low=np.int64, high=np.int64, grown=np.int64, shrunk=np.int64,
    tally=np.int64,
)  # fmt: skip
EFFECTIVE, WATCHED = 0, 1

SPARE = 8  # what one more collision may need
TOUCHED, DECK = 1 << 19, 1 << 20  # the agents that an epoch may list


@lean
def is_within(course, conditions, loosely):
    """Whether the counts are within their bounds, in one row of them; `loosely`: whether they may be so at some point,
    as they grow and shrink by `grown` and `shrunk`."""
    for row in range(course.rows[0]):
        inside = True
        for k in range(conditions):
            grown, shrunk = (course.grown[k], course.shrunk[k]) if loosely else (0, 0)
            low, high = course.low[row * conditions + k], course.high[row * conditions + k]
            inside = inside and course.held[k] + grown >= low and course.held[k] - shrunk <= high
        if inside:
            return True
    return False


def new_workspace(capacity: int, n: int) -> Any:
    """Room for epochs of n agents in at most `capacity` states: for all agents that can be touched, or for several
    times the number that ever are, and for every card. Small arrays come from memory that is in use already."""
    setup = 300.0 + (2 + capacity) * capacity * DRAW  # as in `plan`
    touched = min(TOUCHED, 2 * n, int(16 * setup / COLLISION)) + SPARE
    deck = min(DECK, n, int(math.sqrt(n * setup / (2 * COLLISION))) + 1)
    hands = np.empty(touched, np.int32), np.empty(deck, np.int32)  # nothing is read that was not written
    costs = listed_costs(n)
    sizes = np.array([touched, deck, len(costs), 0, 0])
    return Workspace(sizes, *np.zeros((9, capacity), np.int64), *hands, np.zeros(4, np.uint64), costs)


def new_log(written: int, kinds: int) -> Any:
    hashed = 1 << (4 * written).bit_length()
    rows = [np.zeros(WIDTH * size, np.int64) for size in (written, kinds)]
    return Log(np.array([0, 0, hashed - 1]), rows[0], np.zeros(hashed, np.int64), rows[1], np.zeros(4, np.uint64))


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
    setup, cost = (rows, by_rows) if by_rows < by_cards else (fixed, by_cards)
    length = np.int64(root * math.sqrt(setup / (2 * COLLISION)))
    return length if length > 1 else np.int64(1), cost


@lean
def note(census, course, entry, i, j, times):
    """Add `times` interactions of slots i and j to the tally."""
    course.tally[EFFECTIVE] += times * (entry & CHANGED != 0)  # a branch would be mispredicted half of the time
    if entry & MARKED:
        if is_watched(census, entry, i, j):
            course.tally[WATCHED] += times
        for k in range(census.head[CONDITIONS]):
            change = change_of(census, entry, i, j, k) * times
            if change > 0:
                course.grown[k] += change
            else:
                course.shrunk[k] -= change


@lean
def write_down(log, position, i, j, coin):
    """Record that this interaction, carried out by itself, took place at this step of the epoch."""
    put(log.written, log.sizes[WRITTEN], position, i, j, coin)
    log.sizes[WRITTEN] += 1
    mask = log.sizes[MASK]
    place = position & mask
    while log.taken[place]:
        place = (place + 1) & mask
    log.taken[place] = position


@lean
def put(entries, index, first, i, j, coin):
    at = WIDTH * index
    entries[at], entries[at + FIRST], entries[at + SECOND], entries[at + COIN] = first, i, j, coin


@lean
def some_delayed_position(log, before):
    """When a delayed interaction took place: uniform over the steps before that are not written down."""
    mask = log.sizes[MASK]
    while True:
        position = 1 + next_below(log.rng, before - 1)
        place = position & mask
        while log.taken[place] and log.taken[place] != position:
            place = (place + 1) & mask
        if log.taken[place] == 0:
            return position


@lean
def lay_out(census, workspace, n):
    """The occupied slots and the means to draw from them; returns how many, and the width of the guide."""
    bound = workspace.bound
    occupied, total = 0, 0
    for rank in range(census.head[SIZE]):
        slot = census.ranked[rank]
        count = census.counts[slot]
        if count:
            workspace.order[occupied], workspace.free[occupied] = slot, total
            total += count
            bound[occupied] = total
            occupied += 1
    sizes = workspace.sizes
    if sizes[GUIDE_OCCUPIED] != occupied:
        shift, width = np.int64(1), n / smaller(8.0 * occupied, float(census.head[CAPACITY]))
        while width >= 2.0:
            width *= 0.5
            shift += 1
        sizes[GUIDE_OCCUPIED], sizes[GUIDE_SHIFT] = occupied, shift if width >= 1.0 else np.int64(0)
    shift = sizes[GUIDE_SHIFT]
    k = 0
    for entry in range(((n - 1) >> shift) + 1):
        while bound[k] <= entry << shift:
            k += 1
        workspace.guide[entry] = k
    return occupied, shift


@lean
def draw_untouched(workspace, rng, n, shift):
    """Take one agent out of the untouched population: its slot.

    An agent is a number below n; of each state the agents below `free` were removed before.
    """
    bound, free = workspace.bound, workspace.free
    while True:
        x = next_below(rng, n)
        k = workspace.guide[x >> shift]
        while x >= bound[k]:
            k += 1
        if x >= free[k]:
            free[k] += 1
            return workspace.order[k]


@lean
def collide(census, workspace, log, course, n, length):
    """The epoch up to its end, with the delayed interactions still to be carried out.

    Returns the steps made, the number of occupied slots, how many steps are delayed, and the number of touched
    agents; negative steps are an error. The epoch ends early when the list of touched agents is full, or when that
    many interactions were carried out by themselves.
    """
    touched, pair, rng = workspace.touched, workspace.pair, course.rng
    writing = log.sizes[MASK] > 0
    most = workspace.sizes[MOST_TOUCHED] - SPARE
    listed = 2 * length < workspace.sizes[LISTED_COSTS]  # a step meets two agents at most
    occupied, shift = lay_out(census, workspace, n)
    delayed = made = agents = alone = np.int64(0)
    while agents < most and alone < most:
        met, left = 2 * delayed + agents, length - made
        run = listed_run(rng, n, met, left, workspace.costs) if listed else fresh_run(rng, n, met, left)
        delayed += run
        made += run
        if made == length:
            break
        made += 1
        met = 2 * delayed + agents
        # Of the pairs with an agent that was met: both were, or only the initiator, or only the responder.
        both = (met - 1.0) / (2.0 * n - met - 1.0)
        u = next_double(rng)
        fresh = -1 if u < both else np.int64(u < 0.5 + 0.5 * both)
        for side in range(2):
            if side == fresh:
                continue
            x = next_below(rng, 2 * delayed + agents)
            if x < agents:
                pair[side] = touched[x]
                agents -= 1
                touched[x] = touched[agents]
                continue
            i, j = draw_untouched(workspace, rng, n, shift), draw_untouched(workspace, rng, n, shift)
            coin = toss(census, rng)
            entry = look_up(census, i, j, coin)
            if entry < 0:
                return entry, occupied, delayed, agents
            note(census, course, entry, i, j, 1)
            if writing:
                write_down(log, some_delayed_position(log, made), i, j, coin)
            delayed -= 1
            alone += 1
            is_second = (x - agents) & 1  # which of the two agents of the delayed interaction is met
            pair[side] = second_of(entry) if is_second else first_of(entry)
            touched[agents] = first_of(entry) if is_second else second_of(entry)
            agents += 1
        if fresh >= 0:
            pair[fresh] = draw_untouched(workspace, rng, n, shift)
        i, j = pair[0], pair[1]
        coin = toss(census, rng)
        entry = look_up(census, i, j, coin)
        if entry < 0:
            return entry, occupied, delayed, agents
        note(census, course, entry, i, j, 1)
        if writing:
            write_down(log, made, i, j, coin)
        touched[agents], touched[agents + 1] = first_of(entry), second_of(entry)
        agents += 2
        alone += 1
    return made, occupied, delayed, agents


@lean
def carry_out(census, log, course, i, j, coin, times):
    """Put the outcome of `times` delayed interactions with these coins back into the population; 0, or an error."""
    entry = look_up(census, i, j, coin)
    if entry < 0:
        return entry
    census.counts[first_of(entry)] += times
    census.counts[second_of(entry)] += times
    if entry & (CHANGED | MARKED):
        note(census, course, entry, i, j, times)
    if log.sizes[MASK]:
        put(log.kinds, log.sizes[KINDS], times, i, j, coin)
        log.sizes[KINDS] += 1
    return np.int64(0)


@lean
def carry_out_all(census, log, course, i, j, times):
    """Toss the coins of `times` delayed interactions, how many show which value, and carry them out."""
    values = census.head[COINS]
    for coin in range(values):
        left = values - coin
        here = binomial(course.rng, times, 1.0 / left) if left > 1 else times
        times -= here
        if here:
            error = carry_out(census, log, course, i, j, coin, here)
            if error < 0:
                return error
        if times == 0:
            break
    return np.int64(0)


@lean
def match(census, workspace, log, course, occupied, delayed):
    """Match initiators and responders at random: whole rows of pairs where many agents share a state, cards
    dealt from a shuffled deck where few do. Returns 0, or an error."""
    order, firsts, seconds, deck = workspace.order, workspace.firsts, workspace.seconds, workspace.deck
    rng = course.rng
    many = occupied * DRAW / CARD
    for k in range(occupied):
        need, pool = firsts[k], delayed
        if need <= many and delayed <= workspace.sizes[MOST_CARDS]:
            continue
        delayed -= need
        firsts[k] = 0
        for m in range(occupied):
            here = seconds[m]
            if need == 0:
                break
            if here == 0:
                continue
            times = hypergeometric(rng, here, pool - here, need)
            pool -= here
            if times:
                need -= times
                seconds[m] = here - times
                i, j = order[k], order[m]
                error = carry_out_all(census, log, course, i, j, times)
                if error < 0:
                    return error
    size = 0
    for m in range(occupied):
        for _ in range(seconds[m]):
            deck[size] = order[m]
            size += 1
    dealt = 0
    for k in range(occupied):
        i = order[k]
        for _ in range(firsts[k]):
            chosen = dealt + next_index(rng, size - dealt)
            j = np.int64(deck[chosen])
            deck[chosen] = deck[dealt]
            dealt += 1
            error = carry_out(census, log, course, i, j, toss(census, rng), 1)
            if error < 0:
                return error
    return np.int64(0)


@lean
def epoch(census, workspace, log, course, n, length):
    """At most `length` interactions, all of them carried out; the steps made, or a negative error."""
    course.tally[EFFECTIVE] = course.tally[WATCHED] = 0
    for k in range(census.head[CONDITIONS]):
        course.grown[k] = course.shrunk[k] = 0
    made, occupied, delayed, agents = collide(census, workspace, log, course, n, length)
    if made < 0:
        return made
    rest, total = workspace.rest, np.int64(0)
    for k in range(occupied):
        rest[k] = workspace.bound[k] - workspace.free[k]
        total += rest[k]
    take(course.rng, rest, occupied, total, delayed, workspace.firsts)
    take(course.rng, rest, occupied, total - delayed, delayed, workspace.seconds)
    for k in range(occupied):
        census.counts[workspace.order[k]] = rest[k]
    error = match(census, workspace, log, course, occupied, delayed)
    if error < 0:
        return error
    for k in range(agents):
        census.counts[workspace.touched[k]] += 1
    return made
