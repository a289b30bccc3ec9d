"""Pictures for papers: one moment of a film, or a strip of moments, with a legend; as PNG, SVG or PDF."""

from collections.abc import Sequence
from typing import Any

from hegemon.analysis.pictures import Picture, new_figure
from hegemon.errors import InvalidInput
from hegemon.web.colours import KINDS, Ground, Seen, seen
from hegemon.web.film import shoot, shoot_moments
from hegemon.web.painting import Painter, band_colour, paint_agent
from hegemon.web.pens import FigurePen
from hegemon.web.session import Session

SIDE = 480.0  # the side of a panel, in units
MOST_MOMENTS = 12
INCHES = {1: 5.4, 2: 3.8}  # of a panel, by their number; smaller where there are more

IN_A_ROW = 4
HEADING = 0.7  # inches for the title and the legend
STRIP = 4  # moments, where none are given
MOST_BANDS = 14  # classes in a legend


def require_strip(moments: int) -> None:
    if moments > MOST_MOMENTS:
        raise InvalidInput(f"a strip has at most {MOST_MOMENTS} moments, not {moments}; give fewer")


def film_for(session: Session, kind: str, moments: Sequence[int] = (), **options: Any) -> dict[str, Any]:
    """The film that a picture of this kind needs: of these moments, of the end, or up to it; `options` of `shoot`."""
    bands = session.world.kind == "bands"
    if kind in ("moment", "strip") and bands and (moments or kind == "strip"):
        raise InvalidInput(
            "with this many agents only counts are kept, and bands show all moments up to the end; give --as moment "
            "and --until steps:K"
        )
    if moments:
        return shoot_moments(session, moments)
    film = shoot(session, **options)
    if kind == "moment" and not bands:
        return film | shoot_moments(session, [film["end"]])
    if kind == "strip":
        return film | shoot_moments(session, [film["end"] * k // (STRIP - 1) for k in range(STRIP)])
    return film


def still(film: dict[str, Any], dark: bool = False) -> Picture:
    """Every frame of a film as a panel; of bands, the last frame, which shows those before it."""
    greeting, bands = film["greeting"], film["greeting"]["kind"] == "bands"
    shown = len(film["heads"])
    if not bands:
        require_strip(shown)
    painter = Painter(film, SIDE, dark)
    panels = 1 if bands else shown
    inches = INCHES.get(panels, 2.9)
    figure, axes = _panels(panels, inches)
    pairs = list(zip(film["heads"], film["pictures"], strict=True))
    for k, (head, picture) in enumerate(pairs):
        axis = axes[0] if bands else axes[k]
        if bands:
            axis.clear()
        _prepare(axis, painter.on)
        painter.paint(FigurePen(axis.add_artist, inches * 72 / SIDE), head, picture)
    entries = _band_entries(painter, pairs[-1][0]) if bands else _entries(greeting, painter.on)
    torus = greeting.get("torus")
    where = f"a torus of {torus['columns']} × {torus['rows']} cells" if torus else greeting["graph"]
    title = f"{greeting['protocol']} on {where}"
    figure.suptitle(title, x=0.02, ha="left", fontsize=12, color=painter.on.ink)
    _legend(figure, entries, painter.on, inches * min(panels, IN_A_ROW))
    figure.set_facecolor(painter.on.ground if dark else "#ffffff")
    return Picture(figure)


def _panels(panels: int, inches: float) -> tuple[Any, list[Any]]:
    figure, axes = new_figure(1, inches * min(panels, IN_A_ROW), inches * -(-panels // IN_A_ROW) + HEADING)
    axes[0].remove()
    made = figure.subplots(-(-panels // IN_A_ROW), min(panels, IN_A_ROW), squeeze=False)
    for axis in made.flat[panels:]:
        axis.remove()
    return figure, list(made.flat[:panels])


def _prepare(axis: Any, on: Ground) -> None:
    axis.set(xlim=(0, SIDE), ylim=(SIDE, 0), aspect="equal", xticks=[], yticks=[], facecolor=on.ground)
    for spine in axis.spines.values():
        spine.set_visible(False)


def _entries(greeting: dict[str, Any], on: Ground) -> list[tuple[Seen | str, str]]:
    """What the page's legend shows: every value of every channel, in full colours."""
    channels = greeting["channels"]
    found: list[tuple[Seen | str, str]] = []
    for k, channel in enumerate(channels):
        labels, last = channel["labels"], len(channel["labels"]) - 1
        first = 0 if channel["part"] == "class" else 1
        for value in (0, last) if channel["part"] == "shade" else range(first, last + 1):
            byte = 0
            for j, other in enumerate(channels):
                size = len(other["labels"])
                byte = byte * size + (value if j == k else size - 1 if other["part"] == "shade" else 0)
            named = channel["part"] == "shade" or channel["part"] == "badge" and "=" not in labels[value]
            found.append((seen(channels, byte, on), f"{channel['name']} {labels[value]}" if named else labels[value]))
    return found + [(KINDS[k % len(KINDS)], f"message {name}") for k, name in enumerate(greeting["kinds"])]


def _band_entries(painter: Painter, head: dict[str, Any]) -> list[tuple[Seen | str, str]]:
    """The classes by their numbers; shades of one class are one entry, in the colour of its largest band."""
    channels = painter.greeting["channels"]
    totals: dict[str, list[Any]] = {}
    for byte, count in head["bands"]:
        name = _name(channels, byte)
        row = totals.setdefault(name, [0, 0, byte])
        row[0] += int(count)
        if int(count) > row[1]:
            row[1:] = [int(count), byte]
    largest = sorted(totals.items(), key=lambda item: -item[1][0])[:MOST_BANDS]
    return [(band_colour(painter._seen[byte], painter.on), f"{name}: {total:,}") for name, (total, _, byte) in largest]


def _name(channels: list[dict[str, Any]], byte: int) -> str:
    values: list[int] = []
    for channel in reversed(channels):
        byte, value = divmod(byte, len(channel["labels"]))
        values.insert(0, value)
    said = [
        channel["labels"][value]
        for channel, value in zip(channels, values, strict=True)
        if channel["part"] == "class" or channel["part"] in ("leader", "badge") and value
    ]
    return ", ".join(said) or channels[0]["labels"][values[0]]


def _legend(figure: Any, entries: list[tuple[Seen | str, str]], on: Ground, width: float) -> None:
    from matplotlib.legend_handler import HandlerBase
    from matplotlib.patches import Patch

    class Drawn(HandlerBase):
        """An agent as it is drawn in the picture, or a colour alone."""

        def create_artists(
            self, legend: Any, handle: Any, x: float, y: float, wide: float, tall: float, size: float, transform: Any
        ) -> list[Any]:
            made: list[Any] = []
            pen, place = FigurePen(made.append, 1.0, transform), (wide / 2 - x, tall / 2 - y)
            if isinstance(handle.entry, str):
                pen.circle(place, 4.5, handle.entry)
            else:
                paint_agent(Mirrored(pen), handle.entry, place, 5.2)
            return made

    handles = []
    for entry, label in entries:
        handle: Any = Patch(label=label)
        handle.entry = entry
        handles.append(handle)
    if not handles:
        return
    longest = max(len(label) for _, label in entries) + 6
    columns = max(1, min(len(entries), int(width * 72 / 5.6 / longest)))
    figure.legend(
        handles=handles, handler_map={Patch: Drawn()}, loc="outside lower left", ncols=columns, frameon=False,
        fontsize=10, labelcolor=on.ink, handletextpad=0.6, columnspacing=1.4, labelspacing=0.7,
    )  # fmt: skip


class Mirrored:
    """A pen where up is up: a legend counts its height from below."""

    def __init__(self, pen: FigurePen):
        self._pen = pen

    def circle(self, place: Any, *rest: Any) -> None:
        self._pen.circle(self._turned(place), *rest)

    def polygon(self, points: Any, fill: str) -> None:
        self._pen.polygon([self._turned(point) for point in points], fill)

    def _turned(self, place: Any) -> tuple[float, float]:
        if not hasattr(self, "_middle"):
            self._middle = float(place[1])  # the middle of the agent, which is drawn first
        return float(place[0]), 2 * self._middle - float(place[1])
