"""Films without a browser: pages, animated pictures, and the command that saves them."""

import base64
import json
import re
import shutil
import struct
import subprocess
import zlib
from multiprocessing import Pipe

import numpy as np
import pytest
from PIL import Image

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.runs.stories import Interaction, Trace
from hegemon.web import film as films
from hegemon.web.animation import save_animation, thinned
from hegemon.web.colours import GOLD, looks, rgb, seen
from hegemon.web.film import FRAMES, MOST_PIXELS, Recorder, film_page, shoot
from hegemon.web.painting import Painter
from hegemon.web.pens import PillowPen
from hegemon.web.session import Session
from hegemon.web.simulation import Simulation
from hegemon.web.spacetime import space_time
from hegemon.web.watch import Film, save_film
from tests.sentences import is_one_sentence
from tests.web.same_run import finish


def content(page: str) -> tuple[dict, list[bytes]]:
    """What the script of a film finds in it."""
    blob = zlib.decompress(base64.b64decode(re.search(r'HEGEMON_FILM = "([^"]+)"', page).group(1)))
    length, count = struct.unpack_from("<II", blob)
    sizes = struct.unpack_from(f"<{count}I", blob, 8)
    place = 8 + 4 * count
    told = json.loads(blob[place : place + length])
    place += length
    pictures = []
    for size in sizes:
        pictures.append(blob[place : place + size])
        place += size
    return told, pictures


def test_a_film_is_the_run(tmp_path):
    film = shoot(Session(hg.Pairwise(n=8), seed=2))
    told, pictures = content(film_page(film))
    run = hg.simulate(hg.Pairwise(n=8), seed=2, engine="agents")
    first = next(head for head in told["heads"] if head["lamps"]["safe"])
    assert first["step"] == run.steps and first["healing"]["step"] == run.steps
    assert [head["step"] for head in told["heads"]] == list(range(len(told["heads"])))
    assert all(sum(picture) == head["values"]["leaders"] for head, picture in zip(told["heads"], pictures, strict=True))


def test_a_film_needs_nothing_from_elsewhere():
    page = film_page(shoot(Session(hg.Pairwise(n=4), seed=2)))
    assert not re.search(r"(src|href)=\"(?!data:|#|\$|film\.html|disturbances\.json|story\.json)", page)
    assert "import " not in re.sub(r"//.*", "", page.partition('<script type="module">')[2])


def test_a_long_film_is_thinned_and_a_large_raster_made_small():
    recorder = Recorder({"n": 40_000, "width": 200, "kind": "raster"})
    for step in range(5 * FRAMES):
        recorder.add({"step": step}, bytes(40_000))
    film = recorder.film()
    assert FRAMES // 2 <= len(film["heads"]) <= 2 * FRAMES
    assert all(len(picture) <= MOST_PIXELS for picture in film["pictures"])
    assert film["greeting"]["width"] * film["greeting"]["width"] == len(film["pictures"][0])


def test_going_back_cuts_the_film():
    recorder = Recorder({"n": 1})
    for step in (0, 1, 2, 3, 1, 5):
        recorder.add({"step": step}, b"\0")
    assert [head["step"] for head in recorder.film()["heads"]] == [0, 1, 5]


@pytest.mark.parametrize(
    ("protocol", "graph"),
    [(hg.FischerJiang(n=6), None), (hg.Pairwise(n=3100), None), (hg.FloodMax(n=9, diameter=4), "grid:3x3")],
)
def test_an_animated_picture(tmp_path, protocol, graph):
    film = shoot(Session(protocol, graph=graph, seed=1), max_steps=6)
    save_animation(film, tmp_path / "film.gif", size=120)
    with Image.open(tmp_path / "film.gif") as image:
        assert image.size == (120, 120)
        assert 1 <= image.n_frames <= len(film["heads"])


