"""The kernels that a page runs: those of engine `agents` on codes, behind addresses instead of arrays.

They are the functions that the engine itself is made of, with the same words of randomness. Two things differ: the
page's table of pairs is complete, so that no interaction is called, and nothing is prefetched.
"""

from typing import Any

import numpy as np
from numba import carray, types, uint64

from hegemon.compute.compilation import llvm_of, part
from hegemon.compute.randomness import drawing, is_fair
from hegemon.engines.population.codes import Goal, drawn_coin, follow_pairs, no_coin, run_codes
from hegemon.engines.population.draws import Chance, draw_pairs, draw_pairs_with_coins
from hegemon.process.schedulers.uniform import pair_arcs, pair_complete

# ruff: noqa: F821 - `run` is bound by llvm_of

WORD, NUMBER = types.int32, types.CPointer(types.int64)  # of a browser's memory of 32 bits
WORDS = types.CPointer(types.uint64)
CODES = types.CPointer(types.uint16)
ARRAY = types.CPointer(types.int32)


def move_codes(  # type: ignore[no-untyped-def]
    population, n, arcs, rows, rng, before, values, first, second, coins, counts, conditions, low, high,
    alternatives, watch, tried, table, mark, states, budget, ended,
):  # fmt: skip
    """At most `budget` steps of n agents; returns the steps made, and writes how they ended."""
    room = carray(first, 32), carray(second, 32), carray(coins, 32)
    chance = Chance(carray(arcs, (rows, 2)), carray(rng, 4), carray(before, 4), np.int64(values), np.int64(32), *room)
    bounds = carray(low, (alternatives, conditions)), carray(high, (alternatives, conditions))
    goal = Goal(carray(counts, conditions), *bounds, np.int64(watch))
    marks = carray(mark, (states, conditions))
    pairs = carray(table, np.int64(values) * states * states)
    done, how = run(carray(population, n), chance, goal, 0, carray(tried, 3), pairs, marks, np.int64(budget))
    carray(ended, 1)[0] = how
    return np.int32(done)


SIGNATURE = WORD(
    CODES, WORD, ARRAY, WORD, WORDS, WORDS, WORD, NUMBER, NUMBER, NUMBER, NUMBER, WORD, NUMBER, NUMBER, WORD, WORD,
    NUMBER, types.CPointer(types.uint32), types.CPointer(types.int8), WORD, WORD, ARRAY,
)  # fmt: skip


def no_meeting(gate, first, second, coins):  # type: ignore[no-untyped-def]
    """In place of an interaction: the pairs that are missing in a page's table are those that fail."""
    return -1


def no_entry(gate, mark, a, b):  # type: ignore[no-untyped-def]
    return uint64(0)


def unprepared(population, index):  # type: ignore[no-untyped-def]
    pass


LIMB, SHIFT = uint64(0xFFFFFFFF), uint64(32)
M0, M1, M2, M3 = uint64(0x9FCCF645), uint64(0x4385DF64), uint64(0x1FC65DA4), uint64(0x2360ED05)  # O'Neill's multiplier


@drawing
def turn_pcg(words):  # type: ignore[no-untyped-def]
    """64 random bits of a PCG64 (O'Neill 2014), whose state and increment are four numbers of 32 bits each, the lowest
    first: products of 64 bits would call a library."""
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    first = s0 * M0
    a, b = s1 * M0 + (first >> SHIFT), s0 * M1
    b += a & LIMB
    c = s2 * M0 + (a >> SHIFT) + (b >> SHIFT)
    d = s1 * M1 + (c & LIMB)
    e = s0 * M2 + (d & LIMB)
    last = s3 * M0 + s2 * M1 + s1 * M2 + s0 * M3 + (c >> SHIFT) + (d >> SHIFT) + (e >> SHIFT)
    s0 = (first & LIMB) + words[4]
    s1 = (b & LIMB) + words[5] + (s0 >> SHIFT)
    s2 = (e & LIMB) + words[6] + (s1 >> SHIFT)
    s3 = (last & LIMB) + words[7] + (s2 >> SHIFT)
    words[0], words[1], words[2], words[3] = s0 & LIMB, s1 & LIMB, s2 & LIMB, s3 & LIMB
    high, low = (words[3] << SHIFT) | words[2], (words[1] << SHIFT) | words[0]
    turn, mixed = high >> uint64(58), high ^ low
    return (mixed >> turn) | (mixed << ((uint64(64) - turn) & uint64(63)))


def draw_states(generator, states, population, begin, end):  # type: ignore[no-untyped-def]
    """Uniform codes below `states` for the agents from `begin` on, as NumPy's `Generator.integers` draws them from a
    PCG64: 32 bits at a time, the lower half of a word first, by Lemire's method. After the eight numbers of the
    generator come the half that is left, and whether there is one."""
    words, codes = carray(generator, 10), carray(population, end)
    for index in range(begin, end):
        codes[index] = 0
        while states > 1:
            drawn, words[9] = words[8], uint64(1) - words[9]
            if words[9]:
                word = turn_pcg(words)
                words[8], drawn = word >> SHIFT, word & LIMB
            product = drawn * uint64(states)
            if is_fair(product, states):
                codes[index] = product >> SHIFT
                break
    return np.int32(end)


def page_kernels() -> dict[str, str]:
    """The functions of a page by name, each as LLVM code with a function of this name."""
    found: dict[str, str] = {}
    for graph, pair in (("complete", pair_complete), ("arcs", pair_arcs)):
        for coins, coin_at, template in (("", no_coin, draw_pairs), ("_coins", drawn_coin, draw_pairs_with_coins)):
            draw = part(template, allocates=False, pair=pair, prefetch=unprepared)
            follow = part(follow_pairs, allocates=False, coin_at=coin_at)
            bound: dict[str, Any] = {"draw": draw, "coin_at": coin_at, "follow": follow}
            bound |= {"call_meeting": no_meeting, "entry_of": no_entry}
            run = part(run_codes, allocates=False, **bound)
            found[f"{graph}{coins}"] = llvm_of(move_codes, SIGNATURE, run=run)
    found["draw_states"] = llvm_of(draw_states, WORD(WORDS, WORD, CODES, WORD, WORD))
    return found
