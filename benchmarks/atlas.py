"""The Atlas of the manual: `python -m benchmarks.atlas` measures every election of the catalogue in the same way.

It writes docs/atlas.csv, docs/atlas.svg (each dot links to its page) and docs/atlas.md. All trials are kept in
build/atlas, so that the same command goes on there. Lower bounds are orders of growth, drawn with constant 1.
"""

import json
import math
import sys
from pathlib import Path

import hegemon as hg
from benchmarks.manual import MINUTE, known_times
from hegemon.analysis.pictures import COLOURS, INK, legend_below, logarithmic, new_figure, save
from hegemon.errors import InvalidInput
from hegemon.experiments.comparing import shown
from hegemon.files import write_text
from hegemon.protocols import CATALOGUE

DOCS = Path(__file__).parent.parent / "docs"
KEPT = Path("build/atlas")
N, TRIALS, MAX_STEPS = 31, 10, 2 * 10**7  # n is prime and odd, so that every protocol takes it
KINDS = {
    "self-stabilizing": "from any configuration, and the leader stays forever",
    "loosely-stabilizing": "from any configuration, and the leader stays for a while",
    "from a fixed start": "all agents begin equal, and the leader stays forever",
}
BOUNDS = (
    ("x", N, "n states", "self-stabilizing on complete graphs: at least n states, and n known exactly",
     "S. Cai, T. Izumi, K. Wada, How to prove impossibility under global fairness, TOCS 50, 2012"),
    ("y", math.log2(N), "log n time", "every election on complete graphs: Ω(log n) expected parallel time",
     "Y. Sudo, T. Masuzawa, Leader election requires logarithmic time in population protocols, PPL 30, 2020"),
    ("y", N, "n time", "silent and self-stabilizing: Ω(n) expected parallel time, that is Ω(n²) interactions",
     "J. Burman et al., Time-optimal self-stabilizing leader election in population protocols, PODC 2021"),
)  # fmt: skip


def placed() -> tuple[list[str], list[tuple[str, str]]]:
    """The elections that have states and take this n, and the others with the reason."""
    inside, outside = [], []
    for name, kind in CATALOGUE.items():
        if kind.outputs != ("follower", "leader") or kind.shelf == "toolbox":  # a part of a protocol is no election
            continue
        try:
            reason = "its agents have no states that can be counted" if not kind(n=N).fields else ""
        except InvalidInput as error:
            reason = str(error)
        if kind.needs_oracle:
            reason = "it needs an oracle outside the protocol"
        outside.append((name, reason)) if reason else inside.append(name)
    return inside, outside


def kind_of(row: dict) -> str:
    if not CATALOGUE[row["protocol"]].arbitrary_start:
        return "from a fixed start"
    return "self-stabilizing" if row["stays"] == "forever" else "loosely-stabilizing"


def draw(rows: list[dict], place: Path) -> None:
    figure, (axis,) = new_figure(1, width=10, height=7)
    for k, kind in enumerate(KINDS):
        for ring in (False, True):
            mine = [row for row in rows if kind_of(row) == kind and is_ring(row) == ring]
            for number, row in enumerate(mine):
                axis.scatter(
                    [row["states"]], [row["parallel_time"]], s=60, color=COLOURS[k], marker="s" if ring else "o",
                    urls=[f"catalogue/{row['protocol']}.html"], zorder=3, gid=f"dot-{row['protocol']}",
                    label=None if number else f"{kind}{', rings' if ring else ''}",
                )  # fmt: skip
                style = {"xytext": (7, 4)}
                if is_crowded(row, rows):
                    style = {"xytext": (7, -14)} if near_axis(row, rows) else {"xytext": (-7, -14), "ha": "right"}
                written = axis.annotate(
                    row["protocol"], (row["states"], row["parallel_time"]), fontsize=9, textcoords="offset points",
                    color=COLOURS[k], gid=f"name-{row['protocol']}", **style,
                )  # fmt: skip
                written.set_url(f"atlas.html#{kind.replace(' ', '-')}")
    for direction, value, name, _, _ in BOUNDS:
        line = axis.axvline if direction == "x" else axis.axhline
        line(value, color=INK, linestyle="--", linewidth=1, zorder=1)
        at = (value, 0.99) if direction == "x" else (0.995, value)
        how = axis.get_xaxis_transform() if direction == "x" else axis.get_yaxis_transform()
        turned = {"rotation": 90, "va": "top", "ha": "right"} if direction == "x" else {"va": "bottom", "ha": "right"}
        axis.text(*at, name, transform=how, fontsize=9, color=INK, **turned)
    axis.set_xlabel(f"states of one agent at n = {N}")
    axis.set_ylabel("mean parallel time (rounds: rounds) from the slowest start")
    for direction in ("x", "y"):
        logarithmic(axis, direction)
    legend_below(axis, columns=2)
    save(figure, place)
    text = place.read_text(encoding="utf-8").replace('target="_blank"', 'target="_top"')
    write_text(place, text)


def is_crowded(row: dict, rows: list[dict]) -> bool:
    """Whether another dot is close by, to its right: then the name of this one stands elsewhere."""
    for other in rows:
        right = 0 < math.log10(other["states"] / row["states"]) < 2
        if right and abs(math.log10(other["parallel_time"] / row["parallel_time"])) < 0.1:
            return True
    return False


