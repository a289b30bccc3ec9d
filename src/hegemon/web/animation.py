"""A film as an animated picture: GIF by Pillow, MP4 where ffmpeg is installed; drawn as the page draws it."""

import math
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.files import write_with
from hegemon.web.painting import Painter
from hegemon.web.pens import PillowPen

SIDE = 480  # pixels
SECONDS = 10.0
MOST_FRAMES = 100
SURFACES = 128  # colours of a palette that are those of the picture; the others are means


def save_animation(
    film: dict[str, Any], path: str | os.PathLike[str], size: int = SIDE, frames: int = MOST_FRAMES, dark: bool = False
) -> int:
    """About ten seconds; long films are thinned, and keep their end. Returns the number of frames in the file."""
    painter, images = Painter(film, size, dark), []
    for head, picture in thinned(list(zip(film["heads"], film["pictures"], strict=True)), frames):
        pen = PillowPen(size, painter.on.ground)
        painter.paint(pen, head, picture)
        images.append(pen.image())
    pace = min(0.5, SECONDS / len(images))
    if str(path).lower().endswith(".mp4"):
        _save_video(images, pace, path)
        return len(images)
    from PIL import Image

    palette = palette_of(images)
    flat = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    length = [round(1000 * pace)] * (len(flat) - 1) + [2000]
    write_with(path, lambda place: flat[0].save(
        place, save_all=True, append_images=flat[1:], duration=length, loop=0, optimize=True, disposal=1
    ))  # fmt: skip
    with Image.open(path) as saved:
        return int(getattr(saved, "n_frames", 1))  # Pillow writes frames that are equal once


def palette_of(images: list[Any]) -> Any:
    """256 colours of all images: those of surfaces exactly, those between them (on smooth edges) nearly."""
    from PIL import Image

    counts: Counter[Any] = Counter()
    for image in images:
        counts.update({colour: count for count, colour in image.getcolors(image.width * image.height)})
    ordered = [colour for colour, _ in counts.most_common()]
    exact, between = ordered[:SURFACES], ordered[SURFACES:]
    colours = [*exact]
    if between:
        line = Image.new("RGB", (len(between), 1))
        line.putdata(between)
        mixed = line.quantize(256 - SURFACES, dither=Image.Dither.NONE).getpalette() or []
        colours += [tuple(mixed[k : k + 3]) for k in range(0, len(mixed), 3)]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in colours[:256] for part in colour])
    return palette


def thinned(all_of_them: list[Any], most: int) -> list[Any]:
    """At most `most` of them, evenly spaced from the first on, and the last one in addition."""
    skip = math.ceil(len(all_of_them) / most)
    kept = all_of_them[::skip]
    return kept if (len(all_of_them) - 1) % skip == 0 else [*kept, all_of_them[-1]]


def require_ffmpeg() -> str:
    """The path of ffmpeg. Called before a film is made, so that a missing ffmpeg is reported at once."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise InvalidInput("an MP4 needs ffmpeg, which is not installed; save the film as .html or .gif instead")
    return program


def _save_video(images: list[Any], pace: float, path: str | os.PathLike[str]) -> None:
    program = require_ffmpeg()
    width, height = (side - side % 2 for side in images[0].size)  # yuv420p stores colours per 2 × 2 pixels
    images = [image.crop((0, 0, width, height)) for image in images]
    command = [
        program, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
        "-r", f"{1 / pace:.3f}", "-i", "-", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4",
    ]  # fmt: skip
    frames = b"".join(image.tobytes() for image in images)

    def make(place: Path) -> None:
        done = subprocess.run([*command, str(place)], input=frames, stderr=subprocess.PIPE)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
            raise InvalidInput(f"ffmpeg could not write {path} ({said[-1]}); save the film as .html or .gif instead")

    write_with(path, make)
