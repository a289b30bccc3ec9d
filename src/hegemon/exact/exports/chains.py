"""The chain in the formats of other tools: PRISM's explicit files, Storm's DRN, and DOT for a picture.

States are numbered as in the chain; label `init` marks the starts, and each set in question has its label.
The reward `steps` is 1 per step outside the set, so that the expected reward until the set is the expected
number of steps. Under a daemon it is a Markov decision process, in DRN alone: actions are the daemon's choices, and the
reward `moves` counts the nodes that act.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from hegemon import files
from hegemon.errors import InvalidInput, choose, meant
from hegemon.exact.chain import Chain
from hegemon.exact.decisions import Decisions

LARGEST_PICTURE = 2000  # configurations: beyond, no layout program draws a DOT file


def write_chain(
    chain: Chain,
    form: str,
    path: str | Path,
    labels: dict[str, np.ndarray],
    target: str,
    decisions: Decisions | None = None,
) -> list[Path]:
    """Write the chain, or the decisions of a daemon on it; returns the files written.

    `labels` are sets by name, `target` the one rewards end at.
    """
    if form not in FORMATS:
        raise InvalidInput(f"the export format {form!r} is not known; {choose(FORMATS)}{meant(form, FORMATS)}")
    if decisions is not None and form != "drn":
        raise InvalidInput(f"the decisions of a daemon are not written as {form}; choose drn")
    path = files.reserve(path)
    labels = {"init": initial(chain), **{_word(name): inside for name, inside in labels.items()}}
    reward = (~labels[_word(target)]).astype(int)
    if decisions is not None:
        return [_write(path.with_suffix(".drn"), _decision_lines(decisions, labels, reward))]
    return FORMATS[form](chain, path, labels, reward)


def initial(chain: Chain) -> np.ndarray:
    """Whether the chain may start in each configuration; in a whole chain, in all."""
    if chain.is_whole:
        return np.ones(chain.size, bool)
    start = np.zeros(chain.size, bool)
    start[list(chain.starts)] = True
    return start


def _word(name: str) -> str:
    """A label that every tool accepts."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name)


def _rows(chain: Chain) -> Iterator[tuple[int, list[int], list[float]]]:
    """For each configuration: its number, successors and probabilities, exact to the last bit."""
    for state in range(chain.size):
        row = slice(chain.offsets[state], chain.offsets[state + 1])
        order = np.argsort(chain.targets[row])
        chances = chain.weights[row][order] / chain.denominator
        yield state, chain.targets[row][order].tolist(), chances.tolist()


def _describe(chain: Chain, state: int) -> str:
    agents = chain.space.mappings(chain.codes_at([state])[0])
    return " | ".join(" ".join(f"{name}={value}" for name, value in agent.items()) for agent in agents)


def _write(path: Path, lines: Iterable[str]) -> Path:
    with files.publish(path) as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


def _explicit(chain: Chain, path: Path, labels: dict[str, np.ndarray], reward: np.ndarray) -> list[Path]:
    """.tra (transitions), .sta (agents' codes), .lab (labels) and .rew (state rewards), beside each other."""
    numbers = {name: index for index, name in enumerate(labels)}
    names = ",".join(f"agent{i}" for i in range(chain.space.n))

    def transitions() -> Iterator[str]:
        yield f"{chain.size} {chain.transitions}"
        for state, targets, chances in _rows(chain):
            for target, chance in zip(targets, chances, strict=True):
                yield f"{state} {target} {chance!r}"

    def states() -> Iterator[str]:
        yield f"({names})"
        rows = (codes for block in chain.blocks for codes in chain.codes_at(block).tolist())
        for state, codes in enumerate(rows):
            yield f"{state}:({','.join(map(str, codes))})"

    def label_lines() -> Iterator[str]:
        yield " ".join(f'{index}="{name}"' for name, index in numbers.items())
        for state in range(chain.size):
            held = [str(numbers[name]) for name, inside in labels.items() if inside[state]]
            if held:
                yield f"{state}: {' '.join(held)}"

    def rewards() -> Iterator[str]:
        rewarded = np.flatnonzero(reward)
        yield f"{chain.size} {len(rewarded)}"
        for state in rewarded:
            yield f"{state} 1"

    contents = {".tra": transitions(), ".sta": states(), ".lab": label_lines(), ".rew": rewards()}
    return [_write(path.with_suffix(ending), lines) for ending, lines in contents.items()]


