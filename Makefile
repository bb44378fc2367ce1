# make demo and make test need only Python 3.11+ and make: they set up .venv themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
BENCH := $(VENV)/installed-bench
# A test file stays on one core: what its tests share is made once. Long files start first.
CORES := --numprocesses=auto --dist=loadfile --no-loadscope-reorder

.PHONY: demo test test-all lint docs bench reproduce clean

demo: $(STAMP)  ## the whole chain on a small collection; ends with demo-output/report.html
	$(BIN)/venire demo demo-output

test: $(STAMP) lint  ## lint, types, layers, and the tests that take seconds
	$(BIN)/python -m pytest $(CORES)

test-all: $(STAMP) lint  ## the slow tests too
	$(BIN)/python -m pytest $(CORES) -m "slow or not slow"

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
	else echo "scripts are not type-checked: npm install --no-save typescript@5 makes make lint check them"; fi

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
