# Needs Python 3.11 or newer and make; everything else is installed into .venv/.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export OPENBLAS_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test types lint format dist frameworks docs accuracy clean

help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rl-diagnose needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

demo: $(VENV)/.installed ## Install into .venv and diagnose the failed run in examples/
	$(BIN)/rl-diagnose examples/collapsed-ppo

test: $(VENV)/.installed-dev ## Install into .venv and run the tests
	$(BIN)/python -m pytest -n auto

types: $(VENV)/.installed-dev ## Check the types (mypy --strict)
	rm -rf build
	$(BIN)/python -m pip install --quiet --no-deps --target build/types .
	$(BIN)/python -m mypy --strict engine adapters tests benchmarks

lint: $(VENV)/.installed-dev ## Check style (ruff)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

format: $(VENV)/.installed-dev ## Rewrite the code in the house style
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

dist: $(VENV)/.installed-dev ## Build sdist and wheel, install the wheel in a clean environment and run it
	$(BIN)/python tests/packaging/check_wheel.py

frameworks: $(VENV)/.installed-dev ## Train tiny agents with SB3, Tianshou and RLlib and compare the adapters with them
	$(PYTHON) -m venv .venv-frameworks
	.venv-frameworks/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	.venv-frameworks/bin/python -m pip install --quiet --editable . --group test --group frameworks
	.venv-frameworks/bin/python -m pytest tests/frameworks

docs: $(VENV)/.installed-dev ## Build the site of the docs into build/site (warnings are errors)
	$(BIN)/python -m pip install --quiet --group docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

accuracy: $(VENV)/.installed-dev ## Score the verdicts on a labelled corpus (CORPUS=dir)
	$(BIN)/python benchmarks/accuracy.py --corpus $(CORPUS)

clean: ## Remove what was built (not .venv)
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
