"""The same strokes as pixels (Pillow) and as shapes of a figure (Matplotlib, for SVG and PDF)."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

FINER = 2  # pictures are drawn this many times larger, then scaled down, for smooth edges


@cache
def _font(size: int) -> Any:
    """Matplotlib's own font, which has the signs ● and ◇ of labels, if Matplotlib is installed; else Pillow's font."""
    from PIL import ImageFont

    found = find_spec("matplotlib")
    place = Path(found.origin).parent / "mpl-data/fonts/ttf/DejaVuSans.ttf" if found and found.origin else None
    return ImageFont.truetype(place, size) if place and place.exists() else ImageFont.load_default(size)


class PillowPen:
    """Draws on a square image; `image` returns it in its final size."""

    def __init__(self, side: int, ground: str):
        from PIL import Image, ImageDraw

        self._side = side
        self._image = Image.new("RGB", (side * FINER, side * FINER), ground)
        self._draw = ImageDraw.Draw(self._image)

    def image(self) -> Any:
        from PIL import Image

        return self._image.resize((self._side, self._side), Image.Resampling.LANCZOS)

    def line(self, points: Any, colour: str, width: float) -> None:
        self._draw.line([*np.ravel(points) * FINER], fill=colour, width=max(1, round(width * FINER)))

    def circle(self, place: Any, radius: float, fill: str | None, rim: str | None = None, width: float = 1) -> None:
        x, y, reach = place[0] * FINER, place[1] * FINER, radius * FINER
        self._draw.ellipse(
            [x - reach, y - reach, x + reach, y + reach],
            fill=fill, outline=rim, width=max(1, round(width * FINER)) if rim else 0,
        )  # fmt: skip

    def polygon(self, points: Any, fill: str) -> None:
        self._draw.polygon([(float(x), float(y)) for x, y in np.asarray(points) * FINER], fill=fill)

    def raster(self, pixels: np.ndarray, x: float, y: float, width: float, height: float) -> None:
        from PIL import Image

        size = max(1, int(width * FINER)), max(1, int(height * FINER))
        drawn = Image.fromarray(pixels).resize(size, Image.Resampling.NEAREST)
        self._image.paste(drawn, (round(x * FINER), round(y * FINER)))

    def text(self, place: tuple[float, float], text: str, size: float, ink: str, halo: str = "") -> None:
        """Write a text whose upper left corner is `place`; with a halo, `place` is its middle."""
        font = _font(round(size * FINER))
        edge: dict[str, Any] = {"stroke_width": max(1, round(size / 4)), "stroke_fill": halo} if halo else {}
        x, y = place[0] * FINER, place[1] * FINER
        lines = [line for line in text.split("\n") if line]
        for k, line in enumerate(lines):
            down = (k - (len(lines) - 1) / 2) * size * FINER
            self._draw.text((x, y + down), line, fill=ink, font=font, anchor="mm" if halo else "la", **edge)


class FigurePen:
    """Draws shapes: `add` is called with each, and one unit of length is `points` points of the figure."""

    def __init__(self, add: Any, points: float, transform: Any = None):
        self._add, self._points = add, points
        self._more = {} if transform is None else {"transform": transform}
        self._order = 1.0  # later shapes cover earlier ones

    def _put(self, artist: Any) -> None:
        self._order += 0.001
        artist.set_zorder(self._order)
        self._add(artist)

    def line(self, points: Any, colour: str, width: float) -> None:
        from matplotlib.lines import Line2D

        x, y = np.reshape(points, (-1, 2)).T
        self._put(Line2D(x, y, color=colour, linewidth=width * self._points, solid_capstyle="round", **self._more))

    def circle(self, place: Any, radius: float, fill: str | None, rim: str | None = None, width: float = 1) -> None:
        from matplotlib.patches import Circle

        edge = {"edgecolor": rim, "linewidth": width * self._points} if rim else {"linewidth": 0}
        self._put(Circle((float(place[0]), float(place[1])), radius, facecolor=fill or "none", **edge, **self._more))

    def polygon(self, points: Any, fill: str) -> None:
        from matplotlib.patches import Polygon

        self._put(Polygon(np.asarray(points, float), closed=True, facecolor=fill, linewidth=0, **self._more))

    def raster(self, pixels: np.ndarray, x: float, y: float, width: float, height: float) -> None:
        from matplotlib.image import AxesImage

        raise_to: Any = getattr(self._add, "__self__", None)  # the axes
        image = AxesImage(raise_to, extent=(x, x + width, y + height, y), interpolation="nearest", origin="upper")
        image.set_data(pixels)
        self._put(image)

    def text(self, place: tuple[float, float], text: str, size: float, ink: str, halo: str = "") -> None:
        from matplotlib.text import Text

        how: dict[str, Any] = {"ha": "left", "va": "top"}
        if halo:
            from matplotlib.patheffects import withStroke

            edge = withStroke(linewidth=size * self._points / 4, foreground=halo)
            how = {"ha": "center", "va": "center", "path_effects": [edge]}
        how |= {"color": ink, "fontsize": size * self._points, **self._more}
        self._put(Text(place[0], place[1], text, **how))
