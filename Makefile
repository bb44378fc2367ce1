# make demo and make test need only Python 3.11+ and make: they set up .venv themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
BENCH := $(VENV)/installed-bench
# A test file stays on one core: what its tests share is made once. Long files start first.
CORES := --numprocesses=auto --dist=loadfile --no-loadscope-reorder
# Tests start many processes: without bytecode on disk each one compiles every module.
BYTECODE := PYTHONDONTWRITEBYTECODE=
# Two workers have both cores: threads of polars and BLAS inside them only wait. test-all has threads.
ONE_THREAD := POLARS_MAX_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
SCRIPT_TESTS := tests/js/*.test.js

.PHONY: demo test test-all lint docs bench reproduce clean

demo: $(STAMP)  ## the whole chain on a small collection; ends with demo-output/report.html
	$(BIN)/venire demo demo-output

test: $(STAMP) lint scripts  ## lint, types, layers, and the tests that take seconds
	$(BYTECODE) $(ONE_THREAD) $(BIN)/python -m pytest $(CORES)

test-all: $(STAMP) lint scripts  ## the slow tests too
	$(BYTECODE) $(BIN)/python -m pytest $(CORES) -m "slow or not slow"

# Dots only; where a test fails, all of it once more in words.
.PHONY: scripts
scripts:  ## tests of the pages' scripts, where node 20 or newer is installed
	@if node -e 'process.exit(+(parseInt(process.versions.node) < 20))' 2>/dev/null; then \
	node --test --test-reporter=dot $(SCRIPT_TESTS) || node --test --test-reporter=spec $(SCRIPT_TESTS); \
	else echo "Tests of scripts: skipped. Install node 20 or newer to run them."; fi

lint: $(STAMP)
	@$(MAKE) --no-print-directory --jobs=2 types layers

.PHONY: types layers
types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@if [ -d node_modules/typescript ]; then node_modules/.bin/tsc -p tsconfig.json; \
	else echo "Types of scripts: skipped. Run npm install --no-save typescript@5 to check them."; fi

docs: $(STAMP)  ## the documentation in docs/_build/html
	$(BIN)/sphinx-build -n -W -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(BENCH)  ## ours against peers, in one run
	$(BIN)/python benchmarks/aggregation.py
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/service.py
	$(BIN)/python benchmarks/load.py

reproduce: $(STAMP)  ## published tables beside ours, in reproduce/output
	$(BIN)/python reproduce/trec_table.py
	$(BIN)/python reproduce/spam.py
	$(BIN)/python reproduce/ablation.py
	$(BIN)/python reproduce/frontier.py
	$(BIN)/python reproduce/cranfield.py
	$(BIN)/python reproduce/assessors.py

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Venire needs Python 3.11 or newer; say make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (once, some minutes) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

$(BENCH): $(STAMP)
	@echo "installing the peers that only benchmarks need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) docs/_build demo-output reproduce/output benchmarks/output
