"""Experiments of many runs: studies, comparisons, worst starts, holding times."""
