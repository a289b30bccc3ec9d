"""A film as an animated picture: GIF by Pillow, MP4 where ffmpeg is installed; drawn as the page draws it."""

import math
import shutil
import subprocess

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.files import write_with
from hegemon.web.colours import KINDS, LIGHT, Seen, mixed, rgb, seen

SIDE = 480  # pixels
TOP = 30  # pixels for the clock
FINER = 2  # drawn so much larger, then scaled down: smooth edges
SECONDS = 10.0
GROUND, INK = LIGHT.ground, LIGHT.ink
MOST_FRAMES = 100


class Painter:
    def __init__(self, film: dict, size: int):
        self.greeting, self.size, self.side = film["greeting"], size, size * FINER
        self._seen = [seen(self.greeting["channels"], byte) for byte in range(256)]
        if self.greeting["kind"] == "graph":
            self._place()
        self._columns: list[dict[int, float]] = []

    def _place(self) -> None:
        places = np.array(self.greeting["places"])
        least = _spacing(places)
        wide, tall = np.abs(places).max(axis=0) * (1 + min(0.25, least * 0.6)) + 1e-9
        top = TOP * FINER
        room = 0.97 * min(self.side / 2 / wide, (self.side - top) / 2 / tall)
        self._points = np.array([self.side / 2, top + (self.side - top) / 2]) + places * room
        self._radius = max(2.4, min(17 * FINER, least * room * 0.36))

    def paint(self, head: dict, picture: bytes):
        from PIL import Image, ImageDraw

        image = Image.new("RGB", (self.side, self.side), GROUND)
        draw = ImageDraw.Draw(image)
        if self.greeting["kind"] == "graph":
            self._paint_graph(draw, head, picture)
        elif self.greeting["kind"] == "raster":
            self._paint_raster(image, picture)
        else:
            self._paint_bands(draw, head)
        draw.text((12 * FINER, 8 * FINER), f"{head['step']:,} {self.greeting['unit']}", fill=INK, font=_font())
        return image.resize((self.size, self.size), Image.Resampling.LANCZOS)

    def _paint_graph(self, draw, head, picture) -> None:
        points, radius = self._points, self._radius
        edges = np.array(self.greeting["edges"]).reshape(-1, 2)
        for a, b in edges:
            draw.line([*points[a], *points[b]], fill=mixed(GROUND, INK, 0.2), width=FINER)
        for v, w, kind in head.get("messages", ()):
            draw.line([*points[v], *points[w]], fill=mixed(GROUND, KINDS[kind % 6], 0.5), width=FINER)
            _circle(draw, points[v] + (points[w] - points[v]) * 0.62, radius * 0.4, KINDS[kind % 6])
        order = sorted(range(len(picture)), key=lambda v: self._seen[picture[v]].leader)
        for v in order:
            self._paint_agent(draw, self._seen[picture[v]], points[v])
        for agent in (head.get("last") or {}).get("pair", ()):
            _circle(draw, points[agent], radius * 1.45, None, INK, FINER * 1.6)

    def _paint_agent(self, draw, seen: Seen, place) -> None:
        size = self._radius * (1.22 if seen.leader else 1)
        _circle(draw, place, size, seen.fill, seen.rim, max(FINER, self._radius / 6))
        if seen.leader and self._radius > 4 * FINER:
            draw.polygon([tuple(point) for point in _star(place, size * 0.62)], fill="#ffffff")
        if self._radius < 2.5 * FINER:
            return
        for badge in seen.badges:
            if badge.place == 1:
                _circle(draw, place, size * 1.12, None, badge.colour, max(FINER, self._radius * 0.24))
                continue
            dx, dy, part = ((0, 0, 0.42), (0, 0, 0), (0.72, -0.72, 0.34), (0.72, 0.72, 0.34), (-0.72, 0.72, 0.42))[
                badge.place
            ]
            _circle(draw, place + np.array([dx, dy]) * size, self._radius * part, badge.colour)

    def _paint_raster(self, image, picture) -> None:
        from PIL import Image

        width = self.greeting["width"]
        table = np.array([rgb(seen.pixel) for seen in self._seen], np.uint8)
        bytes_ = np.frombuffer(picture, np.uint8)
        height = math.ceil(len(bytes_) / width)
        pixels = np.full((width * height, 3), rgb(GROUND), np.uint8)
        pixels[: len(bytes_)] = table[bytes_]
        scale = (self.side - (TOP + 10) * FINER) / max(width, height)
        size = max(1, int(width * scale)), max(1, int(height * scale))
        raster = Image.fromarray(pixels.reshape(height, width, 3)).resize(size, Image.Resampling.NEAREST)
        image.paste(raster, ((self.side - size[0]) // 2, (self.side + TOP * FINER - size[1]) // 2))

    def _paint_bands(self, draw, head) -> None:
        counts = {byte: int(count) for byte, count in head["bands"]}
        total = sum(counts.values())
        self._columns.append({byte: count / total for byte, count in counts.items()})
        columns, top, height = self._columns, 40 * FINER, self.side - 52 * FINER
        left, width = 12 * FINER, self.side - 24 * FINER
        across = [left + width * k / max(1, len(columns) - 1) for k in range(len(columns))]
        base = np.zeros(len(columns))
        for byte in sorted({byte for column in columns for byte in column}):
            lower = list(zip(across, top + height * (1 - base), strict=True))
            base = base + [column.get(byte, 0.0) for column in columns]
            upper = list(zip(across, top + height * (1 - base), strict=True))
            if len(columns) > 1:
                draw.polygon([tuple(map(float, point)) for point in lower + upper[::-1]], fill=self._seen[byte].fill)


def _spacing(places: np.ndarray) -> float:
    sample = places[:: max(1, len(places) // 300)]
    distances = np.sqrt(((sample[:, None, :] - places[None, :, :]) ** 2).sum(axis=2))
    distances[distances < 1e-9] = np.inf
    least = distances.min(axis=1)
    return float(np.quantile(least[np.isfinite(least)], 0.25)) if np.isfinite(least).any() else 1.0


def _circle(draw, place, radius, fill, rim=None, width=1) -> None:
    x, y = place
    box = [x - radius, y - radius, x + radius, y + radius]
    draw.ellipse(box, fill=fill, outline=rim, width=max(1, round(width)) if rim else 0)


def _star(place, radius):
    angle = np.arange(10) * np.pi / 5 - np.pi / 2
    reach = np.where(np.arange(10) % 2, radius * 0.45, radius)
    return np.stack([place[0] + reach * np.cos(angle), place[1] + reach * np.sin(angle)], axis=1)


def _font():
    from PIL import ImageFont

    return ImageFont.load_default(16 * FINER)


def save_animation(film: dict, path, size: int = SIDE, frames: int = MOST_FRAMES) -> None:
    """About ten seconds; long films are thinned."""
    skip = math.ceil(len(film["heads"]) / frames)
    painter = Painter(film, size)
    pairs = list(zip(film["heads"], film["pictures"], strict=True))[::skip]
    images = [painter.paint(head, picture) for head, picture in pairs]
    pace = min(0.5, SECONDS / len(images))
    if str(path).lower().endswith(".mp4"):
        _save_video(images, pace, path)
        return
    from PIL import Image

    samples = images[:: max(1, len(images) // 8)][-8:] + images[-1:]
    strip = Image.new("RGB", (images[0].width, images[0].height * len(samples)))
    for k, image in enumerate(samples):
        strip.paste(image, (0, k * image.height))
    palette = strip.quantize(96, dither=Image.Dither.NONE)
    flat = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    length = [round(1000 * pace)] * (len(flat) - 1) + [2000]
    write_with(path, lambda place: flat[0].save(
        place, save_all=True, append_images=flat[1:], duration=length, loop=0, optimize=True, disposal=1
    ))  # fmt: skip


def require_ffmpeg() -> str:
    """Where it is; asked before a film is made, not after."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise InvalidInput("an MP4 needs ffmpeg, which is not installed; save the film as .html or .gif instead")
    return program


def _save_video(images, pace: float, path) -> None:
    program = require_ffmpeg()
    width, height = (side - side % 2 for side in images[0].size)  # its colours are stored for squares of four points
    images = [image.crop((0, 0, width, height)) for image in images]
    command = [
        program, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
        "-r", f"{1 / pace:.3f}", "-i", "-", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4",
    ]  # fmt: skip
    frames = b"".join(image.tobytes() for image in images)

    def make(place) -> None:
        done = subprocess.run([*command, str(place)], input=frames, stderr=subprocess.PIPE)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
            raise InvalidInput(f"ffmpeg could not write {path} ({said[-1]}); save the film as .html or .gif instead")

    write_with(path, make)
