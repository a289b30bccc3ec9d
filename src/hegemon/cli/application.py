"""The commands: which there are, where each lives, and what --help says of it. Each is loaded when it is used."""

import importlib
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from hegemon.cli import failures
from hegemon.errors import InvalidInput

# name: the function, and two examples that --help ends with
COMMANDS = {
    "list": ("catalogue:list_protocols", ("hegemon list", "hegemon list --json")),
    "show": ("catalogue:show_protocol", ("hegemon show time-optimal", "hegemon show ring --n 50 --set N=100")),
    "run": (
        "run:run",
        (
            "hegemon run pairwise --n 1000 --trials 20",
            "hegemon run ring --graph directed-ring:64 --start random --plot ring.png",
        ),
    ),
    "new": (
        "authoring:new_protocol",
        ("hegemon new my_protocol.py", "hegemon new my_paper.py --claims"),
    ),
    "import": (
        "authoring:import_rules",
        (
            "hegemon import reactions.txt --out majority.py --start A=51,B=49",
            "hegemon import script.py:rule --out mine.py --start init_config",
        ),
    ),
    "check": (
        "authoring:check_protocol",
        ("hegemon check my_protocol.py", "hegemon check my_protocol.py:MyProtocol --n 8 --set patience=5"),
    ),
    "sweep": (
        "sweep:sweep_study",
        ("hegemon sweep timer --n 10..80:x2 --trials 20", "hegemon sweep --status study"),
    ),
    "results": ("results:study_results", ("hegemon results study", "hegemon results study --by n --plot steps.png")),
    "watch": ("watch:watch_protocol", ("hegemon watch ring --n 16", "hegemon watch timer --n 20 --save timer.html")),
    "verify": (
        "verify:verify_protocol",
        ("hegemon verify pairwise --n 6", "hegemon verify timer --n 3 --set s=4 --property leader:safe"),
    ),
    "prove": (
        "prove:prove_protocol",
        ("hegemon prove pairwise", "hegemon prove pairwise --property reached:safe --certificate proof.json"),
    ),
    "holding": (
        "holding:hold_leader",
        ("hegemon holding timer --n 10 --set s=40", "hegemon holding time-optimal --n 10 --relative 20%"),
    ),
    "search-worst": (
        "search:search_worst_start",
        ("hegemon search-worst timer --n 5", "hegemon search-worst timer --n 3 --set s=3 --exact --out worst.json"),
    ),
    "discover": (
        "discover:discover_protocols",
        (
            "hegemon discover leader-election --states 2 --n 2..6 --out found",
            "hegemon discover leader-election --states 2 --n 2,3 --self-stabilizing --certificate none.json",
        ),
    ),
    "export": (
        "export:export_protocol",
        (
            "hegemon export time-optimal --n 100 --to latex",
            "hegemon export pairwise --n 5 --to prism --out pairwise.prism",
        ),
    ),
    "reproduce": (
        "reproduce:reproduce_claims",
        ("hegemon reproduce --quick", "hegemon reproduce my_paper.py"),
    ),
    "mixing-time": (
        "messages:show_mixing_time",
        ("hegemon mixing-time hypercube:8", "hegemon mixing-time regular:1000,4 --method spectral"),
    ),
    "lower-bound": (
        "messages:lower_bound",
        ("hegemon lower-bound --n 1e4 --trials 50", "hegemon lower-bound --n 1e6 --exponents 0.3,0.5,0.7 --plot b.png"),
    ),
    "compare": (
        "compare:compare_protocols",
        (
            "hegemon compare pairwise timer --n 16..64:x2 --trials 10",
            "hegemon compare ring my_protocol.py --n 32 --plot compared.svg --latex compared.tex",
        ),
    ),
    "compare-messages": (
        "compare:compare_elections",
        ("hegemon compare-messages --n 100,1e4", "hegemon compare-messages --plot messages.svg"),
    ),
    "network": (
        "network:run_network",
        (
            "hegemon network time-optimal --n 16 --for 20",
            'hegemon network time-optimal --n 8 --faults "5 kill leader" --for 20 --json',
        ),
    ),
    "agent": (
        "network:run_agent",
        (
            "hegemon agent --new-key key",
            "hegemon agent time-optimal --n 64 --peers peers --key key --listen 10.0.0.7:7400",
        ),
    ),
    "advise": (
        "advise:advise_parameters",
        (
            "hegemon advise --n 1000 --hold 1e12",
            "hegemon advise --n-at-most 100 --hold 10y --interactions-per-second 20 --risk 0.01 --json",
        ),
    ),
}
# What the list of commands says of each: the first line of its docstring, kept here so that none need be loaded.
SENTENCES = {
    "list": "The catalogue: every protocol with its model, what it does and where it was published.",
    "show": "One protocol: reference, parameters, fields, number of states, starts, sets, observables.",
    "run": "Simulate a protocol exactly, from a start until a stop, in one trial or many.",
    "new": "Write a commented protocol of your own, which runs, verifies and plots at once; or a paper's claims.",
    "import": "Write a protocol as a Python file, from reactions or from a rule dictionary or function of ppsim.",
    "check": "Try a protocol as the engines will: all pairs, ranges, starts, closed sets, compilation.",
    "sweep": "Run a study: every case of a grid, many trials of each. The same command again goes on where it was.",
    "results": "The trials of a study in groups, with intervals, fitted laws and a picture.",
    "watch": "Watch a run in the browser: play, step, go back, disturb; or save a film or pictures without one.",
    "verify": "Exact results on small instances: certain properties and expectations.",
    "prove": "Prove for every n at once, where states do not grow with n. Exit code 1: something asked is not proved.",
    "holding": "How long a leader is held, from 10^2 to 10^40 steps and beyond: a weighted ensemble, with an interval.",
    "search-worst": "Search for a starting configuration with large expected convergence time.",
    "discover": "Search all protocols of a few states for those that are right, and rank them by exact expected steps.",
    "export": "Write a protocol for a paper or for another tool: LaTeX, state diagrams, the PRISM language, chains.",
    "reproduce": "Check the papers' claims on this machine, or your own. Run again to go on.",
    "mixing-time": "The mixing time of a random walk: the least k with every probability within 1/(2n) of its limit.",
    "lower-bound": "Theorem 3 as an experiment: `referees` with n^a messages, and how often it elects one leader.",
    "compare": "Compare protocols at the same n: time from their slowest starts, states, memory, assumptions.",
    "compare-messages": "`hegemon compare` of the elections by messages on complete graphs.",
    "network": "Run a protocol among real processes on this machine, watch it elect a leader, disturb it, watch it "
    "heal.",
    "agent": "Be one member of a network of machines: `hegemon agent PROTOCOL --peers FILE --key FILE --listen "
    "HOST:PORT`.",
    "advise": "Choose the cheapest protocol and parameters that are known to hold a leader for long enough.",
}