def _drn(chain: Chain, path: Path, labels: dict[str, np.ndarray], reward: np.ndarray) -> list[Path]:
    def lines() -> Iterator[str]:
        yield f"// {chain.space.protocol.id}, n = {chain.space.n}, {chain.space.topology.name}"
        yield from ("@type: DTMC", "@parameters", "", "@reward_models", "steps")
        yield from ("@nr_states", str(chain.size), "@nr_choices", str(chain.size), "@model")
        for state, targets, chances in _rows(chain):
            held = "".join(f" {name}" for name, inside in labels.items() if inside[state])
            yield f"state {state} [{reward[state]}]{held}"
            yield "\taction 0 [0]"
            for target, chance in zip(targets, chances, strict=True):
                yield f"\t\t{target} : {chance!r}"

    return [_write(path.with_suffix(".drn"), lines())]


def _decision_lines(process: Decisions, labels: dict[str, np.ndarray], reward: np.ndarray) -> Iterator[str]:
    """The lines of each choice with rewards `steps` and `moves`; a configuration without choices stays."""
    chain, space = process.chain, process.chain.space
    idle = int((np.diff(process.first) == 0).sum())
    yield f"// {space.protocol.id}, n = {space.n}, {space.topology.name}, all schedules of a daemon"
    yield from ("@type: MDP", "@parameters", "", "@reward_models", "steps moves")
    yield from ("@nr_states", str(chain.size), "@nr_choices", str(process.choices + idle), "@model")
    for state in range(chain.size):
        held = "".join(f" {name}" for name, inside in labels.items() if inside[state])
        yield f"state {state} [0, 0]{held}"
        begin, end = process.first[state : state + 2].tolist()
        if begin == end:
            yield f"\taction idle [{reward[state]}, {reward[state]}]"
            yield f"\t\t{state} : 1"
        for choice in range(begin, end):
            row = slice(process.offsets[choice], process.offsets[choice + 1])
            cost = reward[state]
            yield f"\taction a{process.labels[choice]} [{cost}, {cost * process.moves[choice]}]"
            for target, weight in zip(process.targets[row].tolist(), process.weights[row].tolist(), strict=True):
                yield f"\t\t{target} : {weight / process.denominator!r}"


def _dot(chain: Chain, path: Path, labels: dict[str, np.ndarray], reward: np.ndarray) -> list[Path]:
    if chain.size > LARGEST_PICTURE:
        raise InvalidInput(
            f"a picture of {chain.size} configurations cannot be read; at most {LARGEST_PICTURE} are written as "
            "dot: take a smaller n, a fixed start, or the format drn"
        )

    def lines() -> Iterator[str]:
        yield "digraph chain {"
        yield "  node [shape=box, style=filled, fillcolor=white];"
        for state, targets, _ in _rows(chain):
            held = [name for name, inside in labels.items() if inside[state]]
            colour = "" if reward[state] else ", fillcolor=palegreen"
            text = _describe(chain, state).replace(" | ", "\\n")
            yield f'  {state} [label="{text}\\n{" ".join(held)}", comment="reward {reward[state]}"{colour}];'
            weights = chain.weights[chain.offsets[state] : chain.offsets[state + 1]]
            order = np.argsort(chain.targets[chain.offsets[state] : chain.offsets[state + 1]])
            for target, weight in zip(targets, weights[order], strict=True):
                yield f'  {state} -> {target} [label="{weight}/{chain.denominator}"];'
        yield "}"

    return [_write(path.with_suffix(".dot"), lines())]


FORMATS = {"tra": _explicit, "drn": _drn, "chain": _dot}
