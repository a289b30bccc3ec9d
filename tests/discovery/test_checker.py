"""The checker of the certificates of searches is not to be deceived."""

import copy
import hashlib
import json

import pytest

from hegemon.discovery import checker
from hegemon.discovery.certificates import certificate
from hegemon.discovery.discover import discover

SEARCHES = {
    "election": {"n": "2", "symmetric": True},
    "predicate": {"n": "2", "specification": "predicate:A >= 2"},
    "own, on connected graphs": {
        "n": "3", "specification": "own", "start": "count(state == 1) == 1", "correct": "all(output == 1)",
        "graph": "connected", "symmetric": True,
    },
    "two sizes": {"n": "2,3"},
}  # fmt: skip


def made(options):
    return json.loads(json.dumps(certificate(discover(**{"states": 2} | options, certificate=True))))


def judged(content, tmp_path, capsys):
    place = tmp_path / "certificate.json"
    body = content if isinstance(content, str) else json.dumps(content)
    digest = hashlib.sha256(body.encode()).hexdigest()[:32]
    place.write_text(f'{{"digest":"{digest}","search":{body}}}')
    return checker.main([str(place)]), capsys.readouterr().out


def places(content, path=()):
    yield path
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inner:
        yield from places(value, (*path, key))


def changes(value):
    """What a place may be changed into."""
    if isinstance(value, bool) or value is None:
        return [not value, "central", 1]
    if isinstance(value, int):
        return [value + 1, value - 1, float(value), bool(value)]
    if isinstance(value, str):
        return ["zork", "leader-election", "majority", "ring", "all(state == 1)", f"{value} and 9**9**9 > 1"]
    if isinstance(value, list):
        return [value[:-1], [*value, *value[-1:]]] if value else [[0]]
    return [{**value, "more": 1}]


def mutants(content):
    """One change at every place, and every field left out."""
    for *above, key in [path for path in places(content) if path]:
        holder = content
        for step in above:
            holder = holder[step]
        for value in [*changes(holder[key]), *([...] if isinstance(holder, dict) else [])]:
            if json.dumps(value, default=str) == json.dumps(holder[key]):
                continue
            changed = copy.deepcopy(content)
            place = changed
            for step in above:
                place = place[step]
            if value is ...:
                del place[key]
            else:
                place[key] = value
            yield (*above, key), value, changed


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(options, id=name, marks=[pytest.mark.full] * ("3" in options["n"]))
        for name, options in SEARCHES.items()
    ],
)
def test_every_field_is_checked_or_said(options, tmp_path, capsys):
    """A changed field is refused, or what is printed changes with it; and nothing ends in a traceback."""
    content = made(options)
    code, before = judged(content, tmp_path, capsys)
    assert code == 0 and f"{content['tables']} tables" in before.replace(",", "")
    unnoticed, count = [], 0
    for path, value, changed in mutants(content):
        code, said = judged(changed, tmp_path, capsys)
        is_right_too = "rule" in path and code == 0  # any rule may be decided first where all tables are wrong
        unnoticed += (
            [(path, value)] if code not in (0, 1, 2) or (code, said) == (0, before) and not is_right_too else []
        )
        count += 1
    assert unnoticed == [] and count > 100


def test_a_checker_that_says_less_is_noticed(tmp_path, capsys, monkeypatch):
    """The twin that is silent about the question accepts another specification that has the same tables."""
    content = made({"n": "2", "specification": "predicate:A >= 2"})
    monkeypatch.setattr(checker, "described", lambda *_: [])
    before = judged(content, tmp_path, capsys)
    assert before == judged(content | {"specification": "predicate:A > 1"}, tmp_path, capsys)


HOSTILE = [
    "9**9**9 > 1", "(lambda: 1)() == 1", "__import__('os').getpid() == 1", "count(count(1)) == 1", "state.x == 1",
    "[1 for _ in (1,)] == 1", "2 ** -1 * 10 ** 400 > 1", "1 / 0 == 1", "(" * 300 + "1" + ")" * 300, "1;2", "\x00",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_condition_is_a_comparison_and_is_evaluated_within_bounds(text, tmp_path, capsys):
    content = made({"n": "2", "specification": "predicate:A >= 2"})
    assert judged(content | {"specification": f"predicate:{text}"}, tmp_path, capsys)[0] in (1, 2)


def test_damage_and_sizes_that_cannot_be_checked_are_refused(tmp_path, capsys):
    content = made({"n": "2"})
    text = json.dumps(content)
    for wrong in (text[:-9], "[" * 10**5, "", text.replace('"n":', '"n": [3], "n":'), content | {"n": [10**9]}):
        assert judged(wrong, tmp_path, capsys)[0] in (1, 2)
    twice = content["problems"] * 2
    wrong = content | {"problems": twice, "tables": 2 * content["tables"], "satisfying": 2 * content["satisfying"]}
    assert "stand there twice" in judged(wrong, tmp_path, capsys)[1]
