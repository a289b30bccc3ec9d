"""Pictures for papers: moments, strips and space–time diagrams are what the page shows at those steps."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.graphs.families import parse
from hegemon.protocols import CATALOGUE
from hegemon.web.colours import DARK, LIGHT, seen
from hegemon.web.film import film_page, shoot, shoot_moments
from hegemon.web.frames import greeting
from hegemon.web.layout import edges
from hegemon.web.painting import Painter
from hegemon.web.session import Session
from hegemon.web.spacetime import ordered, space_time
from hegemon.web.stills import film_for, still
from hegemon.web.watch import picture_kind, save_film

RING = hg.Ring(n=12)


class Noting:
    """A pen that records the calls to draw."""

    def __init__(self):
        self.circles, self.texts, self.lines, self.polygons = [], [], 0, []

    def circle(self, place, radius, fill, rim=None, width=1):
        self.circles.append((tuple(np.round(place, 3)), fill))

    def line(self, points, colour, width):
        self.lines += 1

    def polygon(self, points, fill):
        self.polygons.append(fill)

    def text(self, place, text, size, ink, halo=""):
        self.texts.append(text)


@pytest.mark.parametrize(("dark", "on"), [(False, LIGHT), (True, DARK)])
def test_every_agent_is_drawn_as_its_byte_says(dark, on):
    film = shoot_moments(Session(RING, seed=3), [40])
    pen, painter = Noting(), Painter(film, 480, dark)
    painter.paint(pen, film["heads"][0], film["pictures"][0])
    looks = [seen(film["greeting"]["channels"], byte, on) for byte in film["pictures"][0]]
    expected = Counter(one.fill for one in looks) + Counter(
        b.colour for one in looks for b in one.badges if b.place != 1
    )
    assert Counter(fill for _, fill in pen.circles if fill) == expected
    assert len(pen.polygons) == sum(one.leader for one in looks) and pen.lines == 12 and "40 steps" in pen.texts
    other = shoot_moments(Session(RING, seed=3), [41 * 12])  # the negative control
    looks = [seen(other["greeting"]["channels"], byte, on) for byte in other["pictures"][0]]
    assert Counter(fill for _, fill in pen.circles if fill) != Counter(one.fill for one in looks)


def test_moments_are_exact_and_the_moment_of_safe_is_its_first_step():
    session = Session(RING, seed=3)
    film = film_for(session, "strip", [7, 0, 300, 7])
    assert [head["step"] for head in film["heads"]] == [0, 7, 300]
    for head in film["heads"]:
        run = hg.simulate(RING, seed=3, engine="agents", until=f"steps:{head['step']}")
        assert head["values"]["leaders"] == run.leaders
    first = hg.simulate(RING, seed=3, engine="agents").steps
    assert [head["step"] for head in film_for(Session(RING, seed=3), "moment")["heads"]] == [first]
    assert [h["step"] for h in film_for(Session(RING, seed=3), "strip", until="steps:30")["heads"]] == [0, 10, 20, 30]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_strips_are_saved_in_every_form(tmp_path, ending):
    session = Session(RING, seed=3)
    session.write("label")
    place = tmp_path / f"strip.{ending}"
    save_film(film_for(session, "strip", [0, 50]), place, "strip", dark=True)
    content = place.read_bytes()
    assert content[:4] in (b"\x89PNG", b"<?xm", b"%PDF") and len(content) > 5000
    if ending == "svg":
        text = content.decode()
        assert text.count(DARK.ground) and "50 steps" in text.replace("&#160;", " ") or "<path" in text


def test_bands_are_one_picture_and_no_strip():
    protocol, steps = hg.Pairwise(n=10**7), 10**7
    session = Session(protocol, seed=2)
    with pytest.raises(InvalidInput, match="only counts are kept"):
        film_for(session, "strip")
    film = film_for(session, "moment", until=f"steps:{steps}")
    pen = Noting()
    painter = Painter(film, 480)
    for head in film["heads"]:
        painter.paint(pen, head, b"")
    assert len(set(pen.polygons)) == 2
    legend = still(film).figure.legends[0].get_texts()
    run = hg.simulate(protocol, seed=2, engine="batch", until=f"steps:{steps}")
    assert f"leader: {run.leaders:,}" in [text.get_text() for text in legend]


@given(st.sampled_from(["ring:9", "path:7", "grid:3x4", "torus:3x5", "star:6", "regular:12,3"]), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_orders_are_permutations_and_neighbours_are_near(name, node):
    graph = parse(name, None, np.random.default_rng(1))
    pairs = edges(graph)
    told = {"n": graph.n, "edges": pairs.ravel().tolist(), "graph": name}
    agents, away = ordered(told, f"distance:{node}")
    assert sorted(agents) == list(range(graph.n)) and agents[0] == node and list(away) == sorted(away)
    distance = dict(zip(agents.tolist(), away.tolist(), strict=True))
    assert all(abs(distance[a] - distance[b]) <= 1 for a, b in pairs)
    assert all(any(distance[b] == distance[a] - 1 for b in _near(pairs, a)) for a in range(graph.n) if a != node)
    agents, away = ordered(told, "near")
    assert sorted(agents) == list(range(graph.n)) and away is None
    assert list(ordered(told, "number")[0]) == list(range(graph.n))


def _near(pairs, agent):
    return [int(b if a == agent else a) for a, b in pairs if agent in (a, b)]


def test_near_unravels_a_ring_whose_numbers_are_mixed():
    mixed = [(k * 5 % 12, (k + 1) * 5 % 12) for k in range(12)]
    told = {"n": 12, "edges": [v for pair in mixed for v in pair], "graph": "mixed"}
    place = {agent: k for k, agent in enumerate(ordered(told, "near")[0].tolist())}
    assert max(abs(place[a] - place[b]) for a, b in mixed) <= 2 < max(abs(a - b) for a, b in mixed)


def test_the_diagram_has_its_columns_in_the_order():
    film = shoot(Session(hg.Epidemic(n=9), graph="path:9", seed=1), until="steps:60")
    by_number, from_the_end = (space_time(film, order) for order in ("number", "distance:8"))
    first, second = (one.figure.axes[0].images[0].get_array() for one in (by_number, from_the_end))
    assert np.array_equal(first[:, ::-1], second) and not np.array_equal(first, second)


@pytest.mark.parametrize(
    ("path", "kind", "moments"),
    [("x.png", "strp", []), ("x.html", "strip", []), ("x.svg", "space-time", [1]), ("x.pdf", "moment", [1, 2])],
)
def test_what_does_not_fit_is_refused(path, kind, moments):
    with pytest.raises(InvalidInput):
        picture_kind(path, kind, moments)


@pytest.mark.parametrize("order", ["far", "near:3", "distance", "distance:12", "distance:x"])
def test_unknown_orders_are_refused(order):
    with pytest.raises(InvalidInput):
        ordered(greeting(Session(RING)), order)


def test_films_are_light_or_dark():
    film = shoot(Session(RING, seed=3), until="steps:3")
    assert 'HEGEMON_THEME = "dark"' in film_page(film, dark=True) and "HEGEMON_THEME = " not in film_page(film)
    dark, light = (space_time(film, dark=one).figure.get_facecolor() for one in (True, False))
    assert sum(dark[:3]) < 1 < sum(light[:3])


def test_texts_are_written_in_the_picture():
    session = Session(RING, seed=3)
    assert session.world.writable()[:2] == ["label", "number"]
    session.write("distL")
    film, pen = shoot_moments(session, [9]), Noting()
    Painter(film, 480).paint(pen, film["heads"][0], film["pictures"][0])
    assert Counter(pen.texts[:12]) == Counter(str(session.world.state(v)["distL"]) for v in range(12))
    with pytest.raises(InvalidInput, match="nothing called 'password'"):
        session.write("password")


def test_identifiers_of_nodes_are_written_where_there_are_any():
    session = Session(CATALOGUE["hirschberg-sinclair"](n=7), seed=1)
    session.write("identifier")
    session.go_to(1)
    assert sorted(session.world.written("identifier")) == [str(k) for k in range(1, 8)]
    assert "identifier" not in Session(hg.FloodMax(n=9, diameter=4), graph="grid:3x3").world.writable()
