"""Weighted schedulers: every arc has a rate, and is the next one with probability rate over the sum of all rates.

Rates are given per arc, or per agent; then an arc's rate is the product of its ends' (fast and slow agents). They are
kept as whole numbers, and drawn without rounding from an alias table (Walker 1977; Vose 1991): every row is a cell of
the same size, shared by itself and one other.
"""

import csv
import math
import os
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numba import uint64

from hegemon.compute.randomness import turn, turn_below
from hegemon.errors import InvalidInput
from hegemon.files import note_reading
from hegemon.graphs.topology import Topology
from hegemon.models.expressions import fraction_of
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.scheduler import SchedulePlan, Scheduler, memoryless
from hegemon.process.schedulers.uniform import all_arcs

LARGEST_TOTAL = 2**62  # of the rates as whole numbers
LARGEST_FILE = 50_000_000  # bytes
FINEST = 1000  # of the rates of a power law: the largest is this number, and the others are rounded to whole ones


def pair_by_arc(rows, n, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """A row by its rate; the last row holds the sum of all rates and how far words are shifted to get about there."""
    cells = len(rows) - 1
    cell, s0, s1, s2, s3 = turn_below(cells, s0, s1, s2, s3)
    while True:
        word, s0, s1, s2, s3 = turn(s0, s1, s2, s3)
        level = word >> uint64(rows[cells, 1])
        if level < uint64(rows[cells, 0]):
            break
    if level >= uint64(rows[cell, 2]):
        cell = uint64(rows[cell, 3])
    return uint64(rows[cell, 0]), uint64(rows[cell, 1]), s0, s1, s2, s3


def pair_by_agent(rows, n, s0, s1, s2, s3):  # type: ignore[no-untyped-def]
    """Two agents by their rates, drawn again until they differ."""
    while True:
        i, _, s0, s1, s2, s3 = pair_by_arc(rows, n, s0, s1, s2, s3)
        j, _, s0, s1, s2, s3 = pair_by_arc(rows, n, s0, s1, s2, s3)
        if i != j:
            return i, j, s0, s1, s2, s3


def alias_table(pairs: np.ndarray, rates: Sequence[int]) -> np.ndarray:
    """Rows for `pair_by_arc`: initiator, responder, its own part of its cell, and the row that has the rest."""
    total, cells = sum(rates), len(rates)
    rest = [rate * cells for rate in rates]  # what is still to be placed; a cell takes `total`
    table = np.zeros((cells + 1, 4), np.int64)
    table[:-1, :2] = pairs
    small = [k for k in range(cells) if rest[k] < total]
    large = [k for k in range(cells) if rest[k] >= total]
    while small:
        k, other = small.pop(), large[-1]
        table[k, 2:] = rest[k], other
        rest[other] -= total - rest[k]
        if rest[other] < total:
            small.append(large.pop())
    for k in large:
        table[k, 2:] = total, k
    table[-1] = total, 64 - max(1, (total - 1).bit_length()), 0, 0
    return table


class Weighted(Scheduler):
    """`agents` are rates per agent, or `arcs` rates by (initiator, responder); those that are not named have rate 0."""

    def __init__(
        self,
        agents: Sequence[Any] | None = None,
        arcs: Mapping[tuple[int, int], object] | None = None,
        name: str = "weighted",
    ):
        self.name = name
        if (agents is None) == (arcs is None):
            raise InvalidInput("weighted needs rates of agents or rates of arcs, and not both")
        self._by_agent = agents is not None
        self._ends = None if arcs is None else np.array(list(arcs), np.int64).reshape(-1, 2)
        self._rates = whole_rates(list(agents if agents is not None else (arcs or {}).values()))

    def _arc_rates(self, topology: Topology) -> tuple[np.ndarray, list[int]]:
        """The arcs with a positive rate, and these rates."""
        if self._by_agent:
            self._require_agents(topology)
            arcs = all_arcs(topology)
            rates = [self._rates[i] * self._rates[j] for i, j in arcs.tolist()]
        else:
            known = set(map(tuple, all_arcs(topology).tolist()))
            for i, j in self._ends.tolist():  # type: ignore[union-attr]
                if (i, j) not in known:
                    raise InvalidInput(f"{self.name} has a rate for {i} -> {j}, which is no arc of {topology.name}")
            arcs, rates = np.asarray(self._ends), self._rates
        kept = [k for k, rate in enumerate(rates) if rate > 0]
        if not kept:
            raise InvalidInput(f"{self.name}: no arc of {topology.name} has a positive rate; agents could never meet")
        return arcs[kept].astype(np.int32), [rates[k] for k in kept]

    def _require_agents(self, topology: Topology) -> None:
        if len(self._rates) != topology.n:
            raise InvalidInput(f"{self.name} has {len(self._rates)} rates for {topology.n} agents; give one for each")

    def compiled(self, topology: Topology) -> tuple[Callable[..., Any], np.ndarray]:
        if self._by_agent and topology.is_complete:
            self._require_agents(topology)
            if sum(rate > 0 for rate in self._rates) < 2:
                raise InvalidInput(f"{self.name}: fewer than two agents have a positive rate; agents could never meet")
            agents = np.arange(topology.n)
            return pair_by_agent, alias_table(np.stack([agents, agents], axis=1), self._rates)
        arcs, rates = self._arc_rates(topology)
        return pair_by_arc, alias_table(arcs, whole_rates(rates))

    def plan(self, topology: Topology) -> SchedulePlan:
        arcs, rates = self._arc_rates(topology)
        rates = whole_rates(rates)
        if sum(rates) >= 2**31:
            raise InvalidInput(
                f"{self.name}: as whole numbers the rates add up to {sum(rates):,}, too fine for an exact chain; "
                "round them, or use run, which simulates them exactly"
            )
        return memoryless(arcs, np.array(rates, np.int64))


def whole_rates(given: Sequence[Any]) -> list[int]:
    """Rates as the smallest whole numbers in the same proportion."""
    shares = [as_rate(one) for one in given]
    scale = math.lcm(*(share.denominator for share in shares))
    whole = [int(share * scale) for share in shares]
    common = math.gcd(*whole) or 1
    whole = [one // common for one in whole]
    if sum(whole) > LARGEST_TOTAL:
        raise InvalidInput("the rates have too many digits: as whole numbers they add up to more than 2^62; round them")
    return whole


def as_rate(given: Any) -> Fraction:
    """A rate as the fraction that it is written as."""
    try:
        rate = fraction_of(given)
    except (ValueError, ZeroDivisionError):
        rate = Fraction(-1)
    if rate < 0:
        raise InvalidInput(
            f"the rate {str(given)[:40]!r} is out of range; give a number that is at least 0, such as 2.5"
        )
    return rate


def power_law(n: int, exponent: float) -> list[int]:
    """Agent k has the rate 1000 / (k + 1)^exponent, rounded, and at least 1."""
    return [max(1, round(FINEST / (k + 1) ** exponent)) for k in range(n)]


def read_weighted(words: str, protocol: Protocol, topology: Topology) -> Weighted:
    """`weighted:FILE.csv`, `weighted:zipf=S`, or `weighted:R,R,…`, one rate for each agent."""
    name = f"weighted:{words}"
    if words.startswith("zipf="):
        exponent = float(as_rate(words.removeprefix("zipf=")))
        if exponent > 10:
            raise InvalidInput(f"{name}: give an exponent of at most 10")
        return Weighted(agents=power_law(topology.n, exponent), name=name)
    if words.lower().endswith(".csv"):
        return _from_table(words, name, topology.n)
    if not words:
        raise InvalidInput(
            "weighted by what? Write weighted:FILE.csv, weighted:zipf=1 or weighted:2,1,1, a rate an agent"
        )
    return Weighted(agents=words.split(","), name=name)


def _from_table(file: str, name: str, n: int) -> Weighted:
    """Columns `agent,rate`, or `initiator,responder,rate`."""
    path = Path(file)
    if not os.path.isfile(path) or path.stat().st_size > LARGEST_FILE:
        raise InvalidInput(f"{name}: there is no such file of at most {LARGEST_FILE // 10**6} MB")
    note_reading(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as opened:
            rows = list(csv.DictReader(opened))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"{name} cannot be read as a table ({error})") from None
    columns = set(rows[0]) if rows else set()
    by_agent = columns == {"agent", "rate"}
    if not by_agent and columns != {"initiator", "responder", "rate"}:
        raise InvalidInput(f"{name} needs the columns agent,rate or initiator,responder,rate and at least one row")
    found: dict[Any, Any] = {}  # rates, by agent or by pair
    for line, row in enumerate(rows, 2):
        try:
            key = tuple(int(row[column]) for column in (("agent",) if by_agent else ("initiator", "responder")))
        except (TypeError, ValueError):
            raise InvalidInput(f"{name}, line {line}: agents are whole numbers 0..{n - 1}") from None
        if key in found or not all(0 <= agent < n for agent in key):
            raise InvalidInput(f"{name}, line {line}: {key} is there twice, or is not among the agents 0..{n - 1}")
        found[key] = row["rate"]
    return (
        Weighted(agents=[found.get((k,), 0) for k in range(n)], name=name)
        if by_agent
        else Weighted(arcs=found, name=name)
    )