HIDDEN = ("compare-messages",)  # a short form of `compare`
# Commands that print tables: each takes --latex and --csv, if it has no such option of its own.
TABLED = ("list", "show", "run", "check", "sweep", "results", "verify", "prove", "holding", "search-worst", "discover",
          "reproduce", "mixing-time", "lower-bound", "advise")  # fmt: skip
HELPFUL = {"help_option_names": ["-h", "--help"]}
RAW = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}  # read by argparse


def application(words: list[str]) -> typer.Typer:
    """The commands; only those that the words name are loaded, the others are there for the list of commands."""
    app = typer.Typer(
        name="hegemon",
        help="A laboratory for randomized leader election in anonymous networks.",
        epilog=failures.HELP,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings=HELPFUL,
    )
    app.callback()(everything)
    for name, (place, examples) in COMMANDS.items():
        command = load(place) if name in words else _unloaded
        command = tabled(command) if name in words and name in TABLED else command
        epilog = "Examples:\n\n" + "\n\n".join(examples)
        sentence = None if name in words else SENTENCES[name]
        kind, settings = (TyperCommand, RAW) if name == "agent" else (Once, HELPFUL)
        hidden = name in HIDDEN
        app.command(name, cls=kind, help=sentence, epilog=epilog, context_settings=settings, hidden=hidden)(command)
    return app


class Once(TyperCommand):
    """A command that refuses a second value of an option that takes one: the last would win in silence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        parsed = () if ctx.resilient_parsing else self.make_parser(ctx).parse_args(args=list(args))[2]  # a shell asks
        given: list[Any] = list(parsed)
        for one in given:
            takes_one = one.param_type_name == "option" and not (one.multiple or one.is_flag)
            if takes_one and given.count(one) > 1:
                raise InvalidInput(f"{one.opts[0]} is given {given.count(one)} times and takes one value; give it once")
        return super().parse_args(ctx, args)


def show_version(wanted: bool) -> None:
    if wanted:
        from hegemon import __version__

        print(f"hegemon {__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=show_version, is_eager=True, help="print the version and exit")
]


def everything(version: Version = False) -> None:
    """A laboratory for randomized leader election in anonymous networks."""


def tabled(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with options that write the tables it prints (see `tables`)."""
    from hegemon.cli.tables import with_files

    return with_files(command)


def load(place: str) -> Callable[..., Any]:
    module, _, function = place.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"hegemon.cli.{module}"), function)
    return found


def _unloaded() -> None:
    """Stands for a command that is not used now."""
