"""The verbs: what --help says of each, in which group it stands, and the options that most people use.

Where each lives is in `hegemon/parts.py`; a verb is loaded when it is used. Other packages add verbs (docs/plugins.md).
"""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from hegemon import parts
from hegemon.cli import failures
from hegemon.errors import InvalidInput

LOOK = "Look and run"
OWN = "Your own protocol"
PROVE = "Verify, prove, search"
MANY = "Many runs"
PAPERS = "The papers"
NETWORKS = "Real networks"


class Verb(NamedTuple):
    """The first line of its docstring, two examples, and, where it has many options, those that --help shows."""

    group: str
    sentence: str
    examples: tuple[str, ...]
    common: tuple[str, ...] = ()
    tabled: bool = False  # it prints tables, and takes --latex and --csv
    hidden: bool = False


VERBS = {
    "list": Verb(
        LOOK,
        "List the catalogue: every protocol with its model, what it does and where it was published.",
        ("hegemon list", "hegemon list --json"),
        tabled=True,
    ),
    "show": Verb(
        LOOK,
        "Show one protocol: reference, parameters, fields, number of states, starts, sets, observables.",
        ("hegemon show time-optimal", "hegemon show ring --n 50 --set N=100"),
        tabled=True,
    ),
    "run": Verb(
        LOOK,
        "Simulate a protocol exactly, from a start until a stop, in one trial or many.",
        (
            "hegemon run pairwise --n 1000 --trials 20",
            "hegemon run ring --graph directed-ring:64 --start random --plot ring.png",
        ),
        ("n", "set_", "graph", "start", "until", "trials", "seed", "fault", "trace", "plot", "json"),
        tabled=True,
    ),
    "watch": Verb(
        LOOK,
        "Watch a run in the browser: play, step, go back, disturb; or save a film or pictures without one.",
        ("hegemon watch ring --n 16", "hegemon watch timer --n 20 --save timer.html"),
        ("n", "set_", "graph", "start", "seed", "port", "save", "as_", "no_browser"),
    ),
    "new": Verb(
        OWN,
        "Write a commented protocol of your own, which runs, verifies and plots at once; or a paper's claims.",
        ("hegemon new my_protocol.py", "hegemon new my_paper.py --claims"),
    ),
    "check": Verb(
        OWN,
        "Try a protocol as the engines will: all pairs, ranges, starts, closed sets, compilation.",
        ("hegemon check my_protocol.py", "hegemon check my_protocol.py:MyProtocol --n 8 --set patience=5"),
        tabled=True,
    ),
    "import": Verb(
        OWN,
        "Write a protocol as a Python file, from reactions or from a rule dictionary or function of ppsim.",
        (
            "hegemon import reactions.txt --out majority.py --start A=51,B=49",
            "hegemon import script.py:rule --out mine.py --start init_config",
        ),
    ),
    "export": Verb(
        OWN,
        "Write a protocol for a paper or for another tool: LaTeX, state diagrams, the PRISM language, chains.",
        (
            "hegemon export time-optimal --n 100 --to latex",
            "hegemon export pairwise --n 5 --to prism --out pairwise.prism",
        ),
    ),
    "verify": Verb(
        PROVE,
        "Decide what always happens on a small instance, and compute exact expectations.",
        ("hegemon verify pairwise --n 6", "hegemon verify timer --n 3 --set s=4 --property leader:safe"),
        (
            "n",
            "set_",
            "graph",
            "start",
            "property_",
            "counterexample",
            "scheduler",
            "within",
            "quantiles",
            "every_graph",
            "json",
        ),
        tabled=True,
    ),
    "prove": Verb(
        PROVE,
        "Prove statements for every n at once, where states do not grow with n.",
        ("hegemon prove pairwise", "hegemon prove pairwise --property reached:safe --certificate proof.json"),
        tabled=True,
    ),
    "holding": Verb(
        PROVE,
        "Estimate how long a leader is held, from 10^2 to 10^40 steps and beyond, with an interval.",
        ("hegemon holding timer --n 10 --set s=40", "hegemon holding time-optimal --n 10 --relative 20%"),
        ("n", "set_", "start", "relative", "seed", "checkpoint", "json", "quiet"),
        tabled=True,
    ),
    "advise": Verb(
        PROVE,
        "Choose the cheapest protocol and parameters that are known to hold a leader for long enough.",
        (
            "hegemon advise --n 1000 --hold 1e12",
            "hegemon advise --n-at-most 100 --hold 10y --interactions-per-second 20 --risk 0.01 --json",
        ),
        tabled=True,
    ),
    "search-worst": Verb(
        PROVE,
        "Search for a start from which a protocol is slow.",
        ("hegemon search-worst timer --n 5", "hegemon search-worst timer --n 3 --set s=3 --exact --out worst.json"),
        ("n", "set_", "graph", "budget", "compare", "out", "seed", "json"),
        tabled=True,
    ),
    "discover": Verb(
        PROVE,
        "Search all protocols of a few states for those that are right, and rank them by exact expected steps.",
        (
            "hegemon discover leader-election --states 2 --n 2..6 --out found",
            "hegemon discover leader-election --states 2 --n 2,3 --self-stabilizing --certificate none.json",
        ),
        ("states", "n", "graph", "start", "daemon", "self_stabilizing", "silent", "out", "certificate", "json"),
        tabled=True,
    ),
    "sweep": Verb(
        MANY,
        "Run a study: every case of a grid, many trials of each. The same command again continues it.",
        ("hegemon sweep timer --n 10..80:x2 --trials 20", "hegemon sweep --status study"),
        ("n", "set_", "graph", "start", "until", "trials", "relative", "out", "workers", "status", "json"),
        tabled=True,
    ),
    "results": Verb(
        MANY,
        "Show the trials of a study in groups, with intervals, fitted laws and a picture.",
        ("hegemon results study", "hegemon results study --by n --plot steps.png"),
        tabled=True,
    ),
    "compare": Verb(
        MANY,
        "Compare protocols at the same n: time from their slowest starts, states, memory, assumptions.",
        (
            "hegemon compare pairwise timer --n 16..64:x2 --trials 10",
            "hegemon compare ring my_protocol.py --n 32 --plot compared.svg --latex compared.tex",
        ),
    ),
    "compare-messages": Verb(
        MANY,
        "Compare the elections by messages on complete graphs.",
        ("hegemon compare-messages --n 100,1e4", "hegemon compare-messages --plot messages.svg"),
        hidden=True,
    ),
    "reproduce": Verb(
        PAPERS,
        "Check the papers' claims on this machine, or your own. The same command again continues it.",
        ("hegemon reproduce --quick", "hegemon reproduce my_paper.py"),
        tabled=True,
    ),
    "mixing-time": Verb(
        PAPERS,
        "Compute the mixing time of a random walk: the least k with every probability within 1/(2n) of its limit.",
        ("hegemon mixing-time hypercube:8", "hegemon mixing-time regular:1000,4 --method spectral"),
        tabled=True,
    ),
    "lower-bound": Verb(
        PAPERS,
        "Measure Theorem 3: `referees` with n^a messages, and how often it elects one leader.",
        ("hegemon lower-bound --n 1e4 --trials 50", "hegemon lower-bound --n 1e6 --exponents 0.3,0.5,0.7 --plot b.png"),
        tabled=True,
    ),
    "network": Verb(
        NETWORKS,
        "Run a protocol among real processes on this machine, disturb it, and watch it heal.",
        (
            "hegemon network time-optimal --n 16 --for 20",
            'hegemon network time-optimal --n 8 --faults "5 kill leader" --for 20 --json',
        ),
    ),
    "agent": Verb(
        NETWORKS,
        "Be one member of a network of machines: `hegemon agent PROTOCOL --peers FILE --key FILE --listen HOST:PORT`.",
        (
            "hegemon agent --new-key key",
            "hegemon agent time-optimal --n 64 --peers peers --key key --listen 10.0.0.7:7400",
        ),
    ),
}
HELPFUL = {"help_option_names": ["--help", "-h", "--help-all"]}
RAW = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}  # read by argparse
ADDED = "Added by other packages"


