# make demo | test | lint | docs | wheel | check-wheel | bench | sanitize | sanitize-threads | clean
# Everything runs in .venv, which is made on first use and renewed when the packaging or the
# C++ sources change. Needs only Python 3.10 or newer, a C++ compiler and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NATIVE := $(wildcard CMakeLists.txt) \
    $(shell find native -name '*.[ch]pp' -o -name '*.h' -o -name '*.txt' -o -name '*.cmake' 2>/dev/null)

PYTEST_ARGS ?= -n auto --dist worksteal

ifdef CELLWRIGHT_DATA
export CELLWRIGHT_DATA
endif
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start many processes, each of which would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install demo test lint docs wheel check-wheel bench sanitize sanitize-threads clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      search for a cell, train it beside others: demo/index.html"
	@echo "make test      lint, then all tests"
	@echo "make lint      ruff and mypy"
	@echo "make docs      the documentation as a site: site/index.html"
	@echo "make wheel     sdist and wheel: dist/"
	@echo "make check-wheel  that wheel in a clean environment without a compiler"
	@echo "make bench     the engine against nn.LSTM and a plain loop, on this machine"
	@echo "make sanitize  the C++ core's tests under the address and UB sanitizers"
	@echo "make sanitize-threads  its tests with threads under the thread sanitizer"
	@echo "make clean     remove .venv and everything that was built"

install: $(STAMP)

$(STAMP): Makefile pyproject.toml constraints.txt $(NATIVE)
	@echo "== setting up $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq -c constraints.txt -e ".[dev,search,embeddings,export,sentences,plots,studio,tensorboard,cluster,docs,wheel]"
	@touch $@

demo: $(STAMP)
	@$(BIN)/python examples/demo.py demo

lint: $(STAMP)
	@echo "== ruff"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@echo "== mypy"
	@$(BIN)/mypy

test: lint
	@echo "== pytest"
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

docs: $(STAMP)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# The wheel is built from the sdist, in an environment of its own. On Linux auditwheel says, by what
# the core needs, on which systems it runs, and refuses a wheel without a core.
wheel: $(STAMP)
	@rm -rf dist build/wheel && mkdir -p dist
	@$(BIN)/python -m build --outdir build/wheel .
	@if test "$$(uname)" = Linux; then \
	    PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m auditwheel repair -w dist build/wheel/*.whl; \
	else cp build/wheel/*.whl dist; fi
	@cp build/wheel/*.tar.gz dist
	@ls dist

check-wheel:
	@PYTHON="$(if $(wildcard $(BIN)/python),$(CURDIR)/$(BIN)/python,$(PYTHON))" bash .ci/check_wheel

bench: $(STAMP)
	@$(BIN)/python benchmarks/engine.py

sanitize: $(STAMP)
	@PYTHON=$(CURDIR)/$(BIN)/python bash native/sanitize.sh memory

sanitize-threads: $(STAMP)
	@PYTHON=$(CURDIR)/$(BIN)/python bash native/sanitize.sh threads

clean:
	@rm -rf $(VENV) build dist site demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
