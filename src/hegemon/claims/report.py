"""`report.html`: one file that works offline and is read from the top."""

import platform
import re
import shlex
from collections.abc import Callable, Sequence
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

from hegemon.claims.checks import CONFIDENCE
from hegemon.claims.coverage import GRADES, MEANING, about, counts
from hegemon.claims.errata.listing import OPENING, errata
from hegemon.claims.family import LEVEL, by_chance, judged_records
from hegemon.claims.formulas import in_text, mathml
from hegemon.claims.plots import picture
from hegemon.claims.registry import (
    HOLDS,
    UNDECIDED,
    VIOLATED,
    Check,
    Outcome,
    all_claims,
    outcome_of,
    tally,
    weakest,
)
from hegemon.files import write_text

BOLD = re.compile(r"\*\*(.+?)\*\*")
MARKS = {HOLDS: ("holds", "✓"), VIOLATED: ("violated", "✗"), UNDECIDED: ("open", "?")}

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.55 Georgia, 'Times New Roman', serif; color: #222; background: #fdfdfb; margin: 0; }
main { max-width: 1080px; margin: 0 auto; padding: 2.2rem 1.6rem 5rem; }
h1 { font-size: 2.1rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.35rem; margin: 3.2rem 0 .2rem; padding-top: .8rem; border-top: 2px solid #222; }
h2 + p.reference { margin-top: 0; }
h3 { font-size: 1.12rem; margin: 2.4rem 0 .3rem; }
p { margin: .5rem 0; max-width: 46rem; }
p.reference, .small { color: #666; font-size: .88rem; }
table { border-collapse: collapse; font: 13.5px/1.4 system-ui, 'Segoe UI', sans-serif; margin: .8rem 0; width: 100%; }
th { text-align: left; font-weight: 600; border-bottom: 1.5px solid #222; padding: .3rem .6rem .3rem 0; }
td { border-bottom: 1px solid #e4e2da; padding: .32rem .6rem .32rem 0; vertical-align: top; }
td.id, code { font: 12.5px/1.4 ui-monospace, 'DejaVu Sans Mono', monospace; }
td a { color: inherit; }
.mark { font-weight: 600; } td:first-child .mark { display: inline-block; max-width: 8rem; }
.mark.holds, .mark.violated { white-space: nowrap; }
.holds { color: #1f7a3f; } .violated { color: #b3202c; } .open { color: #946200; }
.tally { font: 600 17px/1.5 system-ui, sans-serif; margin: 1rem 0; }
nav ul { padding-left: 1.2rem; line-height: 1.9; } nav a { color: #0b4f8a; }
.pill { font: 600 12.5px/1 system-ui, sans-serif; padding: .22rem .5rem; border-radius: .8rem; margin-left: .5rem;
        vertical-align: .12em; border: 1px solid currentColor; }
.plots { display: flex; flex-wrap: wrap; gap: .6rem 1.4rem; margin: .8rem 0; }
figure { margin: 0; flex: 1 1 330px; max-width: 520px; } img { width: 100%; height: auto; display: block; }
.wide { overflow-x: auto; }
details { margin: .4rem 0; font: 13.5px/1.4 system-ui, sans-serif; } summary { cursor: pointer; color: #555; }
code { background: #f1f0ea; padding: .1rem .3rem; border-radius: 3px; overflow-wrap: anywhere; }
@media (max-width: 700px) {
  main { padding: 1.2rem .9rem 3rem; } h1 { font-size: 1.5rem; } .pill { display: inline-block; margin: .3rem 0 0; }
  .cards thead { display: none; } .cards, .cards tbody, .cards tr, .cards td { display: block; }
  .cards tr { border: 1px solid #d8d5ca; border-radius: 6px; margin: .6rem 0; padding: .5rem .7rem; }
  .cards td { border: 0; padding: .12rem 0; overflow-wrap: anywhere; } td:first-child .mark { max-width: none; }
  .cards td + td::before { content: attr(data-name) ": "; color: #666; font-size: .82rem; }
}
"""


def write_report(records: list[dict[str, Any]], scale: str, seed: int, seconds: float, path: str | Path) -> None:
    write_text(Path(path), page(judged_records(records), scale, seed, seconds))


def draw_ahead(record: dict[str, Any]) -> None:
    """Draw the pictures of one claim while others are still being measured."""
    for plot in outcome_of(record).plots:
        picture(plot)


def page(records: list[dict[str, Any]], scale: str, seed: int, seconds: float) -> str:
    papers = {r["paper"]: [other for other in records if other["paper"] == r["paper"]] for r in records}
    body = [
        opening(records, scale, seed, seconds),
        contents(papers),
        overview(records),
        *(chapter(paper, chosen, scale, seed) for paper, chosen in papers.items()),
        errata_chapter(papers),
        coverage_chapter(records) if not records[0]["file"] else "",
        reading(records),
    ]
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>Leader election: the claims, measured</title><style>{STYLE}</style></head>\n"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def opening(records: list[dict[str, Any]], scale: str, seed: int, seconds: float) -> str:
    checks = sum(len(record["checks"]) for record in records)
    rows = sum(record["rows"] for record in records)
    where = f"{platform.machine()}, Python {platform.python_version()}"
    papers = len({r["paper"] for r in records})
    names = [name(record) for record in records]
    file = records[0]["file"]
    chosen = "" if set(names) == set(all_claims()) or file else f" --only {escape(','.join(names))}"
    title = records[0]["reference"] if file else "Leader election in anonymous networks"
    return (
        f"<h1>{escape(title)}: the claims, measured</h1>"
        f"<p>{number_of(len(records), 'statement')} from {number_of(papers, 'paper')}, put to the test on "
        f"this machine by {number_of(checks, 'check')} over {number_of(rows, 'row')} of raw data. Exact results where "
        "instances are small enough to enumerate; elsewhere simulation of the exact process, with intervals.</p>"
        f"<p class='tally'>{escape(tally([record['verdict'] for record in records]))}</p>"
        f"<p class='small'>Scale <b>{escape(scale)}</b>, seed {seed}, {seconds:,.0f} s of work, {date.today()}, "
        f"{escape(where)}. Made by <code>{command(records[0])} --{escape(scale)}{chosen} --seed {seed}</code>.</p>"
    )


def number_of(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def contents(papers: dict[str, list[dict[str, Any]]]) -> str:
    """The table of contents: the papers with their claims, and how to read the page."""
    lines = "".join(
        f"<li><a href='#paper-{paper}'>{escape(paper)}</a>: "
        + ", ".join(f"<a href='#{name(r)}'>{escape(r['place'])}</a> {sign_of(r['verdict'])}" for r in records)
        + "</li>"
        for paper, records in papers.items()
    )
    wrong = any(one.paper in papers for one in errata())
    errors = "<li><a href='#errata'>Errata</a></li>" if wrong else ""
    own = any(record["file"] for records in papers.values() for record in records)
    coverage = "" if own else "<li><a href='#coverage'>Every statement, and how it is tested</a></li>"
    return (
        "<nav><h2 id='contents'>Contents</h2><ul><li><a href='#overview'>All claims at a glance</a></li>"
        f"{lines}{errors}{coverage}"
        "<li><a href='#reading'>How to read this</a></li></ul></nav>"
    )


def overview(records: list[dict[str, Any]]) -> str:
    rows = [
        [
            mark(r["verdict"]),
            f"<a href='#{name(r)}'>{name(r)}</a>",
            *map(escape, (r["place"], r["title"], r["headline"])),
        ]
        for r in records
    ]
    return "<h2 id='overview'>All claims at a glance</h2>" + cards(
        ("verdict", "claim", "where", "what is claimed", "what was measured"), rows
    )


def coverage_chapter(records: list[dict[str, Any]]) -> str:
    """Every statement of these papers, how it is tested here, and how many have which grade."""
    claims, names = all_claims(), {name(record) for record in records}
    chosen = about(claims[one] for one in names if one in claims)
    verdict = {name(record): record["verdict"] for record in records}
    rows = []
    for one in chosen:
        found = [verdict[claim] for claim in one.claims if claim in verdict]
        links = [f"<a href='#{c}'>{c}</a> {sign_of(verdict[c])}" if c in verdict else c for c in one.claims]
        cells = map(escape, (one.paper, one.place, one.grade))
        judged = mark(weakest(found)) if found else "–"
        rows.append([judged, *cells, "<br>".join(links) or "–", escape(one.says), escape(one.note)])
    summary = [
        [paper, f"{sum(row.values())}", *(f"{row[grade]}" for grade in GRADES)] for paper, row in counts(chosen).items()
    ]
    meaning = "; ".join(f"<b>{grade}</b>: {escape(text)}" for grade, text in MEANING.items())
    return (
        f"<h2 id='coverage'>Every statement, and how it is tested</h2><p>{meaning}.</p>"
        + table("Statements of each paper, by grade", ("paper", "statements", *GRADES), summary)
        + cards(
            ("verdict", "paper", "where", "grade", "claims", "what is stated", "of what the test falls short"), rows
        )
    )


def errata_chapter(papers: dict[str, list[dict[str, Any]]]) -> str:
    """The errata of the papers of this report, as on the manual's page."""
    sections = []
    for one in errata():
        if one.paper not in papers:
            continue
        texts = []
        for heading, text in one.parts:
            texts.append(f"<p><b>{escape(heading)}</b> {_typeset(text)}</p>")
            if text == one.fails and one.shown:
                texts.append(table(one.shown.title, one.shown.columns, one.shown.rows, _typeset))
        replay = "".join(f"<p class='small'><code>{escape(command)}</code></p>" for command in one.commands)
        sections.append(
            f"<h3 id='erratum-{one.claims[0]}'>{escape(one.title)}</h3>"
            f"<p class='reference'>{escape(one.paper)}, {escape(one.place)}. Read: {escape(one.source.line)}</p>"
        )
        sections += [*texts, replay]
    return f"<h2 id='errata'>Errata</h2><p>{_typeset(OPENING)}</p>{''.join(sections)}" if sections else ""


def _typeset(text: str) -> str:
    """Text in which `…` is code, **…** is bold, and formulas are MathML."""
    return in_text(text, _with_code, mathml)


def _with_code(text: str) -> str:
    pieces = text.split("`")
    return "".join(
        f"<code>{escape(one)}</code>" if k % 2 else BOLD.sub(r"<b>\1</b>", escape(one)) for k, one in enumerate(pieces)
    )


def chapter(paper: str, records: list[dict[str, Any]], scale: str, seed: int) -> str:
    sections = "".join(section(record, scale, seed) for record in records)
    reference = escape(records[0]["reference"])
    return f"<h2 id='paper-{paper}'>{escape(paper)}</h2><p class='reference'>{reference}</p>{sections}"


def section(record: dict[str, Any], scale: str, seed: int) -> str:
    outcome = outcome_of(record)
    kind, _ = MARKS[record["verdict"]]
    verdict = f"<span class='pill {kind}'>{sign_of(record['verdict'])} {escape(record['verdict'])}</span>"
    wrong = "" if record["file"] else next((one.title for one in errata() if name(record) in one.claims), "")
    again = f"{command(record)} --{scale} --only {name(record)} --seed {seed}"
    figures = "".join(
        f"<figure><img alt='{escape(plot.title)}' src='{picture(plot)}'></figure>" for plot in outcome.plots
    )
    parts = [
        f"<h3 id='{name(record)}'>{escape(record['place'])}: {escape(record['title'])} {verdict}</h3>",
        f"<p>{escape(record['statement'])}</p>" if record["statement"] != record["title"] else "",
        f"<div class='plots'>{figures}</div>" if figures else "",
        checks_table(outcome),
        *(table(one.title, one.columns, one.rows) for one in outcome.tables),
        f"<p>{escape(outcome.notes)}</p>" if outcome.notes else "",
        (
            f"<p>Erratum: <a href='#erratum-{name(record)}'>{escape(wrong)}</a>. As a page for the authors: "
            f"<code>hegemon reproduce --note {name(record)}</code></p>"
            if wrong
            else ""
        ),
        (
            f"<p class='small'>{number_of(record['rows'], 'row')} in <code>data/{name(record)}.csv</code>, "
            f"{record['seconds']:,.0f} s. Made by <code>{escape(again)}</code>. <a href='#contents'>Contents</a></p>"
        ),
    ]
    return "".join(parts)


def checks_table(outcome: Outcome) -> str:
    rows = [
        [mark(c.verdict), *map(escape, (c.what, c.claimed, c.measured, p_value(c)))] for c in outcome.checks
    ]  # fmt: skip
    return cards(("verdict", "check", "claimed", "measured", "corrected p"), rows)


def p_value(check: Check) -> str:
    if check.corrected is None:
        return "no chance in it"
    return "< 0.0001" if check.corrected < 1e-4 else f"{check.corrected:.2g}"


def cards(columns: Sequence[str], rows: list[list[str]]) -> str:
    """A table with the verdict first; on a narrow screen every row is a card of its own, and nothing is truncated."""
    heads = "".join(f"<th>{column}</th>" for column in columns)
    lines = "".join(
        "<tr>" + "".join(f"<td data-name='{c}'>{cell}</td>" for c, cell in zip(columns, row, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<table class='cards'><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def table(title: str, columns: Sequence[str], rows: list[list[str]], html: Callable[[str], str] = escape) -> str:
    heads = "".join(f"<th>{html(column)}</th>" for column in columns)
    lines = "".join("<tr>" + "".join(f"<td>{html(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<details open><summary>{html(title)}</summary><div class='wide'><table><thead><tr>{heads}</tr></thead>"
        f"<tbody>{lines}</tbody></table></div></details>"
    )


def reading(records: list[dict[str, Any]]) -> str:
    return (
        "<h2 id='reading'>How to read this</h2>"
        "<p>A check <b>holds</b> when the data would be too unlikely if its statement were false, is <b>violated</b> "
        "when they would be too unlikely if it were true, and is otherwise <b>not decided by this data</b>. A claim "
        "holds when all its checks do.</p>"
        f"<p>Chance has a part in {by_chance(records)} of the checks, and they are judged as one family: their "
        "p-values are corrected by Holm's method, once for those against the statements and once for those in "
        f"support. So the probability that this page calls any true statement violated is at most {LEVEL:.0%}, and "
        f"so is the probability that it says of any false one that it holds. The intervals in brackets are at "
        f"{CONFIDENCE:.0%} each, by themselves, for reading: Student's on the scale of logarithms for means, Clopper "
        "and Pearson's for proportions; where the number of trials was not fixed beforehand, a confidence sequence, "
        "which stays valid whenever one stops. Means assume a finite variance and enough trials for their mean to "
        "be close to normal; proportions assume nothing. Statements about every case, checked on many, hold when no "
        "case failed: no p-value is meant.</p>"
        "<p>A law such as O(n log n) is about all n, and no measurement can prove it. What is measured is the place "
        "of the means between the claimed law (0) and its nearest rival (1): fit mean = c · law^(1−s) · rival^s over "
        "the sizes, and look where s lies. Below ½ the data are consistent with the law over this range. Trials that "
        "were stopped at the limit count with the time that they lasted at least; such data never speak for a law.</p>"
        "<p>Statements about every configuration are checked on every configuration where n is small, and from the "
        "slowest starts known elsewhere. Every measurement has its own seed, derived from the one above and listed "
        "in the data. What a claim does not test is said below its checks.</p>"
    )


def sign_of(verdict: str) -> str:
    return MARKS[verdict][1]


def mark(verdict: str) -> str:
    kind, sign = MARKS[verdict]
    return f"<span class='mark {kind}'>{sign} {escape(verdict)}</span>"


def command(record: dict[str, Any]) -> str:
    return " ".join(["hegemon reproduce", *([shlex.quote(record["file"])] if record["file"] else [])])


def name(record: dict[str, Any]) -> str:
    return record["identity"]["id"]
