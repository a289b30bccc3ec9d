"""`hegemon`: the commands, and the one place where errors become sentences."""

import sys

import typer

from hegemon.cli.catalogue import list_protocols, show_protocol
from hegemon.cli.messages import compare, lower_bound, show_mixing_time
from hegemon.cli.network import run_agent, run_network
from hegemon.cli.prove import prove_protocol
from hegemon.cli.reproduce import reproduce_claims
from hegemon.cli.run import run
from hegemon.cli.search import search_worst_start
from hegemon.cli.sweep import study_results, sweep_study
from hegemon.cli.verify import verify_protocol
from hegemon.cli.watch import watch_protocol
from hegemon.errors import InvalidInput

app = typer.Typer(
    name="hegemon",
    help="A laboratory for randomized leader election in anonymous networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("list")(list_protocols)
app.command("show")(show_protocol)
app.command("run")(run)
app.command("sweep")(sweep_study)
app.command("results")(study_results)
app.command("watch")(watch_protocol)
app.command("reproduce")(reproduce_claims)
app.command("verify")(verify_protocol)
app.command("prove")(prove_protocol)
app.command("search-worst")(search_worst_start)
app.command("mixing-time")(show_mixing_time)
app.command("lower-bound")(lower_bound)
app.command("compare-messages")(compare)
app.command("network")(run_network)
raw = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
app.command("agent", context_settings=raw)(run_agent)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line. 0: done; 2: bad input; 130: interrupted, what was finished is printed."""
    try:
        code = app(args=arguments, standalone_mode=False)
    except InvalidInput as error:
        print(f"hegemon: {error}", file=sys.stderr)
        code = 2
    except (KeyboardInterrupt, typer.Abort):
        print("hegemon: interrupted", file=sys.stderr)
        code = 130
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except Exception as error:
        if not hasattr(error, "format_message"):  # a wrong option, in whichever class this Typer has for it
            raise
        print(f"hegemon: {error.format_message()} (see hegemon --help)", file=sys.stderr)
        code = 2
    if arguments is None:
        sys.exit(code or 0)
    return code or 0
