"""The reference pages: their examples run, and what they call refused is refused with the words below it."""

import re
from pathlib import Path

import pytest

from hegemon.errors import InvalidInput

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
PAGES = sorted(REFERENCE.glob("*.md"))
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
REFUSED = re.compile(r"^```py\n(.*?)^```\n\n> ([^\n]+)", re.M | re.S)


def refusals():
    for page in PAGES:
        text = page.read_text("utf-8")
        first = EXAMPLE.search(text)[1]
        for number, (code, said) in enumerate(REFUSED.findall(text)):
            yield pytest.param(first, code, said, id=f"{page.stem}-{number}")


def refused(first: str, code: str) -> str:
    """The sentence with which the code is refused, after the example of its page; "" if it is not."""
    scope = {"__name__": "block"}
    exec(compile(first, "page.py", "exec"), scope)
    known = set(scope)
    try:
        exec(compile(code, "page.py", "exec"), scope)
        for name in set(scope) - known:
            scope[name](n=4).require_sound()
    except InvalidInput as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("first", "code", "said"), list(refusals()))
def test_what_a_page_calls_refused_is_refused_in_these_words(first, code, said):
    assert said in refused(first, code)


def test_every_refusal_is_followed_by_its_words_and_what_is_right_is_not_refused():
    for page in PAGES:
        text = page.read_text("utf-8")
        assert text.count("```py\n") == len(REFUSED.findall(text)) >= 4, page
        first = EXAMPLE.search(text)[1]
        assert refused(first, "class Fine(Everything):\n    pass\n") == "", page


def test_there_is_a_page_for_every_model():
    assert {page.stem for page in PAGES} == {"population", "rounds", "messages", "objects"}
