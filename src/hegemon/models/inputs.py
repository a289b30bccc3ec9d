"""Inputs: fields that are given from outside and never change, such as that one of them is special.

A protocol declares `inputs = {"special": 1}`: the field `special`, a Bit of its State, is 1 for that many agents (a
number or a text over the parameters) and 0 for the others. Which agents those are depends on the start; in starts
that the program makes they are the first ones. No transition and no fault changes an input, and "all configurations"
means all with these inputs.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.configuration import Configuration, Group
from hegemon.models.domains import Bit
from hegemon.models.expressions import evaluate

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol


def check_inputs(cls: "type[Protocol]") -> None:
    """Refuse inputs that are no plain Bits of the state."""
    fields = {field.name: field.domain for field in cls.fields}
    used = {name for domain in fields.values() for name, _ in domain.condition}
    if not isinstance(cls.inputs, dict):
        raise InvalidInput(f'{cls.__name__}: inputs must be a dictionary such as {{"special": 1}}')
    for name in cls.inputs:
        if fields.get(name) != Bit or name in used:
            raise InvalidInput(
                f"{cls.__name__}: the input {name!r} must be a field of State, declared as `{name}: Bit`, on which no "
                "other field depends"
            )


def told(protocol: "Protocol") -> dict[str, int]:
    """How many agents have 1, for every input."""
    found = {}
    for name, text in protocol.inputs.items():
        value = evaluate(text, protocol.values)
        if isinstance(value, bool) or value != int(value) or not 0 <= value <= protocol.n:
            raise InvalidInput(f"{protocol.id}: {value} agents with the input {name} = 1 are not in 0..{protocol.n}")
        found[name] = int(value)
    return found


def describe_inputs(protocol: "Protocol") -> str:
    """In words: how many agents have which input."""
    texts = [f"{name} = 1 for {number} of {protocol.n} agents" for name, number in told(protocol).items()]
    if protocol.input_parameter and (states := _input_states(protocol)):
        name, starts = protocol.input_parameter, [_written(protocol, code) for code in states]
        texts.append(f"{protocol.values[name]} ({name}) of {protocol.n} agents start with {starts[1]}, not {starts[0]}")
    return ", ".join(texts)


def input_groups(protocol: "Protocol", values: dict[str, Any], random: bool) -> list[Group]:
    """All agents with these values, and each input given to the first of them."""
    numbers = told(protocol)
    if not numbers:  # n may be a symbol here, for which there is no order
        return [Group(protocol.n, values, random)]
    ends = sorted({0, protocol.n, *numbers.values()})
    made = []
    for begin, end in zip(ends, ends[1:], strict=False):
        inputs = {name: int(begin < number) for name, number in numbers.items()}
        made.append(Group(end - begin, values | inputs, random))
    return made


def require_inputs(protocol: "Protocol", configuration: Configuration, what: str) -> Configuration:
    """Refuse a start in which another number of agents has 1."""
    if protocol.inputs:
        agents, weights = configuration.weighted()
        for name, number in told(protocol).items():
            present = int(np.sum(agents[name] if weights is None else agents[name] * weights))
            if present != number:
                raise InvalidInput(
                    f"{what} has {present} agents with the input {name} = 1, and {protocol.id} needs {number} of them"
                )
    return configuration


def require_given(protocol: "Protocol", configuration: Configuration, what: str) -> Configuration:
    """Refuse a user's start whose inputs contradict the input parameter of the protocol.

    An agent may lose its input at its first meeting, so inputs are counted only in a start in which every agent still
    has its input; any other start is a configuration in the middle of a run, which is accepted.
    """
    require_inputs(protocol, configuration, what)
    states = _input_states(protocol) if protocol.input_parameter else []
    if not states:
        return configuration
    codes, counts = configuration.multiset
    if np.isin(codes, states).all():
        name, present = protocol.input_parameter, int(counts[codes == states[1]].sum())
        if present != protocol.values[name]:
            raise InvalidInput(
                f"{what} has {present} agents that start with {_written(protocol, states[1])}, and {protocol.id} has "
                f"{name} = {protocol.values[name]}; give --set {name}={present}"
            )
    return configuration


def _input_states(protocol: "Protocol") -> list[int]:
    """The codes in which agents with input 0 and with input 1 start, where that is one state each."""
    found: list[list[int]] = []
    with suppress(InvalidInput):  # not every protocol allows 0 and n
        for number in (0, protocol.n):
            parameters = protocol.parameters | {protocol.input_parameter: number}
            one = type(protocol)(protocol.n, **parameters)
            made = one.initial(protocol.default_start, np.random.default_rng(0), as_multiset=True)
            found.append(made.multiset[0].tolist())
    single = [len(codes) for codes in found] == [1, 1] and found[0] != found[1]
    return [*found[0], *found[1]] if single else []


def _written(protocol: "Protocol", code: int) -> str:
    state = protocol.space.mapping(protocol.space.decode_array(np.array([code]))[0])
    return ", ".join(f"{name} = {value}" for name, value in state.items())


def have_inputs(protocol: "Protocol", codes: np.ndarray) -> np.ndarray:
    """Which rows of codes, one code for each agent, have the inputs of the protocol."""
    states = protocol.space.decode_array(np.arange(protocol.space.size))
    right = np.ones(len(codes), bool)
    for name, number in told(protocol).items():
        right &= states[name].astype(np.int64)[codes].sum(axis=1) == number
    return right
