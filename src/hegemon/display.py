"""Display of results: readable figures, and for notebooks tables, sentences and bars as HTML.

Every string is escaped in HTML; nothing here prints. Outside a notebook there are no bars, and `_repr_html_` is not
called.
"""

import contextlib
import functools
import html
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar, cast

from hegemon.errors import pass_interrupt

PATIENCE = 1.0  # seconds before a bar appears
EVERY = 0.2  # seconds between two of its movements
SHOWN = 10  # rows of a table
MOST_AGENTS = 12  # of a configuration that are shown
MEANT = 10**15  # larger floats are shown with an exponent
HUGE = 10**21  # larger whole numbers are rounded here; JSON has all digits

Signed = TypeVar("Signed", bound=Callable[..., Any])  # keeps its signature


def figure(value: Any) -> str:
    """A value in readable form, the same on the command line and in a notebook."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < HUGE else f"about {Decimal(value):.3e}"
    if isinstance(value, float):
        return f"{value:,.0f}" if 10_000 <= abs(value) < MEANT else f"{value:,.4g}"
    if isinstance(value, list | tuple):
        return " … ".join(figure(item) for item in value)
    return str(value)


def counted(number: int, what: str) -> str:
    """ "1 step", "2 steps"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def states(agents: Sequence[Mapping[str, Any]]) -> str:
    """The states of the first agents of a configuration."""
    shown = ["(" + " ".join(f"{k}={v}" for k, v in agent.items()) + ")" for agent in agents[:MOST_AGENTS]]
    return " ".join(shown) + (f" … {len(agents)} agents" if len(agents) > MOST_AGENTS else "")


def text(value: Any) -> str:
    """The same, escaped for HTML."""
    return html.escape(figure(value))


def heading(title: str, remark: str = "") -> str:
    return f"<p><strong>{text(title)}</strong> {text(remark)}</p>"


def facts(content: Mapping[str, Any]) -> str:
    """Names and values, one row each."""
    cell = '<td style="text-align:left">'
    rows = "".join(
        f'<tr><th style="text-align:left">{text(k)}</th>{cell}{text(v)}</td></tr>' for k, v in content.items()
    )
    return f"<table>{rows}</table>"


def table(rows: Sequence[Mapping[str, Any]], title: str = "", shown: int = SHOWN) -> str:
    """Rows under the names of their columns; of many rows, the first ones and the number of the others."""
    if not rows:
        return ""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f'<th style="text-align:left">{text(name.replace("_", " "))}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{text(row.get(name))}</td>' for name in columns) + "</tr>"
        for row in rows[:shown]
    )
    more = f"<p>… and {len(rows) - shown:,} more</p>" if len(rows) > shown else ""
    caption = f'<caption style="text-align:left"><strong>{text(title)}</strong></caption>' if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def plain(title: str, content: Mapping[str, Any]) -> str:
    """A title, and names and values below it, for `print`."""
    width = max(map(len, content), default=0)
    return "\n".join([title, *(f"  {name:<{width}}  {figure(value)}" for name, value in content.items())])


def lines(sentences: Sequence[str]) -> str:
    return "<ol>" + "".join(f"<li>{text(one)}</li>" for one in sentences) + "</ol>" if sentences else ""


def in_notebook() -> bool:
    """Whether this program runs in a Jupyter kernel."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


Show = Callable[[str, int, int | None], None]


@contextlib.contextmanager
def notebook_progress() -> Iterator[Show | None]:
    """In a notebook, a function that shows a bar when called with a stage, the amount done and the total; else None."""
    if not in_notebook():
        yield None
        return
    bar = Bar()
    try:
        yield bar.show
    finally:
        bar.end()


def with_progress(function: Signed) -> Signed:
    """Gives the function a notebook's bar as `progress`, unless the caller gives another.

    An interrupt is raised as KeyboardInterrupt, even if it surfaces as another error.
    """

    @functools.wraps(function)
    def called(*positional: Any, **named: Any) -> Any:
        with notebook_progress() as shown:
            if shown and named.get("progress") is None:
                named["progress"] = shown
            try:
                return function(*positional, **named)
            except Exception as error:
                pass_interrupt(error)
                raise

    return cast(Signed, called)


class Bar:
    """Appears after a second, moves a few times a second, and leaves nothing behind."""

    def __init__(self, display: Callable[..., Any] | None = None):
        self._begin = self._last = time.monotonic()
        self._display = display or _display
        self._handle: Any = None

    def show(self, stage: str, done: int = 0, total: int | None = None) -> None:
        now = time.monotonic()
        if now - self._begin < PATIENCE or now - self._last < EVERY:
            return
        self._last = now
        portion = f'value="{done}" max="{total}"' if total else ""
        count = f"{done:,} of {total:,}" if total else f"{done:,}"
        shown = f"<progress {portion}></progress> {text(stage)} {count}, {now - self._begin:.0f} s"
        if self._handle is None:
            self._handle = self._display(shown)
        else:
            self._handle.update(_Html(shown))

    def end(self) -> None:
        if self._handle is not None:
            self._handle.update(_Html(""))


class _Html:
    def __init__(self, content: str):
        self.content = content

    def _repr_html_(self) -> str:
        return self.content


def _display(content: str) -> Any:
    from IPython.display import display

    return display(_Html(content), display_id=True)
