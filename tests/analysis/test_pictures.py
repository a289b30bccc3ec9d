"""Pictures: every unit has its own axis, bands are those of the trials, legends stand beside the data."""

from dataclasses import replace

import numpy as np
import pytest

import hegemon as hg
from hegemon.analysis import pictures
from hegemon.analysis.graph_pictures import first_sentence, lattice_shape, place_nodes, wraps
from hegemon.errors import InvalidInput
from hegemon.runs.history import Watched
from hegemon.runs.run import Run

UNITS = {"leaders": "agents", "bullets": "agents", "largest_dist": "value", "never": "agents"}


def run(leaders, dist, trial=0) -> Run:
    steps = np.arange(len(leaders)) * 10
    columns = {"step": steps, "parallel_time": steps / 10, "leaders": np.array(leaders)}
    columns |= {"bullets": columns["leaders"] // 2, "largest_dist": np.array(dist), "never": np.zeros_like(steps)}
    return Run("ring", 10, "steps", int(steps[-1]), True, 1, "agents", "", 0, trial, watched=Watched(columns, UNITS))


def test_counts_and_distances_have_axes_of_their_own(tmp_path):
    runs = [run([9, 5, 1], [3, 2, 7]), run([8, 3, 2, 1], [1, 1, 1, 900], trial=1)]
    picture = pictures.picture_of_runs(runs, "ring")
    picture.save(tmp_path / "runs.png")
    drawn = picture.figure.axes
    assert [axis.get_ylabel() for axis in drawn] == ["agents", "value", "share of trials"]
    assert [text.get_text() for text in drawn[0].get_legend().get_texts()] == ["leaders", "bullets"]
    assert drawn[0].get_legend().get_title().get_text() == "throughout: never 0"
    assert drawn[1].get_yscale() == "symlog" and drawn[0].get_yscale() == "linear"
    assert (tmp_path / "runs.png").stat().st_size > 1000


def test_no_legend_lies_on_the_data():
    picture = pictures.picture_of_runs([run([9, 5, 1], [3, 2, 7])], "ring")
    picture._repr_png_()
    for axis in picture.figure.axes:
        legend = axis.get_legend().get_window_extent()
        assert legend.y1 <= axis.get_window_extent().y0


def test_the_band_is_that_of_the_trials():
    runs = [run([k, k, 1], [1, 1, 1], trial=k) for k in range(1, 12)]
    grid, low, middle, high = pictures.curve(runs, "step", "leaders")
    assert (low[0], middle[0], high[0]) == (2, 6, 10) and (low[-1], high[-1]) == (1, 1)
    ended = [run([5, 1], [0, 0]), run([5, 5, 5, 4], [0] * 4)]
    assert pictures.curve(ended, "step", "leaders")[2][-1] == 2.5  # a run that has ended stays where it ended


def test_a_picture_is_the_same_file_whenever_it_is_made(tmp_path):
    for name in ("a.svg", "b.svg"):
        pictures.picture_of_runs([run([9, 5, 1], [3, 2, 7])], "ring").save(tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "b.svg"]


@pytest.mark.parametrize("name", ["x.txt", "nowhere/x.png"])
def test_a_picture_that_cannot_be_written_is_refused_at_once(name, tmp_path):
    with pytest.raises(InvalidInput):
        pictures.check_picture_path(tmp_path / name)


def test_lattices_stand_upright_and_rings_begin_at_the_top():
    places = place_nodes(range(6), "grid:2x3")
    assert places == {0: (0, 0), 1: (1, 0), 2: (2, 0), 3: (0, -1), 4: (1, -1), 5: (2, -1)}
    assert lattice_shape("torus:4x5") == (4, 5) and lattice_shape("regular:20,3") == (0, 0)
    torus = place_nodes(range(9), "torus:3x3")
    assert wraps((0, 2), torus, "torus:3x3") and not wraps((0, 1), torus, "torus:3x3")
    ring = place_nodes(range(4), "directed-ring:4")
    assert np.allclose([ring[v] for v in range(4)], [(0, 1), (1, 0), (0, -1), (-1, 0)], atol=1e-12)


def test_counts_have_whole_ticks_and_no_power_of_ten():
    def elected(messages):
        return Run("walks", 64, "rounds", 9, True, 1, "tokens", "", 0, 0, measures={"messages": messages})

    figure = pictures.picture_of_elections([elected(821)], "walks").figure
    figure.canvas.draw()
    for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis):
        assert all(float(value).is_integer() for value in axis.get_majorticklocs())
    assert figure.axes[1].get_xlim() == (0, 2)
    late = [replace(run([9, 5, 1], [3, 2, 7], trial=k), steps=10**6 * (k + 1)) for k in range(3)]
    times = pictures.picture_of_runs(late, "ring").figure.axes[-1]
    times.figure.canvas.draw()
    assert "2,000,000" in [text.get_text() for text in times.get_xticklabels()]
    assert times.lines[0].get_ydata()[0] == 0


def test_a_coloured_rim_is_explained():
    assert first_sentence(hg.Ring.highlight) == "agents that carry a bullet"