def test_a_thinned_film_keeps_its_end_and_the_colours_of_its_beginning(tmp_path):
    """STRONG_Y is gone at the end; a palette of the last frames alone painted it as STRONG_X."""
    film = shoot(Session(hg.ExactMajority(n=60), seed=3))
    save_animation(film, tmp_path / "film.gif", size=260, frames=36)
    with Image.open(tmp_path / "film.gif") as image:
        hues = [colour for _, colour in sorted(image.convert("RGB").getcolors(1 << 20))[-3:-1]]  # after the ground
    assert max(abs(a - b) for a, b in zip(*hues, strict=True)) > 40, hues
    for length in range(1, 50):
        kept = thinned(list(range(length)), 10)
        assert kept[0] == 0 and kept[-1] == length - 1 and len(kept) <= 11


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg here: an MP4 cannot be made")
def test_a_video_has_every_frame(tmp_path):
    film = shoot(Session(hg.FischerJiang(n=6), seed=1), max_steps=6)
    save_animation(film, tmp_path / "film.mp4", size=121)  # an odd side, which the format does not know
    assert (tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"
    show = [
        "ffprobe",
        "-v",
        "error",
        "-count_frames",
        "-show_entries",
        "stream=nb_read_frames,width,height",
        "-of",
        "csv",
    ]
    told = subprocess.run([*show, tmp_path / "film.mp4"], capture_output=True, text=True, check=True).stdout
    assert told.strip() == f"stream,120,120,{len(film['heads'])}"


def test_without_ffmpeg_a_video_is_refused_before_the_film_is_made(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.chdir(tmp_path)
    assert main(["watch", "pairwise", "--n", "6", "--save", "film.mp4"]) == 2
    assert "needs ffmpeg" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_a_space_time_diagram_shows_every_agent_at_every_moment(tmp_path):
    film = shoot(Session(hg.Ring(n=12), seed=3), max_steps=40)
    picture = space_time(film)
    assert all(float(place).is_integer() for place in picture.figure.axes[0].get_xticks())  # no half agents
    (axis,) = picture.figure.axes
    cells = axis.images[0].get_array()
    assert cells.shape == (41, 12, 3)
    leaders = [[seen(film["greeting"]["channels"], byte).leader for byte in row] for row in film["pictures"]]
    assert np.array_equal((cells == rgb(GOLD)).all(axis=2), leaders)
    said = [text.get_text() for text in axis.get_legend().get_texts()]
    assert said[0] == "leader" and {"DUMMY", "LIVE", "signal=1"} <= set(said)
    picture._repr_png_()
    assert axis.get_legend().get_window_extent().x0 >= axis.get_window_extent().x1  # beside the data
    save_film(film, tmp_path / "ring.svg")
    assert (tmp_path / "ring.svg").stat().st_size > 1000
    with pytest.raises(InvalidInput, match="at most 2,000 agents"):
        space_time(shoot(Session(hg.Pairwise(n=3100), seed=1), max_steps=3))


def test_a_leader_is_golden_and_a_follower_is_not():
    channels = [{"part": "leader", "name": "leader", "labels": ["follower", "leader"], "colours": []}]
    assert seen(channels, 1).fill == "#e69f00" != seen(channels, 0).fill
    told = looks(channels)  # what the page is told is what the animated pictures use
    assert told["light"]["bytes"] == [seen(channels, byte).record() for byte in (0, 1)]
    assert told["dark"]["ground"] != told["light"]["ground"]


def test_the_command_saves_a_film(tmp_path, capsys):
    assert main(["watch", "pairwise", "--n", "6", "--save", str(tmp_path / "film.html")]) == 0
    assert "frames" in capsys.readouterr().out
    assert content((tmp_path / "film.html").read_text())[0]["greeting"]["protocol"] == "pairwise"


def test_a_story_brings_its_protocol(tmp_path):
    one, nobody = {"leader": 1}, {"leader": 0}
    story = Trace("pairwise", [one] * 2, (Interaction(1, 0, (one, one), (one, nobody)),), {}, "complete:2")
    story.save(tmp_path / "story.json")
    assert main(["watch", "--start", str(tmp_path / "story.json"), "--save", str(tmp_path / "film.html")]) == 0
    told, _ = content((tmp_path / "film.html").read_text())
    assert told["heads"][-1]["last"]["text"].endswith("responder 0: leader 1→0")
    assert len(told["heads"]) == 2


def test_a_film_whose_length_nobody_gave_is_bounded_and_says_so(tmp_path, capsys, monkeypatch):
    """Without a leader nobody shoots, and bullets fly without end: `safe` is never reached."""
    monkeypatch.setattr(films, "LONGEST_FILM", 50)
    states = [{"leader": 0, "bullet": bullet, "shield": 0} for bullet in (1, 0, 0)]
    (tmp_path / "story.json").write_text(
        json.dumps({"protocol": "fischer-jiang", "agents": states, "interactions": []})
    )
    words = ["watch", "--start", str(tmp_path / "story.json"), "--save", str(tmp_path / "film.html")]
    assert main(words) == 0
    assert "ends at step 150, and `safe` is not reached; give --until steps:K" in capsys.readouterr().err
    told, _ = content((tmp_path / "film.html").read_text())
    assert told["heads"][-1]["step"] == 150 and "not reached" in told["heads"][-1]["note"]
    assert main([*words, "--max-steps", "20"]) == 0
    told, _ = content((tmp_path / "film.html").read_text())
    assert told["heads"][-1]["step"] == 20 and not capsys.readouterr().err  # the length was given
    assert main([*words, "--max-steps", "20", "--until", "safe"]) == 0
    assert "`safe` is not reached" in capsys.readouterr().err


def test_a_story_is_filmed_no_further_than_the_limit():
    session = Session(hg.Pairwise(n=6), seed=1)
    session.schedule = [(0, 1, 0)] * 9
    assert shoot(session, max_steps=4)["heads"][-1]["step"] == 4


@pytest.mark.parametrize(
    "words",
    [
        ["ring", "--n", "1e7"],
        ["ring", "--graph", "directed-ring:10000000"],
        ["trains", "--graph", "hypercube:40"],
        ["trains", "--graph", "grid:4000x4000"],
        ["pairwise", "--n", "1e9", "--engine", "agents"],
        ["pairwise", "--graph", "gnp:3000000,0.1"],
    ],
)
def test_too_many_agents_are_refused_before_a_graph_is_made_of_them(words, capsys, monkeypatch):
    def never(*arguments, **options):
        raise AssertionError("a graph was made")

    monkeypatch.setattr(Topology, "from_edges", never)
    assert main(["watch", *words, "--no-browser"]) == 2
    assert "too large to be watched" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["watch"], "which protocol"),
        (["watch", "pairwise", "--n", "6", "--save", "film.avi"], ".html, .gif or .mp4"),
        (["watch", "pairwise", "--n", "6", "--until", "safe"], "--save"),
        (["watch", "pairwise", "--n", "6", "--save", "film.html", "--until", "never"], "never"),
        (["watch", "pairwise", "--n", "6", "--wake", "all"], "--wake"),
        (["watch", "referees", "--n", "6", "--start", "all"], "--start"),
        (["watch", "pairwise", "--n", "6", "--save", "film.html", "--engine", "warp"], "warp"),
        (["watch", "ring", "--n", "2e6", "--save", "film.html"], "too large"),
        (["watch", "pairwise", "--n", "6", "--port", "99999999"], "port"),
        (["watch", "pairwise", "--n", "6", "--host", "256.1.1.1"], "256.1.1.1"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, monkeypatch, capsys, words, says):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert is_one_sentence(error) and says in error
    assert not list(tmp_path.iterdir())


def test_an_animated_picture_has_the_frames_it_says_and_the_colours_of_the_page(tmp_path, capsys):
    name = tmp_path / "film.gif"
    assert (
        main(["watch", "ring", "--n", "8", "--seed", "1", "--save", str(name), "--until", "steps:400", "--quiet"]) == 0
    )
    said = int(re.search(r"(\d+) frames to", capsys.readouterr().out.replace("\n", " "))[1])
    film = shoot(Session(hg.Ring(n=8), seed=1), "steps:400")
    with Image.open(name) as image:
        assert image.n_frames == said < len(film["heads"])
        painter = Painter(film, 480)
        for k, (head, picture) in enumerate(thinned(list(zip(film["heads"], film["pictures"], strict=True)), 100)):
            pen = PillowPen(480, painter.on.ground)
            painter.paint(pen, head, picture)
            image.seek(k)
            off = np.abs(np.asarray(pen.image(), int) - np.asarray(image.convert("RGB"), int)).max(axis=2)
            assert (off > 12).mean() < 0.005 and (off > 3).mean() < 0.02


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["time-optimal", "--n", "1e6", "--save", "t.png"], "--as moment"),
        (["ring", "--n", "8", "--save", "t.png", "--moments", ",".join(map(str, range(13)))], "at most 12 moments"),
        (["pairwise", "--n", "8", "--save", "t.png", "--fault", "step=5,leave=1"], "agents come and go"),
    ],
)
def test_what_the_request_alone_forbids_is_refused_before_any_step(arguments, says, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Session, "advance", None)
    assert main(["watch", *arguments]) == 2
    assert says in capsys.readouterr().err.replace("\n", " ")


def test_in_a_notebook_a_film_plays_itself():
    film = hg.watch(hg.Pairwise(n=4), film=True, seed=1)
    assert isinstance(film, Film) and film._repr_html_().startswith("<iframe srcdoc=")


@pytest.mark.parametrize("first", ["as it opens", "started over"])
def test_a_film_begins_where_its_run_does_however_soon_the_first_command_comes(first):
    here, there = Pipe()
    simulation = Simulation(here, Session(hg.Pairwise(n=6), seed=1))
    if first == "started over":
        simulation._take_now(None, {"do": "start", "values": {"start": "all-leaders"}})
        finish(simulation)
    for _ in range(3):  # nobody has asked for a frame yet
        simulation._take_now(None, {"do": "step", "count": 1})
        finish(simulation)
    simulation._send_frame()
    assert [head["step"] for head in simulation.recorder.film()["heads"]] == [0, 3]
    there.close()
