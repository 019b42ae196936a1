# Every target makes its environment by itself; a fresh machine needs Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test fuzz warm lint types format docs bench agreement table1 clean

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

$(VENV)/.demo: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[plots]'
	touch $@

$(VENV)/.docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

demo: $(VENV)/.demo  ## cluster embedded data, print a table, write demo/maylink.png
	$(BIN)/python -m maylink.experiments.demo

test: $(STAMP) warm  ## all tests and the examples in the docstrings
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

MINUTES ?= 5
SEED ?= 0
fuzz: $(STAMP) warm  ## odd data, links, files and commands for MINUTES; prints seeds of what fails
	PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(MINUTES) --seed $(SEED)

warm: $(STAMP)  ## compiles the kernels once, so that no test process has to
	$(BIN)/python -c "import maylink; maylink.warmup()"

lint: $(STAMP)  ## style, and imports that point down
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(STAMP)  ## mypy, strict on the package
	$(BIN)/mypy

format: $(STAMP)  ## mends what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs  ## runs the examples of all pages, builds docs/_build/html/index.html
	MAYLINK_SLOW=1 $(BIN)/python -m pytest -q -n auto tests/test_docs.py tests/cli/test_docs_of_commands.py
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(STAMP)  ## prints the tables of benchmarks/RESULTS.md
	$(BIN)/python benchmarks/run.py

agreement: $(STAMP)  ## baselines beside another program's, which is installed apart
	MAYLINK_PEER=$$($(BIN)/python benchmarks/peers.py active-semi-supervised-clustering) \
	$(BIN)/python -m pytest -q tests/baselines -k agrees -W ignore

table1: $(STAMP)  ## Table 1 of the paper, 20 trials a cell, beside the printed figures
	$(BIN)/python -m maylink.experiments table1 --protocol published --full

clean:
	rm -rf $(VENV) docs/_build docs/api docs/examples demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
