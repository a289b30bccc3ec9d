"""One case of a study: a protocol, its size and parameters, a graph, a start, a stop. Its key names its results.

The key covers everything that a result depends on: the fingerprints of the protocol and of the code, the resolved
parameters, the contents of the files it names, the stop, the engine, the seed. The seed of a case comes from its
description without engine, limit and observables: trial k has the same start and the same graph on every engine.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput, choose, meant
from hegemon.experiments.fingerprints import code_fingerprint, file_digest, protocol_fingerprint
from hegemon.experiments.names import AXES, parameter_in, shown
from hegemon.experiments.request import make_record
from hegemon.files import files_read, named_file
from hegemon.graphs.topology import Topology
from hegemon.models.naming import asked_observables
from hegemon.models.start_files import located
from hegemon.process.stopping import parse_stop
from hegemon.protocols.loading import file_of
from hegemon.runs.record import MadeRecord, RunRecord
from hegemon.runs.setting import topology_for
from hegemon.runs.simulate import course_of

UNSAMPLED = ("engine_asked", "max_steps", "observe")  # trial k is the same with other values of these
ALWAYS = ("graph", "start", "wake", "until", "engine")  # columns of every table, even with default values


@dataclass(frozen=True)
class Case:
    """`settings` are plain values by the names of axes: those of options, and `p.tau` of the parameter tau."""

    settings: dict[str, Any]
    study_seed: int = 0

    @cached_property
    def record(self) -> RunRecord:
        """The run of the case; its seed is the case's own."""
        settings = self.settings
        if "protocol" not in settings:
            raise InvalidInput("a case names no protocol; give one")
        parameters = {name: value for axis, value in settings.items() if (name := parameter_in(axis)) is not None}
        known = {axis: value for axis, value in settings.items() if parameter_in(axis) is None}
        return make_record(known | {"graph": self.graph, "parameters": parameters}, lambda option: option.written)

    @property
    def protocol(self) -> Any:
        return self.record.protocol

    @property
    def file(self) -> str | None:
        """The Python file of a protocol that is not in the catalogue; nothing is imported."""
        return file_of(str(self.settings.get("protocol")))

    @cached_property
    def family(self) -> tuple[Any, ...]:
        """What cases that differ only in n have in common."""
        return tuple(sorted((name, str(value)) for name, value in self.settings.items() if name != "n"))

    @property
    def graph(self) -> str | None:
        """The graph's text; `{n}` in it stands for the number of agents, as in regular:{n},4."""
        text = self.settings.get("graph")
        return None if text is None else str(text).replace("{n}", str(self.settings.get("n", "{n}")))

    def topology(self) -> Topology:
        return topology_for(self.protocol, self.graph, self.seed)

    @cached_property
    def course(self) -> dict[str, Any]:
        """Graph, start, stop and other options of the run, as columns of the table of results."""
        record, model = self.record, self.protocol.model
        said = [one for one in AXES.values() if one.name in record.given or one.written in ALWAYS]
        course = {one.written: one.write(getattr(record, one.name)) for one in said if model.knows(one.needs)}
        course["graph"] = record.graph or self.protocol.topology
        if "start" in course:
            course["start"] = course["start"] or self.protocol.default_start
        if "fault" in course:
            course["fault"] = str(self.settings["fault"])
        return course | {"engine_asked": course.pop("engine")}

    @cached_property
    def description(self) -> dict[str, Any]:
        """The case in canonical form: equal descriptions are equal experiments, whatever the paths of their files."""
        course = {name: _without_files(value, self.files) for name, value in self.course.items()}
        if "fault" in course:
            course["fault"] = [
                [f.step, f.agents, f.values, *([f.kind] if f.kind != "corrupt" else [])] for f in self.record.faults
            ]
        protocol = self.protocol
        return {"protocol": protocol.id, "n": protocol.n, "parameters": protocol.parameters, **course}

    @cached_property
    def files(self) -> dict[str, str]:
        """The digests of the files that its runs read, by their full paths."""
        if not any(isinstance(value, str) and named_file(str(located(value))) for value in self.course.values()):
            return {}
        with files_read() as found:
            course_of(MadeRecord(**vars(self.record)))
        return {path: file_digest(path) for path in found}

    @cached_property
    def seed(self) -> int:
        sample = {name: value for name, value in self.description.items() if name not in UNSAMPLED}
        return int(_digest([self.study_seed, sample])[:12], 16)

    @cached_property
    def key(self) -> str:
        fingerprints = [protocol_fingerprint(type(self.protocol)), code_fingerprint()]
        return _digest([self.study_seed, self.description, *fingerprints])[:32]

    def check(self) -> None:
        """Raise InvalidInput for what is certain to fail, before anything runs."""
        record, protocol = self.record, self.protocol
        if protocol.model.has_starts:
            parse_stop(record.until, protocol)
            record.process()
            asked_observables(protocol, record.observe)
            start = str(record.start or protocol.default_start)
            if start not in protocol.starts and not os.path.isfile(start):
                raise InvalidInput(
                    f"{protocol.id} has no start {start!r}; {choose(protocol.starts, 'give a .json or .csv file')}"
                    f"{meant(start, protocol.starts)}"
                )
        if self.graph and "{n}" in self.graph:
            raise InvalidInput(f"the graph {self.graph} mentions n, and n is not given; give --n")

    def label(self) -> str:
        """The name of the case in messages."""
        return ", ".join(f"{name} = {value}" for name, value in self.shown.items())

    @property
    def shown(self) -> dict[str, Any]:
        """The settings by the names that people read."""
        return shown(self.settings)


def absolute(settings: dict[str, Any]) -> dict[str, Any]:
    """The same settings with full paths of the files they name, for workers elsewhere."""
    result = dict(settings)
    for name in ("protocol", *AXES):
        text = str(settings.get(name, ""))
        file, colon, rest = text.partition(":") if name == "protocol" else (text, "", "")
        if Path(file).suffix and os.path.isfile(file):
            result[name] = f"{os.path.abspath(file)}{colon}{rest}"
        elif name != "protocol" and file != (path := named_file(file)) and path:
            result[name] = f"{file.removesuffix(path)}{os.path.abspath(path)}"
    return result


def _without_files(value: Any, files: dict[str, str]) -> Any:
    """The value, with the digest of a file's content in place of its path."""
    path = named_file(str(located(value))) if files and isinstance(value, str) else ""
    digest = files.get(os.path.abspath(path))
    return f"{value.removesuffix(path)}file {digest}" if digest and value.endswith(path) else value


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()
