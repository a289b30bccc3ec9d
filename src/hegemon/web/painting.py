"""One moment of a film, painted as on the page, with either pen of `pens`."""

import math
from typing import Any

import numpy as np

from hegemon.web.colours import DARK, KINDS, LIGHT, Ground, Seen, mixed, rgb, seen

TOP = 30  # for the clock
CORNERS = ((0, 0, 0.42), (0, 0, 0), (0.72, -0.72, 0.34), (0.72, 0.72, 0.34), (-0.72, 0.72, 0.42))
LARGEST, SMALLEST = 17.0, 1.2  # radius of an agent
ROOM_FOR_LINES = 7  # lines between cells are drawn from this side length on


class Painter:
    """Moments of one film in a square of `side` units, on a light or a dark ground."""

    def __init__(self, film: dict[str, Any], side: float, dark: bool = False):
        self.greeting, self.side, self.on = film["greeting"], side, DARK if dark else LIGHT
        self._seen = [seen(self.greeting["channels"], byte, self.on) for byte in range(256)]
        self._columns: list[tuple[int, dict[int, float]]] = []
        if self.greeting["kind"] == "graph":
            self._place()

    def _place(self) -> None:
        torus = self.greeting.get("torus")
        if torus:
            self._size = np.array([torus["columns"], torus["rows"]])
            self._within, least = np.array(torus["within"]), torus["gap"]
            extent = self._size / self._size.max()
        else:
            places = np.array(self.greeting["places"])
            least, extent = _spacing(places), np.abs(places).max(axis=0)
        wide, tall = extent * (1 + min(0.25, least * 0.6)) + 1e-9
        self._room = 0.97 * min(self.side / 2 / wide, (self.side - TOP) / 2 / tall)
        self.radius = max(SMALLEST, min(LARGEST, least * self._room * 0.36))
        if not torus:
            self._points = self._on_paper(places)

    def _on_paper(self, places: np.ndarray) -> np.ndarray:
        return np.array([self.side / 2, TOP + (self.side - TOP) / 2]) + places * self._room

    def _on_torus(self, cells: np.ndarray) -> np.ndarray:
        """Points of the picture for columns and rows; whole numbers are the corners of cells."""
        return self._on_paper((2 * cells - self._size) / self._size.max())

    def _torus(self, pen: Any, head: dict[str, Any]) -> None:
        """Where agents are now; and the lines between cells, where there is room for them, else the border."""
        self._points = self._on_torus(np.reshape(head["places"], (-1, 2)) + self._within)
        columns, rows = self._size.tolist()
        colour = mixed(self.on.ground, self.on.ink, 0.12)
        every = 1 if self._room * 2 / max(columns, rows) >= ROOM_FOR_LINES else max(columns, rows)
        for x in {*range(0, columns, every), columns}:
            pen.line(self._on_torus(np.array([[x, 0], [x, rows]])), colour, 1)
        for y in {*range(0, rows, every), rows}:
            pen.line(self._on_torus(np.array([[0, y], [columns, y]])), colour, 1)

    def paint(self, pen: Any, head: dict[str, Any], picture: bytes) -> None:
        """Paint one frame. Frames of bands must come in order, since each also shows those before it."""
        {"graph": self._graph, "raster": self._raster, "bands": self._bands}[self.greeting["kind"]](pen, head, picture)
        pen.text((12, 8), f"{head['step']:,} {self.greeting['unit']}", 16, self.on.ink)

    def _graph(self, pen: Any, head: dict[str, Any], picture: bytes) -> None:
        if "torus" in self.greeting:
            self._torus(pen, head)
        points, radius, on = self._points, self.radius, self.on
        for a, b in np.array(self.greeting["edges"], int).reshape(-1, 2):
            pen.line(np.array([points[a], points[b]]), mixed(on.ground, on.ink, 0.2), 1)
        for v, w, kind in head.get("messages", ()):
            pen.line(np.array([points[v], points[w]]), mixed(on.ground, KINDS[kind % 6], 0.5), 1)
            pen.circle(points[v] + (points[w] - points[v]) * 0.62, radius * 0.4, KINDS[kind % 6])
        for v in sorted(range(len(picture)), key=lambda v: self._seen[picture[v]].leader):
            paint_agent(pen, self._seen[picture[v]], points[v], radius)
        texts = head.get("texts", ())
        longest = max([1, *(len(part) for text in texts for part in text.split("\n"))])
        for text, place in zip(texts, points, strict=False):
            pen.text(tuple(place), text, max(5, min(13, 3.2 * radius / longest)), on.ink, on.ground)
        for agent in (head.get("last") or {}).get("pair", ()):
            pen.circle(points[agent], radius * 1.45, None, on.ink, 1.6)

    def _raster(self, pen: Any, head: dict[str, Any], picture: bytes) -> None:
        width = self.greeting["width"]
        table = np.array([rgb(one.pixel) for one in self._seen], np.uint8)
        bytes_ = np.frombuffer(picture, np.uint8)
        height = math.ceil(len(bytes_) / width)
        pixels = np.full((width * height, 3), rgb(self.on.ground), np.uint8)
        pixels[: len(bytes_)] = table[bytes_]
        scale = (self.side - TOP - 10) / max(width, height)
        wide, tall = width * scale, height * scale
        pen.raster(pixels.reshape(height, width, 3), (self.side - wide) / 2, (self.side + TOP - tall) / 2, wide, tall)

    def _bands(self, pen: Any, head: dict[str, Any], picture: bytes) -> None:
        counts = {byte: int(count) for byte, count in head["bands"]}
        total = sum(counts.values())
        self._columns.append((head["step"], {byte: count / total for byte, count in counts.items()}))
        columns, top, height = [shares for _, shares in self._columns], 40.0, self.side - 52
        left, width = 12.0, self.side - 24
        steps = np.array([step for step, _ in self._columns], float)
        across = left + width * (steps - steps[0]) / max(1.0, steps[-1] - steps[0])
        base = np.zeros(len(columns))
        for byte in sorted({byte for column in columns for byte in column}):
            lower = np.stack([across, top + height * (1 - base)], axis=1)
            base = base + [column.get(byte, 0.0) for column in columns]
            upper = np.stack([across, top + height * (1 - base)], axis=1)
            if len(columns) > 1:
                pen.polygon(np.concatenate([lower, upper[::-1]]), band_colour(self._seen[byte], self.on))


