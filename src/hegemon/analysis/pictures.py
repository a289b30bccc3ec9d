"""Pictures of runs. Matplotlib is imported where it is used: it takes longer to load than most runs."""

from pathlib import Path

import numpy as np

from hegemon.errors import InvalidInput

FORMATS = (".png", ".svg", ".pdf")
INK, GRID = "#222222", "#dddddd"
COLOURS = ("#0b5fa5", "#d1495b", "#2e8b57", "#b8860b", "#6a4c93", "#444444", "#17a2b8", "#a0522d")


def check_picture_path(path) -> Path:
    """Refuse before the work is done, not after."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InvalidInput(f"the picture {path} must end in {', '.join(FORMATS)}")
    if not path.resolve().parent.is_dir():
        raise InvalidInput(f"there is no folder {path.parent} for the picture {path.name}; create it first")
    return path


def new_figure(columns: int, width: float = 7.5, height: float = 4.4):
    """A figure in the house style and its axes, from left to right."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, columns, figsize=(width * columns, height), squeeze=False, layout="constrained")
    for axis in axes[0]:
        axis.spines[["top", "right"]].set_visible(False)
        axis.spines[["left", "bottom"]].set_color(INK)
        axis.grid(True, color=GRID, linewidth=0.6)
        axis.set_axisbelow(True)
        axis.set_prop_cycle(color=COLOURS)
    return figure, list(axes[0])


def save(figure, path) -> None:
    """Written beside and moved into place, so that no half picture is ever left."""
    import matplotlib.pyplot as plt

    path = Path(path)
    partial = path.with_name(f".{path.stem}.partial{path.suffix}")
    figure.savefig(partial, dpi=150)
    plt.close(figure)
    partial.replace(path)


def draw_runs(runs, title: str, path) -> None:
    """The history of the first run and, with several runs, the distribution of their times."""
    figure, axes = new_figure(2 if len(runs) > 1 else 1)
    draw_history(axes[0], runs[0])
    axes[0].set_title(title, loc="left", fontsize=10)
    if len(runs) > 1:
        draw_times(axes[1], runs)
    save(figure, path)


def draw_history(axis, run) -> None:
    table = run.history
    time = "parallel_time" if run.unit == "steps" else "step"
    columns = [name for name in table.columns if name not in ("step", "parallel_time")]
    for k, name in enumerate(columns):
        line = "-" if k < len(COLOURS) else "--"  # the colours begin again
        axis.plot(table[time], table[name], line, label=name.replace("_", " "), linewidth=1.4)
    largest = max((table[name].max() for name in columns), default=0)
    if largest > 200:
        axis.set_yscale("symlog", linthresh=1)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("parallel time (steps / n)" if run.unit == "steps" else run.unit)
    axis.legend(frameon=False, fontsize=9)


def draw_times(axis, runs) -> None:
    """The share of trials that met the stop by each time: an unfinished trial never counts as one."""
    times = np.sort([run.steps for run in runs if run.reached])
    unit = runs[0].unit
    axis.step(times, np.arange(1, len(times) + 1) / len(runs), where="post", linewidth=1.6)
    if len(times):
        axis.axvline(times.mean(), color=COLOURS[1], linewidth=1, linestyle="--", label=f"mean {times.mean():,.0f}")
        axis.legend(frameon=False, fontsize=9)
    axis.set_ylim(0, 1.02)
    axis.set_xlabel(f"{unit} until the stop")
    axis.set_ylabel("share of trials")
    axis.set_title(f"{len(times)} of {len(runs)} trials", loc="left", fontsize=10)


def draw_elections(runs, title: str, path) -> None:
    """How many messages the trials sent, and how many leaders they elected."""
    figure, (left, right) = new_figure(2)
    left.hist([run.measures["messages"] for run in runs], bins=min(40, max(5, len(runs) // 5)))
    left.set_xlabel("messages")
    left.set_ylabel("trials")
    left.set_title(title, loc="left", fontsize=10)
    leaders, trials = np.unique([run.leaders for run in runs], return_counts=True)
    right.bar(leaders, trials / len(runs), width=0.6, color=[COLOURS[0] if k == 1 else COLOURS[1] for k in leaders])
    right.set_xticks(leaders)
    right.set_xlabel("leaders elected")
    right.set_ylabel("share of trials")
    right.set_ylim(0, 1.02)
    save(figure, path)
