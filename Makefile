# Everything that is done with the project; each target sets up what it needs, also on a fresh machine.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PIP_ROOT_USER_ACTION = ignore
# Compiled modules are kept: without them, each of the programs that the tests start would compile the gateway anew
# (`echelon tools list`: 1.0 s of CPU, 0.7 to 0.8 s with them).
unexport PYTHONDONTWRITEBYTECODE

# An environment is brought up to date when what it is made from has changed: its stamp bears the hash of that.
hash = $(shell cat $(1) | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c 1-16)
VENV := .venv/ready-$(call hash,pyproject.toml constraints.txt)
BENCH := .bench/venv/ready-$(call hash,bench/requirements.txt)

# A simulated phone: adb reaches it, Chromium is its screen (with fonts for emoji and Chinese), mksh in a bubble its shell.
PHONE := adb chromium fonts-noto-color-emoji fonts-droid-fallback bubblewrap mksh

# $(call debian,PACKAGES): install Debian packages, or say that they are missing where that cannot be done.
define debian
dpkg -s $(1) >/dev/null 2>&1 || { \
  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(1); \
  else echo "missing: $(1) (sudo apt-get install $(1)), or what these Debian packages hold" >&2; exit 1; fi; }
endef

# $(call environment,FOLDER): a virtual environment there.
define environment
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=...")'; \
$(PYTHON) -c 'import ensurepip' 2>/dev/null || { $(call debian,python3-venv); }; \
$(PYTHON) -m venv $(1)
endef

.PHONY: help
help: ## Show this list
	@sed -nE 's/^([a-z]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 10

$(VENV):
	@$(call environment,.venv)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[local,ocr,dev]'
	@rm -f .venv/ready-*; touch $@

$(BENCH):
	@$(call environment,.bench/venv)
	.bench/venv/bin/pip install --quiet --requirement bench/requirements.txt
	@rm -f .bench/venv/ready-*; touch $@

.PHONY: setup
setup: $(VENV) ## Make the virtual environment .venv

.PHONY: test
test: $(VENV) ## Run the tests that need no big model
	@$(call debian,$(PHONE))
	$(BIN)/python -m pytest -n 4 --dist worksteal -m "not slow" # more workers than cores: many tests wait for a screen

.PHONY: check
check: $(VENV) ## Lint, formatting, types, and the rules of the house
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/unit/test_house.py

.PHONY: demo
demo: $(VENV) ## Three requests, carried out with a local model
	@$(call debian,python3-doc)
	$(BIN)/python -m bench.demo

.PHONY: eval
eval: $(VENV) ## Carry out the suite evals/turn.yaml with a local model, and judge it
	@$(call debian,python3-doc)
	$(BIN)/echelon eval evals/turn.yaml --folder .bench/eval --yes

.PHONY: bench
bench: $(VENV) $(BENCH) ## Measure against bare litellm, LangGraph, SQLite and raw adb
	@$(call debian,$(PHONE))
	BENCH_PYTHON=.bench/venv/bin/python $(BIN)/python -m bench

.PHONY: miniwob
miniwob: $(VENV) ## Solve MiniWoB's tasks on a simulated phone, with a scripted oracle
	@$(call debian,$(PHONE))
	$(BIN)/python -m bench.miniwob

.PHONY: pins
pins: ## Renew constraints.txt: what a new environment gets today
	@rm -rf .cache/pins; $(call environment,.cache/pins)
	.cache/pins/bin/pip install --quiet '.[local,ocr,dev]'
	{ sed '/^#/!d' constraints.txt; .cache/pins/bin/pip freeze --exclude echelon-gateway; } > .cache/constraints.txt
	mv .cache/constraints.txt constraints.txt

.PHONY: clean
clean: ## Remove what was made here: environments, caches, builds
	rm -rf .venv .bench .demo dist build .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
