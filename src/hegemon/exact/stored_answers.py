"""The questions of `verify`, answered on a chain that is stored."""

import dataclasses
from collections.abc import Sequence
from typing import cast

import numpy as np

from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.exact import findings as ask
from hegemon.exact.containment import leaders, members, named_set
from hegemon.exact.findings import Finding
from hegemon.exact.hitting import HittingTimes, hitting_times, quantiles
from hegemon.exact.holding import HoldingTimes, holding_times
from hegemon.exact.instance import Instance
from hegemon.exact.within import Within, reached_within


class StoredAnswers:
    """The questions that apply, answered on one chain."""

    def __init__(
        self, case: Instance, name: str, questions: Sequence[str], everything: bool, progress: Show | None = None
    ):
        self.case, self.chain, self.name, self.questions = case, case.chain, name, questions
        self.everything, self.progress = everything, progress
        self.leaders = leaders(self.chain)
        self._inside: dict[str, np.ndarray] = {}

    def inside(self, name: str) -> np.ndarray:
        if name not in self._inside:
            if self.progress:
                self.progress(f"membership in {name}", 0, self.chain.size)
            self._inside[name] = members(self.chain, named_set(self.case.protocol, name))
        return self._inside[name]

    def findings(self) -> tuple[Finding, ...]:
        findings = []
        others = [name for name in self.case.protocol.sets if name != self.name] if self.everything else []
        for name in [self.name, *others]:
            claimed = named_set(self.case.protocol, name).closed and self.case.is_intended
            inside = self.inside(name)
            if "closed" in self.questions and (claimed or name == self.name):
                findings.append(ask.is_closed(self.chain, name, inside, claimed))
            if "leader" in self.questions and self.leaders is not None and self._unique_leader(name):
                findings.append(ask.keeps_leader(self.chain, name, inside, self.leaders, claimed))
            promised = name == self.case.protocol.reaches
            if "reached" in self.questions and (name == self.name or promised):
                findings.append(self._reached(name, inside, promised and self.case.is_intended))
        return tuple(findings)

    def _reached(self, name: str, inside: np.ndarray, claimed: bool) -> Finding:
        return ask.is_reached(self.chain, name, inside, claimed)

    def _unique_leader(self, name: str) -> bool:
        if self.leaders is None:
            return False
        is_only_question = len(self.questions) == 1
        inside = self.inside(name)
        return is_only_question or bool(inside.any()) and bool((self.leaders[inside] == 1).all())

    def hitting(self, levels: Sequence[float]) -> HittingTimes | None:
        if "time" not in self.questions:
            return None
        if self.progress:
            self.progress("expected steps", 0, self.chain.size)
        times = hitting_times(self.chain, self.name, self.inside(self.name), self.case.starts)
        if levels:
            kept = quantiles(self.chain, self.inside(self.name), times, self.case.starts, levels)
            times = dataclasses.replace(times, quantiles=kept)
        return times

    def within(self, steps: int | None) -> Within | None:
        if steps is None:
            return None
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
            raise InvalidInput(f"within = {steps!r} is out of range; give a whole number of steps >= 0")
        return reached_within(self.chain, self.name, self.inside(self.name), self.case.starts, steps)

    def holding(self) -> HoldingTimes | None:
        if "holding" not in self.questions or not self._unique_leader(self.name):
            return None
        inside, leaders = self.inside(self.name), cast(np.ndarray, self.leaders)
        if not (inside & (leaders == 1)).any():
            raise InvalidInput(f"no configuration of {self.name} with one leader is in the chain: nothing to hold")
        if self.progress:
            self.progress("holding", 0, self.chain.size)
        return holding_times(self.chain, self.name, inside, leaders, self.case.starts)
