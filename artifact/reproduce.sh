#!/bin/sh
# Every claim, offline: ./reproduce.sh [quick|full] [RESULTS]. Exit code 0: all verdicts are as expected.
# Interrupt it and give the same command again: it goes on from what is finished.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
scale=${1:-quick}
results=${2:-results-$scale}
hegemon reproduce "--$scale" --out "$results" || test $? -eq 1  # 1: a claim is violated, as some are expected to be
python3 "$here/check.py" "$results"
