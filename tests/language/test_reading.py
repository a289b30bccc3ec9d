"""What is read, what is refused, and that a form is surely that of the function that runs."""

import linecache

import pytest

from hegemon.errors import InvalidInput
from hegemon.language import form
from hegemon.language.interpreter import run
from hegemon.language.reading import read
from hegemon.language.source import Outside
from hegemon.models import Choice, PopulationProtocol
from hegemon.models.shared import functions_of
from hegemon.protocols import CATALOGUE
from hegemon.protocols.loading import find_protocol, name_protocol

EXAMPLES = ("bfs_tree", "colouring", "knockout", "life", "lives", "lottery")
OUTSIDE: dict[str, str] = {}  # of the catalogue and the examples: a function, and why the language does not have it


def instance(kind):
    for n in (9, 7, 5):
        try:
            return kind(n=n)
        except InvalidInput:
            continue
    raise AssertionError(kind)


@pytest.mark.parametrize("name", [*CATALOGUE, *(f"examples/{one}.py" for one in EXAMPLES)])
def test_the_catalogue_is_inside(name):
    kind = find_protocol(name_protocol(name) if "/" in name else name)
    if kind.model.name not in ("population", "rounds"):
        pytest.skip("messages and objects are not read yet")
    for function in functions_of(instance(kind)):
        if function is None or function.__name__ in ("label", "highlight"):  # Python, run for pictures
            continue
        try:
            assert read(function).body
        except Outside as error:
            assert function.__qualname__ in OUTSIDE, error


def of_file(tmp_path, text, name="interact"):
    """A function of a file, as an import makes it."""
    path = tmp_path / "mine.py"
    path.write_text(text)
    scope = {"__name__": "mine"}
    exec(compile(text, str(path), "exec", dont_inherit=True), scope)
    return scope[name]


def body(*lines):
    return "def interact(a, b, p):\n" + "".join(f"    {line}\n" for line in lines)


REFUSED = {
    "x = [1, 2]": "a list is outside the language; write a tuple",
    "x = {1: 2}": "a dictionary is outside the language",
    "a.x = 'LEFT'": "'LEFT' is a text, and no name of a Choice",
    "a.x = None": "None is outside the language",
    "a.x = sorted((1, 2))[0]": "sorted is outside the language",
    "a.x = (lambda: 1)()": "is called, and is no helper",
    "a.x = a.go()": "a.go is called, and is no helper",
    "a.x = unknown": "unknown is not defined",
    "assert a.x": "assert is outside the language",
    "import random": "an import is outside the language here",
    "a.x = b is a": "write ==",
    "a.x = f'{a.x}'": "a text is outside the language",
    "a.x = max(*a.row)": "a star is outside the language",
    "a.x = any((t := e) for e in a.row)": "an assignment within a generator",
    "a.x = table": "table is a dict, which is outside the language",
    "a.x = itself(a)": "itself calls itself",
    "a.x = helper(a, b)": "helper takes u; pass exactly these",
    "a.x = helper(v=a)": "helper takes u; pass exactly these",
    "del a.x": "del is outside the language",
    "a.x = 1j": "1j is outside the language",
}
AROUND = "table = {}\n\ndef itself(u):\n    return itself(u)\n\ndef helper(u):\n    return u.x\n\n"


@pytest.mark.parametrize("line", REFUSED)
def test_a_refusal_has_the_line_and_a_way_out(tmp_path, line):
    with pytest.raises(Outside) as caught:
        read(of_file(tmp_path, AROUND + body("a.x = 1", line)))
    assert REFUSED[line] in str(caught.value)
    assert "(mine.py, line 11)" in str(caught.value) or "itself" in line
    assert str(caught.value).count("(mine.py") == 1


def test_an_edited_file_is_refused(tmp_path):
    function = of_file(tmp_path, body("a.x = 1"))
    assert read(function)
    path = tmp_path / "mine.py"
    path.write_text(body("a.x = 2"))
    linecache.clearcache()
    with pytest.raises(Outside, match="has changed since it was imported"):
        read(function)
    path.write_text("\n" + body("a.x = 1"))  # the same words on other lines are another text
    linecache.clearcache()
    with pytest.raises(Outside, match="has changed"):
        read(function)
    path.write_text(body("a.x ="))
    linecache.clearcache()
    with pytest.raises(Outside, match="has changed"):
        read(function)


def test_without_a_text():
    scope = {}
    exec(body("a.x = 1"), scope)
    with pytest.raises(Outside, match="its text is not kept"):
        read(scope["interact"])
    with pytest.raises(Outside, match="is not a plain function"):
        read(len)


def test_functions_on_one_line_are_told_apart(tmp_path):
    scope = of_file(
        tmp_path, "both = (lambda a, p: a.x == 1), (lambda a, p: a.x == 2), (lambda a, p: a.x == 2)\n", "both"
    )
    values = [read(function).body[0].value.rest[0].value for function in scope]
    assert values == [1, 2, 2]
    pair = of_file(tmp_path, "def same(x): return x\nboth = [same, (lambda x: x), lambda x: (x)]\n", "both")
    assert [run(read(function), 7) for function in pair] == [7, 7, 7]


@pytest.mark.parametrize(
    ("text", "given", "found"),
    [
        ("lambda x: x + 1 if x < 9 else 0", 7, 8),
        ("lambda x: 1 if x == 1 else (2 if x == 2 else 3)", 7, 3),
        ("lambda x: x and 3", 7, 3),
        ("lambda x: 5", 7, 5),
    ],
)
def test_a_lambda_is_found_though_its_whole_body_may_have_no_instruction(tmp_path, text, given, found):
    first, _ = of_file(tmp_path, f"both = ({text}), (lambda x: 0 if x else 9)\n", "both")
    assert run(read(first), given) == found


class Signal(PopulationProtocol):
    class State:
        light: Choice("RED", "GREEN", "OFF")
        other: Choice("GREEN", "LATE")

    def interact(a, b, p):
        if a.light == "RED" and b.light in ("GREEN", "OFF"):
            a.light = "GREEN"
        elif a.other == "LATE":
            b.light = "OFF"


def test_words_of_a_choice_are_numbers_and_stay_words():
    seen = {}

    def walk(node):
        if isinstance(node, form.Constant):
            seen.setdefault(node.word, node.value)
        for name in getattr(node, "fields", ()):
            value = getattr(node, name)
            for part in value if isinstance(value, tuple) else (value,):
                walk(part)

    for statement in read(Signal(n=3).interact).body:
        walk(statement)
    assert seen == {"RED": 0, "GREEN": 1, "OFF": 2, "LATE": 1}


def test_constants_defaults_closures_and_helpers_are_those_of_now(tmp_path):
    text = (
        "K = 3\n\ndef outer(c):\n    def interact(a, d=5):\n        return a + K + c + d + helper(a)\n"
        "    return interact\n"
        "\ndef helper(a):\n    return inner(a)\n\ndef inner(a):\n    return 10 * a\n\nmade = outer(100)\n"
    )
    function = of_file(tmp_path, text, "made")
    assert run(read(function), 1) == function(1) == 119
    function.__globals__["K"] = 4
    assert run(read(function), 1) == function(1) == 120
    function.__defaults__ = (6,)
    assert run(read(function), 1) == function(1) == 121
    function.__closure__[0].cell_contents = 200
    assert run(read(function), 1) == function(1) == 221
