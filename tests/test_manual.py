"""The manual shows what comes out: its commands are run as a reader runs them, and print what the pages show."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
import typer
from benchmarks import gallery, manual
from benchmarks.manual import HERE, MINUTE, Command, File, Outcome, comparable, pages, parts, read

from hegemon.cli import watch
from hegemon.cli.application import VERBS, application
from hegemon.cli.main import main
from hegemon.protocols import CATALOGUE

QUICK = ("rounds.md",)  # what the ordinary tests follow; the others are run by `make test-full`
SHOWN = [page for page in pages() if any(isinstance(one, Command) and one.shown for one in parts(page.read_text()))]
PAGE = """
```python title="one.py"
x = 1
```

```py title="append to one.py"
y = 2
```

```console
$ cat one.py
{shown}

$ false   # {code}
```

    hegemon list        # about 3 min: "what" it takes
"""


def followed(tmp_path, shown="x = 1\n\n\ny = 2", code="exit code 1"):
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(shown=shown, code=code))
    return page, list(read(page, tmp_path))


def test_a_page_is_followed_and_what_it_shows_is_compared(tmp_path):
    _, (cat, false, listed) = followed(tmp_path)
    assert not any(one.failure or one.differs for one in (cat, false, listed))
    assert (cat.command.limit, listed.command.limit) == (MINUTE, 180) and listed.command.line == "hegemon list"


def test_a_page_that_shows_something_else_is_noticed_and_written_anew(tmp_path):
    page, outcomes = followed(tmp_path, shown="x = 1\n\n\ny = 3", code="exits")
    assert [one.differs for one in outcomes] == [True, False, False]
    assert outcomes[1].failure == "exit code 1 instead of 0: nothing is printed"
    manual.rewrite(page, outcomes)
    assert page.read_text() == PAGE.format(shown="x = 1\n\n\ny = 2", code="exits")


def test_lines_that_are_left_out_stay_left_out(tmp_path):
    _, outcomes = followed(tmp_path, shown="x = 1\n…")
    assert not outcomes[0].differs and outcomes[0].to_show == ["x = 1", "…"]
    _, outcomes = followed(tmp_path, shown="…\nx = 1")
    assert outcomes[0].differs and outcomes[0].to_show == ["…", "y = 2"]


def test_a_command_that_takes_longer_than_it_says_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(manual, "GENEROUS", 0.01)
    made = manual.execute(Command("sleep 60", "", None, (0, 0)), tmp_path)
    assert made.code is None and "did not end" in made.failure


def test_times_are_not_compared_and_numbers_are():
    assert comparable(["reached (0.12 s)", "a   b"]) == comparable(["reached (1,207 s)", "a b"])
    assert comparable(["12 steps"]) != comparable(["13 steps"])


def test_every_tutorial_shows_what_its_commands_print():
    tutorials = [*(HERE / "docs/tutorials").glob("*.md"), HERE / "docs/course.md"]
    for page in tutorials:
        commands = [one for one in parts(page.read_text()) if isinstance(one, Command)]
        assert commands and all(one.shown for one in commands), page
        for link, _ in manual.PICTURE.findall(page.read_text()):
            assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", [page for page in SHOWN if page.name in QUICK], ids=lambda page: page.name)
def test_a_page_prints_what_it_shows(page, tmp_path):
    for one in read(page, tmp_path):
        assert not one.failure and not one.differs, (one.command.line, one.failure, one.printed)


@pytest.mark.full
@pytest.mark.parametrize("page", [page for page in pages() if page.name not in QUICK], ids=lambda page: page.name)
def test_every_command_of_a_page_does_what_the_page_says(page, tmp_path):
    wrong = [_told(one) for one in read(page, tmp_path) if one.failure or one.differs]
    assert not wrong, "\n".join(wrong)


def _told(one: Outcome) -> str:
    return f"{one.command.line}: {one.failure or 'prints ' + repr(one.printed)}"


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.full)])
def test_every_film_of_the_gallery_opens_with_the_command_under_it(every, capsys, monkeypatch):
    """The page is made by a program, for the whole catalogue; the twin names a protocol that is not known."""
    opened = []
    monkeypatch.setattr("hegemon.web.watch.Watching", lambda build, *_: opened.append(build().protocol.id))
    monkeypatch.setattr(watch, "serve_page", lambda *_: None)
    films = [one.line for one in parts((HERE / "docs/gallery.md").read_text()) if isinstance(one, Command)]
    assert sorted(films) == sorted(map(gallery.command_of, CATALOGUE))
    assert [line for line in films[::every] if main(shlex.split(line)[1:])] == []
    assert opened == list(CATALOGUE)[::every]
    assert main(shlex.split(films[0].replace("pairwise", "pairwisest"))[1:]) == 2


def test_what_is_not_run_says_why():
    reasons = [one.reason for page in pages() for one in parts(page.read_text()) if isinstance(one, Command)]
    assert len(reasons) > 150 and sum(reason is not None for reason in reasons) < 15


def test_the_times_that_pages_state_are_the_measured_ones():
    """A page that says "about 2 min" of 20 s keeps its reader away. The twin says it."""
    wrong = [told for page in pages() for told in misstated(page.read_text(), str(page.relative_to(HERE)))]
    assert wrong == []
    for page, command in (("docs/atlas.md", "hegemon compare"), ("docs/reproduce.md", "hegemon reproduce --quick")):
        text = (HERE / page).read_text()
        assert any(one.startswith(command) for one in misstated(re.sub(r"about \d+ (s|min)", "about 2 h", text), page))


def misstated(text: str, page: str) -> list[str]:
    times = manual.known_times().get(page, {})
    found = [one for one in parts(text) if isinstance(one, Command) and manual.STATED.search(one.comment)]
    return [one.line for one in found if one.line in times and not 0.5 <= one.limit / times[one.line] <= 3]


def test_the_page_of_options_has_every_option():
    """The twin lacks one."""
    specification = importlib.util.spec_from_file_location("make_options", HERE / "docs" / "make_options.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    text = module.page()
    assert not missing_options(text) and re.search(r"^\| `--listen HOST:PORT`", text, re.M)
    assert missing_options(text.replace("`--quantiles ", "`--quantile ")) == ["verify --quantiles"]


def missing_options(text: str) -> list[str]:
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.M | re.S))
    app = typer.main.get_command(application(list(VERBS)))
    wanted = {name: app.commands[name] for name in VERBS if not app.commands[name].hidden and name != "agent"}
    return [
        f"{name} {flag}"
        for name, command in wanted.items()
        for one in command.params
        for flag in one.opts
        if flag.startswith("--") and not one.hidden and not re.search(rf"`[^`]*{flag}[ ,`]", sections[name])
    ]


def test_files_of_a_page_are_those_with_a_title():
    found = parts((HERE / "docs/tutorials/claims.md").read_text())
    assert [(one.name, one.appended) for one in found if isinstance(one, File)] == [
        ("lives_paper.py", False),
        ("lives_paper.py", True),
        ("lives_paper.py", True),
    ]
    assert Path(manual.LIST).name == "commands.md"


def test_the_page_of_files_names_every_option_that_takes_one():
    """The twin lacks one."""
    text = (HERE / "docs/files.md").read_text("utf-8")
    assert not unnamed_files(text)
    assert unnamed_files(text.replace("--distribution", "")) == ["verify --distribution"]


def unnamed_files(text: str) -> list[str]:
    app = typer.main.get_command(application(list(VERBS)))
    return [
        f"{name} {one.opts[0]}"
        for name, command in app.commands.items()
        for one in command.params
        if one.metavar in ("FILE", "FOLDER") and not one.hidden and one.opts[0].startswith("--")
        if one.opts[0] not in text
    ]
