"""One case of a study: a protocol, its size and parameters, a graph, a start, a stop. Its key names its results.

The key covers everything that a result depends on: the fingerprints of the protocol and of the code, the resolved
parameters, the contents of the files it names, the stop, the engine, the seed. The seed of a case comes from its
description without engine and limit: trial k has the same start and the same graph on every engine.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hegemon.compute.randomness import GRAPH, generator
from hegemon.engines.stopping import parse_stop
from hegemon.errors import InvalidInput, meant
from hegemon.experiments.fingerprints import code_fingerprint, file_digest, protocol_fingerprint
from hegemon.graphs.families import parse
from hegemon.graphs.topology import Topology
from hegemon.models.expressions import whole_number
from hegemon.models.unreliable import share, unreliable
from hegemon.protocols.loading import file_of, find_protocol
from hegemon.runs.disturbances import parse_fault
from hegemon.runs.run import Fault
from hegemon.runs.setting import topology_for

COURSE = ("start", "wake", "until", "engine", "fault", "loss", "one_sided", "max_steps")
LOSSES = ("loss", "one_sided")
RESERVED = ("protocol", "n", "graph", *COURSE)


@dataclass(frozen=True)
class Case:
    """`settings` are plain values under the names of axes; what is not reserved is a parameter."""

    settings: dict
    study_seed: int = 0

    @cached_property
    def protocol(self):
        """The protocol with its size and parameters; the graph may say what n is."""
        settings = self.settings
        if "protocol" not in settings:
            raise InvalidInput("a case names no protocol; give one")
        protocol_class = find_protocol(str(settings["protocol"]))
        n = settings.get("n")
        if n is None:
            if "graph" not in settings:
                raise InvalidInput("how many agents? Give --n N, or a --graph with a size such as ring:64")
            n = parse(self.graph, None, generator(0, 0, GRAPH)).n
        given = {name: value for name, value in settings.items() if name not in RESERVED}
        return protocol_class(n=whole_number(n, "n", low=1), **given)

    @property
    def file(self) -> str | None:
        """The Python file that the protocol is in, where it is no protocol of the catalogue; nothing is imported."""
        return file_of(str(self.settings.get("protocol")))

    @cached_property
    def family(self) -> tuple:
        """All that cases which differ in n alone have in common."""
        return tuple(sorted((name, str(value)) for name, value in self.settings.items() if name != "n"))

    @property
    def graph(self) -> str | None:
        """The graph's text; `{n}` in it stands for the number of agents, as in regular:{n},4."""
        text = self.settings.get("graph")
        return None if text is None else str(text).replace("{n}", str(self.settings.get("n", "{n}")))

    def topology(self) -> Topology:
        return topology_for(self.protocol, self.graph, self.seed)

    @cached_property
    def options(self) -> dict:
        """What `simulate` is told besides seed, trial and graph."""
        settings, by_messages = self.settings, self.protocol.model == "messages"
        refused = ("start", "until", "fault", *LOSSES) if by_messages else ("wake",)
        for name in refused:
            if name in settings:
                instead = "wake" if by_messages else "start"
                raise InvalidInput(f"{name} means nothing to {self.protocol.id}; use {instead}")
        options: dict[str, Any] = {"engine": str(settings.get("engine", "auto"))}
        if settings.get("max_steps") is not None:
            options["max_steps"] = whole_number(settings["max_steps"], "max-steps")
        if by_messages:
            return options | {"wake": str(settings.get("wake", "all"))}
        options["start"] = str(settings.get("start", self.protocol.default_start))
        options["until"] = str(settings.get("until", "safe"))
        options["faults"] = parse_faults(str(settings.get("fault", "none")))
        shares = {name: str(share(name, settings[name])) for name in LOSSES if name in settings}
        return options | {name: value for name, value in shares.items() if value != "0"}

    @cached_property
    def course(self) -> dict:
        """From where to where, as the table of results says it."""
        options = self.options
        course = {"graph": self.graph or self.protocol.topology}
        course |= {name: options[name] for name in ("start", "wake", "until") if name in options}
        if options.get("faults"):
            course["fault"] = str(self.settings["fault"])
        course |= {name: options[name] for name in LOSSES if name in options}
        if "max_steps" in options:
            course["max_steps"] = options["max_steps"]
        return course | {"engine_asked": options["engine"]}

    @cached_property
    def description(self) -> dict:
        """The case in canonical form: equal descriptions are equal experiments, wherever their files lie."""
        course = {name: _content(value) for name, value in self.course.items()}
        if "fault" in course:
            course["fault"] = [[f.step, f.agents, f.values] for f in self.options["faults"]]
        protocol = self.protocol
        return {"protocol": protocol.id, "n": protocol.n, "parameters": protocol.parameters, **course}

    @cached_property
    def seed(self) -> int:
        sample = {name: value for name, value in self.description.items() if name not in ("engine_asked", "max_steps")}
        return int(_digest([self.study_seed, sample])[:12], 16)

    @cached_property
    def key(self) -> str:
        fingerprints = [protocol_fingerprint(type(self.protocol)), code_fingerprint()]
        return _digest([self.study_seed, self.description, *fingerprints])[:32]

    def check(self) -> None:
        """Refuse what can be seen to fail before anything runs."""
        options, protocol = self.options, self.protocol
        if "until" in options:
            parse_stop(options["until"], protocol)
            unreliable(protocol, *(options.get(name, 0) for name in LOSSES))
            start = options["start"]
            if start not in protocol.starts and not os.path.isfile(start):
                known = ", ".join(protocol.starts)
                raise InvalidInput(
                    f"{protocol.id} has no start {start!r}; choose {known}, or give a .json or .csv file"
                    f"{meant(start, protocol.starts)}"
                )
        if self.graph and "{n}" in self.graph:
            raise InvalidInput(f"the graph {self.graph} speaks of n, and n is not given; give --n")

    def label(self) -> str:
        """The case as a sentence names it."""
        return ", ".join(f"{name} = {value}" for name, value in self.settings.items())


def absolute(settings: dict) -> dict:
    """The same settings with the files they name by their full paths, for workers elsewhere."""
    result = dict(settings)
    for name in ("protocol", "graph", "start", "wake"):
        text = str(settings.get(name, ""))
        file, colon, rest = text.partition(":") if name == "protocol" else (text, "", "")
        if Path(file).suffix and os.path.isfile(file):
            result[name] = f"{os.path.abspath(file)}{colon}{rest}"
    return result


def parse_faults(text: str) -> tuple[Fault, ...]:
    """`none`, or faults such as `step=1000,agents=5,leader=1`, several of them divided by semicolons."""
    if text.strip() == "none":
        return ()
    return tuple(parse_fault(part) for part in text.split(";"))


def _content(value):
    """A file stands for what is in it."""
    if isinstance(value, str) and Path(value).suffix and os.path.isfile(value):
        return f"file {file_digest(value)}"
    return value


def _digest(content) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()
