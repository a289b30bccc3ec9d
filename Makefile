PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

PRERELEASE := build/prerelease
NUMBA ?= numba llvmlite

.PHONY: manual demo artifact test test-core lint types suite test-full indices stock prerelease coverage guard docs figures bench clean chromium

# pip would compile all bytecode by itself, mostly of modules that nobody loads: Python does it where they are used.
# "no" is how pip reads the variable: compile? no.
export PIP_NO_COMPILE := no
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
export PYTHONDONTWRITEBYTECODE :=

$(VENV)/pyvenv.cfg:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hegemon needs Python 3.11 or newer: set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/pyvenv.cfg pyproject.toml
	$(PIP) -e .
	touch $@

$(VENV)/installed-%: $(VENV)/pyvenv.cfg pyproject.toml
	$(PIP) -e '.[$*]'
	touch $@

demo: $(VENV)/installed  # exit code 1 of reproduce says that a claim is violated: a finding, not a failure
	$(BIN)/hegemon reproduce --quick || test $$? -eq 1

artifact: $(VENV)/installed  # build/hegemon-artifact.tar.gz: source, container file, script, expected verdicts, checksums
	$(BIN)/hegemon reproduce --quick --out build/reproduction || test $$? -eq 1
	$(BIN)/python artifact/make.py build/reproduction build/hegemon-artifact

chromium:  # the tests of the page drive one; without it they are skipped, all others run
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	  && { apt-get -qq update && apt-get -qq install -y chromium; } >/dev/null 2>&1; } \
	  || echo "no Chromium here, and none could be installed: the tests of the page are skipped (apt-get install chromium)"

test:  # side by side: Chromium comes while pip installs, and the type checker reads while the tests wait
	$(MAKE) --no-print-directory --jobs=3 lint types suite

lint: $(VENV)/installed-test
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks

types: $(VENV)/installed-test
	$(BIN)/mypy

# A third of the suite's time was LLVM's: here it optimizes less and keeps its files apart, so that nobody else loads
# them. `make test-full` compiles as users do, and finds the same golden numbers.
suite stock indices: export NUMBA_OPT = 1
suite test-core: export NUMBA_CACHE_DIR = $(abspath $(VENV))/kernels-of-tests
stock: export NUMBA_CACHE_DIR = $(abspath $(VENV))/kernels-of-stock
indices: export NUMBA_CACHE_DIR = $(abspath $(VENV))/kernels-of-indices
suite: $(VENV)/installed-test chromium lint
	$(BIN)/python -m pytest -m 'not full' --durations=25 --durations-min=3  # the slowest are listed: eight minutes for all

CORE := compute graphs language models process engines runs golden
test-core: $(VENV)/installed-test  # three minutes: what a change of an engine or of the language can break at once
	$(BIN)/python -m pytest -m 'not full' $(wildcard $(addprefix tests/,$(CORE))) tests/test_layers.py

test-full: $(VENV)/installed-test $(VENV)/installed-docs chromium
	$(BIN)/python -m pytest
	$(MAKE) --no-print-directory indices stock

# Every way to reach into a run, churn included, with kernels that compare each index with a length.
REACHING_IN := engines/test_interventions engines/test_loading engines/test_splits engines/population runs/test_rates \
  runs/test_bursts runs/test_halting runs/test_checkpoint
indices: $(VENV)/installed-test
	HEGEMON_CHECK_INDICES=1 $(BIN)/python -m pytest -m 'not full' $(foreach file,$(REACHING_IN),$(wildcard tests/$(file) tests/$(file).py))

stock: $(VENV)/installed-test chromium  # the ordinary suite without any shortcut at the border to Numba
	HEGEMON_STOCK_NUMBA=1 $(BIN)/python -m pytest -m 'not full'

prerelease: $(VENV)/installed-test chromium  # on the newest pre-release of Numba, or on NUMBA=numba==0.68.1rc2
	rm -rf $(PRERELEASE)
	$(PIP) --upgrade --pre --target $(PRERELEASE) $(NUMBA)
	PYTHONPATH=$(PRERELEASE) $(BIN)/python -c 'import numba; print("Numba", numba.__version__)'
	PYTHONPATH=$(PRERELEASE) $(BIN)/python -m pytest -m 'not full'

coverage: $(VENV)/installed-coverage chromium  # branch coverage of everything but kernels, which are compiled
	$(BIN)/python -m pytest -m 'not full' --cov --cov-report=term --cov-report=html:build/coverage

docs: $(VENV)/installed-docs  # build/site: every page, every link and every picture checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

guard: $(VENV)/installed-test  # a minute: fails when an engine lost more than half of its speed
	$(BIN)/python -m benchmarks.guard

manual: $(VENV)/installed-test  # every command of README and docs is run; outputs, pictures, times and notebooks are written
	$(BIN)/python -m benchmarks.manual
	$(BIN)/python -m benchmarks.notebooks

figures: $(VENV)/installed-test  # the figures of the manual that are older than the code they measure
	$(BIN)/python -m benchmarks.figures

bench: $(VENV)/installed-test
	$(BIN)/python -m benchmarks.start
	$(BIN)/python -m benchmarks.rows
	$(BIN)/python -m benchmarks.agents
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.messages
	$(BIN)/python -m benchmarks.verify
	$(BIN)/python -m benchmarks.storm
	$(BIN)/python -m benchmarks.trains
	$(BIN)/python -m benchmarks.sweeps
	$(BIN)/python -m benchmarks.network

clean:
	rm -rf $(VENV) $(VENV)-peers
