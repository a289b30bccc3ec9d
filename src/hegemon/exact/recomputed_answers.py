"""The questions of `verify`, answered on a chain whose successors are recomputed."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.exact.containment import named_set
from hegemon.exact.findings import Finding, configurations
from hegemon.exact.hitting import HittingTimes, first_largest
from hegemon.exact.holding import HoldingTimes
from hegemon.exact.instance import Instance
from hegemon.exact.within import Within
from hegemon.runs.stories import Trace

STORED_ONLY = "needs the chain to be stored; raise the memory (--memory), or take smaller parameters"


class RecomputedAnswers:
    """The same findings, times and sentences as on a stored chain; quantiles and finite holding times are refused."""

    def __init__(
        self,
        case: Instance,
        name: str,
        questions: Sequence[str],
        everything: bool,
        checkpoint: str | Path | None = None,
    ):
        self.case, self.chain, self.name, self.questions = case, case.chain, name, questions
        self.everything, self.checkpoint = everything, checkpoint
        self._inside: dict[str, np.ndarray] = {}
        self._open: dict[str, tuple[int, int] | None] = {}

    def inside(self, name: str) -> np.ndarray:
        if name not in self._inside:
            self._inside[name] = self.chain.members(name)
        return self._inside[name]

    def findings(self) -> tuple[Finding, ...]:
        protocol, findings = self.case.protocol, []
        others = [name for name in protocol.sets if name != self.name] if self.everything else []
        for name in [self.name, *others]:
            claimed = named_set(protocol, name).closed and self.case.is_intended
            if "closed" in self.questions and (claimed or name == self.name):
                findings.append(self._closed(name, claimed))
            if "leader" in self.questions and self._asks_leader(name):
                findings.append(self._leader(name, claimed))
            promised = name == protocol.reaches
            if "reached" in self.questions and (name == self.name or promised):
                findings.append(self._reached(name, promised and self.case.is_intended))
            if name != self.name:
                self._inside.pop(name, None)  # only one at a time is kept
        return tuple(findings)

    def hitting(self, levels: Sequence[float]) -> HittingTimes | None:
        if "time" not in self.questions:
            return None
        if levels:
            raise InvalidInput(f"the distribution of steps {STORED_ONLY}")
        chain, inside = self.chain, self.inside(self.name)
        sure = ~chain.backwards_from(~self._able, ~inside) if not self._able.all() else np.ones(chain.size, bool)
        values, error = chain.expected_steps(sure & ~inside, self.checkpoint, self.name)
        values[~sure] = np.inf
        worst = first_largest(values, error)
        probability = 1.0 if sure.all() else chain.mean(chain.reach_probability(inside, self._able))
        return HittingTimes(
            set=self.name,
            values=values,
            error=error,
            worst=float(values.max()),
            worst_start=self._configuration(chain.codes_at(worst)),
            mean=chain.mean(values) if sure.all() else float("inf"),
            from_starts={name: float(values[rank]) for name, rank in self.case.starts.items()},
            probability=probability,
        )

    def holding(self) -> HoldingTimes | None:
        """None: finite holding times are refused. The property `leader` shows whether they are infinite."""
        if self.questions == ("holding",):
            raise InvalidInput(f"holding {STORED_ONLY}; `leader` says whether the leader is ever lost")
        return None

    def within(self, steps: int | None) -> Within | None:
        if steps is not None:
            raise InvalidInput(f"the probability within some steps {STORED_ONLY}")
        return None

    @cached_property
    def _able(self) -> np.ndarray:
        return self.chain.backwards_from(self.inside(self.name), self._everything)

    @property
    def _everything(self) -> np.ndarray:
        return np.ones(self.chain.size, bool)

    def _asks_leader(self, name: str) -> bool:
        """Whether `leader` applies: all configurations of the set have one leader, or it is the only question."""
        if not self.case.protocol.elects_leader:
            return False
        return len(self.questions) == 1 or bool(self.inside(name).any()) and not self._several(name).any()

    def _several(self, name: str) -> np.ndarray:
        """Which configurations of the set do not have exactly one leader."""
        with_one_leader = self.chain.members_by_count(self.chain.space.outputs, 1)
        return self.inside(name) & ~with_one_leader

    def _exit(self, name: str) -> tuple[int, int] | None:
        if name not in self._open:
            self._open[name] = self.chain.exit_from(self.inside(name))
        return self._open[name]

    def _closed(self, name: str, claimed: bool) -> Finding:
        inside, way = self.inside(name), self._exit(name)
        held = configurations(int(inside.sum()))
        if way is None:
            return Finding("closed", name, True, claimed, f"no step leaves the set ({held})")
        sentence = f"a step leaves the set from {self.chain.exits(inside)} of its {held}"
        return Finding("closed", name, False, claimed, sentence, self._story([way[0]], way[1]))

    def _leader(self, name: str, claimed: bool) -> Finding:
        several = self._several(name)
        if several.any():
            codes = self.chain.codes_at(int(np.argmax(several)))
            number = int(self.chain.space.outputs[codes].sum())
            sentence = f"the set has configurations with {number} leaders"
            return Finding("leader", name, False, claimed, sentence, self._configuration(codes))
        inside = self.inside(name)
        level = None if self._exit(name) is None else self.chain.levels_from(inside)
        after = inside if level is None else level >= 0
        way = self.chain.exit_from(after, outputs=True)
        if way is None:
            return Finding(
                "leader", name, True, claimed, "no step from the set, or after it, changes any agent's output"
            )
        path = [way[0]]
        if level is not None:
            nearest = self._nearest_loss(level)
            path, way = self.chain.way_from_set(level, nearest[0]), nearest
        steps = len(path)
        sentence = f"the leader can be lost, or get a rival, within {steps} step{'s' * (steps > 1)} from the set"
        return Finding("leader", name, False, claimed, sentence, self._story(path, way[1]))

    def _nearest_loss(self, level: np.ndarray) -> tuple[int, int]:
        """A change of output as few steps from the set as possible: the key of a configuration, and an arc."""
        now = 0
        while True:
            way = self.chain.exit_from(level == now, outputs=True)
            if way is not None:
                return way
            now += 1

    def _reached(self, name: str, claimed: bool) -> Finding:
        able = self._able if name == self.name else self.chain.backwards_from(self.inside(name), self._everything)
        if able.all():
            return Finding("reached", name, True, claimed, "reached with probability 1 from every configuration")
        trapped = int(np.argmin(able))
        sentence = f"never reached from {int((~able).sum())} of {self.chain.size} configurations"
        return Finding("reached", name, False, claimed, sentence, self._configuration(self.chain.codes_at(trapped)))

    def _configuration(self, codes: Any) -> Trace:
        return Trace.of(self.case.protocol, self.chain.space.mappings(codes))

    def _story(self, path: list[int], arc: int) -> Trace:
        """The story along these keys without a change of output, and then over one arc."""
        space = self.chain.space
        codes = space.codes([path[0]])[0]
        start, steps = space.mappings(codes), []
        for key in path[1:]:
            step, codes = space.step(codes, key, False)
            steps.append(step)
        steps.append(self._last(codes, path[-1], arc))
        return Trace.of(self.case.protocol, start, tuple(steps))

    def _last(self, codes: Any, key: int, arc: int) -> Any:
        """The last interaction: the path may end at a rotation of the representative to which `arc` refers."""
        space = self.chain.space
        arcs, first, second = space.arc_table, space.model.first, space.model.second
        representative = space.codes([key])[0]
        turn = next(t for t in range(space.n) if np.array_equal(np.roll(representative, t), codes))
        i, j = ((int(agent) + turn) % space.n for agent in arcs[arc, :2])
        after = codes.copy()
        after[i], after[j] = first[codes[i], codes[j]], second[codes[i], codes[j]]
        return space.interaction(codes, after, i, j)