def application(words: list[str]) -> typer.Typer:
    """The verbs; only those that the words name are loaded, the others are there for the list of commands."""
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
    for name, verb in known(words).items():
        is_used = name in words
        command = load(name, verb) if is_used else _unloaded
        kind, settings = (TyperCommand, RAW) if name == "agent" else (Helpful, HELPFUL)
        app.command(
            name,
            cls=kind,
            help=helped(command, verb) if is_used else verb.sentence,
            short_help=verb.sentence,
            context_settings=settings,
            hidden=verb.hidden,
            rich_help_panel=verb.group,
        )(command)
    return app


def known(words: list[str]) -> dict[str, Verb]:
    """The verbs that are there; those of other packages where the words name no built-in one."""
    there = parts.built_in("verbs")
    verbs = {name: verb for name, verb in VERBS.items() if name in there or name in words}
    undescribed = [name for name in there if name not in VERBS]
    if not VERBS.keys() & {*words}:
        undescribed += parts.plugins("verbs")
    verbs |= {name: Verb(ADDED, f"See hegemon {name} --help.", ()) for name in undescribed}
    return verbs


def load(name: str, verb: Verb) -> Callable[..., Any]:
    """The function of a verb, with options that write the tables it prints (see `tables`)."""
    command: Callable[..., Any] = parts.part("verbs", name)
    if verb.tabled:
        from hegemon.cli.tables import with_files

        return with_files(command)
    return command