def near_axis(row: dict, rows: list[dict]) -> bool:
    """Whether a name to the left of the dot would cross the axis."""
    least, most = (bound(other["states"] for other in rows) for bound in (min, max))
    return math.log10(row["states"] / least) < 0.1 * math.log10(most / least)


def is_ring(row: dict) -> bool:
    return "ring" in (row["assumes"] or "")


def model_of(row: dict) -> str:
    return CATALOGUE[row["protocol"]].model.name


# What may be asked of a protocol: the choice on the page, and whether a row has it.
FILTERS = {
    "population": lambda row: model_of(row) == "population",
    "rounds": lambda row: model_of(row) == "rounds",
    "any graph or a complete one": lambda row: not is_ring(row),
    "a ring": is_ring,
    "nothing is known": lambda row: not row["assumes"],
    "n need not be known exactly": lambda row: "known exactly" not in (row["assumes"] or ""),
    **{kind: (lambda row, kind=kind: kind_of(row) == kind) for kind in KINDS},
}
SCRIPT = """<script>
(function () {
  const has = %s;
  const picture = document.getElementById("atlas");
  document.getElementById("atlas-filter").addEventListener("change", function (event) {
    const wanted = event.target.value;
    for (const name in has) {
      const shown = !wanted || has[name].includes(wanted);
      const drawn = picture.contentDocument;
      for (const id of ["dot-" + name, "name-" + name]) {
        const part = drawn && drawn.getElementById(id);
        if (part) part.style.display = shown ? "" : "none";
      }
      document.querySelectorAll("table tr").forEach(function (row) {
        const first = row.querySelector("td a");
        if (first && first.textContent === name) row.style.display = shown ? "" : "none";
      });
    }
  });
})();
</script>"""


def filter_of(rows: list[dict]) -> list[str]:
    """A choice that hides what is not asked for, in the picture and in the tables."""
    has = {row["protocol"]: [name for name, test in FILTERS.items() if test(row)] for row in rows}
    choices = "".join(f"<option>{name}</option>" for name in FILTERS)
    choose = f'<select id="atlas-filter"><option value="">all protocols</option>{choices}</select>'
    return [f"<p><label>Show {choose}</label></p>", "", SCRIPT % json.dumps(has, sort_keys=True), ""]


def page(rows: list[dict], failed: list[dict], outside: list[tuple[str, str]]) -> str:
    lines = [
        "# The Atlas",
        "",
        f"Every election of the catalogue whose agents have states, at n = {N}, measured in the same way: {TRIALS}",
        f"trials of each start, the slowest shown, at most {MAX_STEPS:,} steps. `python -m benchmarks.atlas` makes",
        "this page; `hegemon compare` compares any protocols, yours included. A dot leads to its page,",
        "its name to the command that measured it.",
        "",
        '<object id="atlas" data="atlas.svg" type="image/svg+xml" style="width:100%">states against time</object>',
        "",
        *filter_of(rows),
        "Dashed lines are lower bounds, as orders of growth with constant 1:",
        "",
        *(f"- *{name}*: {what} ({reference})." for _, _, name, what, reference in BOUNDS),
        "",
    ]
    columns = ("states", "bits", "start", "mean", "median", "p90", "parallel_time", "holding", "grade", "assumes")
    for kind, meaning in KINDS.items():
        mine = sorted((row for row in rows if kind_of(row) == kind), key=lambda row: row["parallel_time"])
        lines += [f"## {kind[0].upper()}{kind[1:]}", "", f"{meaning[0].upper()}{meaning[1:]}.", ""]
        lines += [f"| protocol | {' | '.join(columns)} |".replace("_", " "), "|" + " --- |" * (len(columns) + 1)]
        for row in mine:
            cells = [shown(row, name).replace("|", "\\|") for name in columns]
            lines.append(f"| [{row['protocol']}](catalogue/{row['protocol']}.md) | {' | '.join(cells)} |")
        names = " ".join(row["protocol"] for row in mine)
        lines += ["", "All of them, or one with its name alone:"]
        command = f"hegemon compare {names} --n {N} --trials {TRIALS} --max-steps {MAX_STEPS}"
        lines += ["", "```sh", command + how_long(command), "```", ""]
    lines += ["## Not placed", ""]
    lines += [f"- [{name}](catalogue/{name}.md): {reason}." for name, reason in outside]
    lines += [f"- [{row['protocol']}](catalogue/{row['protocol']}.md): {row['error']}." for row in failed]
    return "\n".join(lines).rstrip() + "\n"


def how_long(command: str) -> str:
    """The comment with the time that `make manual` measured last; nothing about a command that it has not run."""
    seconds = known_times().get("docs/atlas.md", {}).get(command)
    if seconds is None:
        return ""
    stated = f"{math.ceil(seconds / 10) * 10} s" if seconds <= MINUTE else f"{math.ceil(seconds / MINUTE)} min"
    return f"   # about {stated}"


def main() -> int:
    inside, outside = placed()
    found = hg.compare(*inside, n=N, trials=TRIALS, max_steps=MAX_STEPS, out=KEPT, workers=1)
    write_text(DOCS / "atlas.csv", found.csv())
    draw(found.rows, DOCS / "atlas.svg")
    write_text(DOCS / "atlas.md", page(found.rows, found.failed, outside))
    print(f"{len(found.rows)} protocols placed, {len(outside) + len(found.failed)} not; docs/atlas.md is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
