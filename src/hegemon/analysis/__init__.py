"""The analysis of runs: statistics and pictures."""