@pytest.mark.parametrize("sizes, shown", [([8, 16, 32, 64], {"10", "20", "50"}), ([10, 1000], None)])
def test_numbers_of_a_logarithmic_axis_do_not_run_into_each_other(sizes, shown):
    figure, (axis,) = pictures.new_figure(1)
    axis.plot(sizes, sizes)
    pictures.logarithmic(axis, "x")
    figure.canvas.draw()
    labels = [label for label in axis.get_xticklabels(which="both") if label.get_text()]
    assert shown is None or shown <= {label.get_text() for label in labels}
    places = sorted((box.x0, box.x1) for box in (label.get_window_extent() for label in labels))
    assert all(before[1] < after[0] for before, after in zip(places, places[1:], strict=False))


def test_powers_of_ten_are_plain_texts():
    figure, (axis,) = pictures.new_figure(1)
    axis.plot([1, 10**6], [-(10**5), 10**6])
    axis.set_yscale("symlog", linthresh=1)
    pictures.powers_of_ten(axis.yaxis)
    figure.canvas.draw()
    labels = {label.get_text() for label in axis.get_yticklabels()}
    assert {"0", "10⁵", "−10⁵"} <= labels and not any("$" in label for label in labels)


def test_what_is_counted_has_whole_ticks_in_a_history_too():
    figure = pictures.picture_of_runs([run([2, 1, 1], [1, 1, 3])], "ring").figure
    figure.draw_without_rendering()
    for axis in figure.axes:
        assert all(float(place).is_integer() for place in axis.get_yticks()), axis.get_ylabel()


def test_axes_on_which_nothing_moves_are_left_out_and_told_below():
    (axis,) = pictures.picture_of_runs([run([1, 1, 1], [3, 2, 7])], "ring").figure.axes
    assert axis.get_ylabel() == "value" and axis.lines
    assert axis.get_legend().get_title().get_text() == "throughout: leaders 1, bullets 0, never 0"
    (still,) = pictures.picture_of_runs([run([1, 1, 1], [3, 3, 3])], "ring").figure.axes
    assert still.lines and still.get_ylabel() == "agents"  # nothing moves at all: lines, not an empty frame


def test_no_decade_is_drawn_in_which_there_is_nothing():
    axes = pictures.picture_of_runs([run([2, 1, 1], [70, 900, 2000])], "timer").figure.axes
    assert axes[1].get_yscale() == "symlog" and axes[1].get_ylim()[0] == 10
    assert axes[0].get_ylim()[0] == 0


def test_nothing_is_cut_at_the_edge(tmp_path):
    """A legend of two rows makes the axes lower, other numbers appear beside them, and the label needs more room."""
    words = ("leaders", "checkers", "electors", "synchronizers")
    steps = np.arange(60) * 10
    columns = {"step": steps, "parallel_time": steps / 10}
    columns |= {word: 21 * np.linspace(0, 1, 60) ** (k + 1) for k, word in enumerate(words)}
    watched = Watched(columns, dict.fromkeys(words, "agents"))
    one = Run("time-optimal", 10, "steps", 590, True, 1, "agents", "", 0, 0, watched=watched)
    picture = pictures.picture_of_runs([one], "time-optimal")
    picture.save(tmp_path / "run.png")
    (axis,), frame = picture.figure.axes, picture.figure.bbox
    for part in (axis.yaxis.label, axis.xaxis.label, axis.title, axis.get_legend()):
        box = part.get_window_extent()
        assert box.x0 >= frame.x0 and box.x1 <= frame.x1 and box.y0 >= frame.y0 and box.y1 <= frame.y1, part


def test_trials_that_ended_before_a_look_are_left_out_of_its_curves():
    early = replace(run([2, 1], [1, 1], trial=0), watched=Watched({}, {}))
    axes = pictures.picture_of_runs([early, run([9, 5, 1], [3, 2, 7], trial=1)], "ring").figure.axes
    assert [axis.get_ylabel() for axis in axes] == ["agents", "value", "share of trials"] and axes[0].lines


def test_what_differs_between_trials_is_no_constant():
    axes = pictures.picture_of_runs([run([3, 3, 3], [1, 1, 1]), run([7, 7, 7], [1, 1, 1], trial=1)], "ring").figure.axes
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["leaders", "bullets"]
    assert "leaders" not in axes[0].get_legend().get_title().get_text()


def test_trials_without_records_show_how_long_they_took():
    bare = [replace(run([2, 1], [1, 1], trial=k), watched=None, steps=k + 5) for k in range(4)]
    (axis,) = pictures.picture_of_runs(bare, "ranking, n = 6").figure.axes
    assert axis.get_title(loc="left") == "ranking, n = 6: 4 of 4 trials met the stop" and axis.lines


def test_a_picture_is_drawn_into_the_axes_of_the_caller():
    from matplotlib.figure import Figure

    watched, several = hg.simulate(hg.Pairwise(n=20), observe=True), hg.run_trials(hg.Pairwise(n=20), 5)
    elections = hg.run_trials(hg.Referees(n=20), 5)
    for made, label in (
        (watched, "parallel time (steps / n)"),
        (several, "steps until the stop"),
        (elections, "messages"),
        (hg.compare("pairwise", n=[4, 8], trials=2), "n"),
    ):
        axis = Figure().subplots()
        picture = made.plot(ax=axis)
        assert picture.figure is axis.figure and axis.figure.axes == [axis]
        assert axis.get_xlabel() == label and (axis.lines or axis.patches)
