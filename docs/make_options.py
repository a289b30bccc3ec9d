"""Writes docs/options.md: every command with all its options, from the command line's own declarations.

MkDocs runs it before every build (`hooks`), and `python docs/make_options.py` writes the page by itself.
"""

from pathlib import Path

import typer

from hegemon.cli import agent
from hegemon.cli.application import VERBS, application

PAGE = Path(__file__).parent / "options.md"
BEGIN = """# All options

Every command with all that it takes. `hegemon COMMAND --help` prints the same. Numbers may be written `1000`, `1e6` or
`1_000_000`, and as arithmetic (`2*10^6`). An option that is said to be repeatable may be given several times; any other
only once. An unknown option or value is refused with one sentence and exit code 2.

`hegemon --version` prints the version, `hegemon --install-completion` sets up completion in the shell.
"""


def rows(command) -> list[tuple[str, str, str]]:
    """Of each argument and option: how it is written, what it does with its default, and its heading."""
    found = []
    for one in command.params:
        if getattr(one, "hidden", False):
            continue
        named = one.param_type_name == "option"
        names = ", ".join((*one.opts, *one.secondary_opts)) if named else ""
        takes = "" if getattr(one, "is_flag", False) else one.metavar or ""
        what, usual = getattr(one, "help", None) or "", one.default
        if not isinstance(usual, bool) and usual not in (None, "", ()) and not callable(usual) and "default" not in what:
            what += f"; default: {usual}"
        found.append((f"{names} {takes}".strip(), what, getattr(one, "rich_help_panel", None) or ""))
    return found


def agent_rows() -> list[tuple[str, str, str]]:
    """The options of `agent`, which argparse reads."""
    found = []
    for one in agent.parser()._actions:
        names, takes = ", ".join(one.option_strings), "" if one.nargs == 0 else one.metavar or one.dest.upper()
        found.append((f"{names} {takes}".strip(), one.help or "", ""))
    return found


def section(name: str, command) -> list[str]:
    examples = VERBS[name].examples
    lines = [f"## {name}", "", " ".join((command.help or "").split()), ""]
    listed = agent_rows() if name == "agent" else rows(command)
    for heading in dict.fromkeys(row[2] for row in listed):
        chosen = [row for row in listed if row[2] == heading]
        lines += [f"*{heading}*", ""] if heading else []
        lines += ["| | |", "| --- | --- |"]
        lines += [f"| `{escaped(written)}` | {escaped(what)} |" for written, what, _ in chosen]
        lines += [""]
    return [*lines, "```sh", *examples, "```", ""]


def escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def page() -> str:
    app = typer.main.get_command(application(list(VERBS)))
    lines = [BEGIN]
    for name in VERBS:
        command = app.commands[name]
        if not command.hidden:
            lines += section(name, command)
    return "\n".join(lines)


def on_config(config):
    """MkDocs calls this. Only what changed is written, so that `mkdocs serve` comes to rest."""
    text = page()
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        PAGE.write_text(text, encoding="utf-8")
    return config


if __name__ == "__main__":
    on_config(None)