def helped(command: Callable[..., Any], verb: Verb) -> str:
    """The text of --help: what the verb does, then examples."""
    examples = [f"[bold]{line.replace('[', chr(92) + '[')}[/bold]" for line in verb.examples]
    return "\n\n".join([inspect.getdoc(command) or "", *examples])


class Helpful(TyperCommand):
    """A command that refuses an empty value, which would count as none, and a second value of an option that takes one,
    since the last would win in silence; its --help shows the options that most people use, --help-all shows all."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        self.common = () if "--help-all" in args else getattr(VERBS.get(self.name or ""), "common", ())
        values, _, parsed = ({}, [], []) if ctx.resilient_parsing else self.make_parser(ctx).parse_args(args=list(args))
        parameters: list[Any] = list(parsed)  # nothing where a shell asks
        for parameter in parameters:
            is_option, value = parameter.param_type_name == "option", values.get(parameter.name)
            if is_option and "" in (value if isinstance(value, list) else [value]):
                wanted = parameter.metavar or "one"
                raise InvalidInput(f"{parameter.opts[0]} has an empty value; give {wanted}, or drop the option")
            takes_one = is_option and not (parameter.multiple or parameter.is_flag)
            if takes_one and (count := parameters.count(parameter)) > 1:
                raise InvalidInput(f"{parameter.opts[0]} is given {count} times and takes one value; give it once")
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for switch in self.get_params(ctx):  # `--json <bool>` would read as if it took a value
            if getattr(switch, "is_flag", False) or switch.param_type_name == "argument":
                switch.display_type_rich = lambda ctx: None  # type: ignore[attr-defined]
        rare = [
            parameter
            for parameter in self.params
            if self.common and parameter.param_type_name == "option" and parameter.name not in self.common
            if not getattr(parameter, "hidden", False)
        ]
        for parameter in self.params if rare else ():
            parameter.hidden = parameter in rare  # type: ignore[attr-defined]
            parameter.rich_help_panel = None  # type: ignore[attr-defined]  # so few need no panels
        if rare:
            self.epilog = f"{len(rare)} more options: hegemon {self.name} --help-all"
        super().format_help(ctx, formatter)


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


def _unloaded() -> None:
    """Stands for a command that is not used now."""
