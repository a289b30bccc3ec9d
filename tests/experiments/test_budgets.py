"""A budget of messages, and what is measured of elections."""

import math

import pytest

from hegemon import Referees, run_trials
from hegemon.analysis.statistics import sublinear_scale, summarize_runs, wilson
from hegemon.experiments.budgets import budget_points, draw_budget


def test_the_scale_of_theorem_1():
    assert sublinear_scale(100) == pytest.approx(10 * math.log(100) ** 1.5)


def test_wilson_s_ends_are_exact():
    assert wilson(0, 50)[0] == 0.0 and wilson(50, 50)[1] == 1.0


def test_the_summary_of_elections():
    runs = run_trials(Referees(n=6, referees=2), 300, seed=1).runs
    summary = summarize_runs(runs)
    reached = sum(run.leaders == 1 for run in runs)
    assert summary["success_rate"] == reached / 300
    assert summary["success_rate_ci95"] == list(wilson(reached, 300))
    assert sum(summary["causes"].values()) == 300 - reached
    total = sum(run.measures["messages"] for run in runs)
    assert summary["messages"]["mean"] == pytest.approx(total / 300)
    assert summary["messages_per_scale"] == pytest.approx(total / 300 / sublinear_scale(6))


def test_a_small_budget_makes_disjoint_clouds_and_several_leaders():
    poor, rich = list(budget_points(10_000, [0.3, 1.2], trials=60, seed=1))
    assert poor["success_rate"] == 0 and poor["leaders"] > 5
    assert rich["success_rate"] == 1 and rich["disjoint"] == 0
    assert poor["within_budget"] == rich["within_budget"] == 1
    lonely, usual = list(budget_points(10_000, [0.4, 0.5], trials=300, seed=2, candidates=1))
    for row in (lonely, usual):
        assert row["success_rate_ci95"][0] < math.exp(-1) < row["success_rate_ci95"][1]
        assert row["disjoint"] > 0.9 and row["messages"] <= row["budget"]


def test_pictures_of_budgets_and_elections(tmp_path):
    draw_budget(list(budget_points(1000, [0.3, 0.6], trials=5)), tmp_path / "budget.png")
    run_trials(Referees(n=50), 5).plot().save(tmp_path / "elections.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["budget.png", "elections.png"]