def band_colour(one: Seen, on: Ground) -> str:
    """A band's colour. For leaders it is gold mixed with the colour of their class, so classes stay distinct."""
    return mixed(one.fill, one.rim, 0.4) if one.leader and one.rim and one.rim != on.ink else one.fill


def paint_agent(pen: Any, one: Seen, place: np.ndarray | tuple[float, float], radius: float) -> None:
    size = radius * (1.22 if one.leader else 1)
    pen.circle(place, size, one.fill, one.rim if radius >= 2.5 else None, max(1, radius / 6))
    if one.leader and radius > 4:
        pen.polygon(_star(place, size * 0.62), "#ffffff")
    if radius < 2.5:
        return
    for badge in one.badges:
        dx, dy, part = CORNERS[badge.place]
        if badge.place == 1:
            pen.circle(place, size * 1.12, None, badge.colour, max(1.2, radius * 0.24))
        else:
            pen.circle(place + np.array([dx, dy]) * size, radius * part, badge.colour)


def _spacing(places: np.ndarray) -> float:
    sample = places[:: max(1, len(places) // 300)]
    distances = np.sqrt(((sample[:, None, :] - places[None, :, :]) ** 2).sum(axis=2))
    distances[distances < 1e-9] = np.inf
    least = distances.min(axis=1)
    return float(np.quantile(least[np.isfinite(least)], 0.25)) if np.isfinite(least).any() else 1.0


def _star(place: np.ndarray | tuple[float, float], radius: float) -> np.ndarray:
    angle = np.arange(10) * np.pi / 5 - np.pi / 2
    reach = np.where(np.arange(10) % 2, radius * 0.45, radius)
    return np.stack([place[0] + reach * np.cos(angle), place[1] + reach * np.sin(angle)], axis=1)
