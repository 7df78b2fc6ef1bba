# `make check` is what CI runs after it has made a fresh environment. PY is the Python that has ".[dev]" installed.
PY ?= .venv/bin/python

.PHONY: check lint types imports test windows docs validation format

check: lint types imports test

lint:
	$(PY) -m ruff check src tests docs examples
	$(PY) -m ruff format --check src tests docs examples
	$(PY) docs/generate.py --check

types:
	$(PY) -m mypy

imports:
	$(PY) -c "from importlinter.cli import lint_imports_command; lint_imports_command()"

test:
	$(PY) -m pytest -n 2

# Under wine, in a folder that is laid out once (1 GB). On Windows itself: `make test`, or its line.
windows:
	$(PY) .ci/windows.py $(or $(WINDOWS),build/windows)

docs:
	$(PY) docs/generate.py

# Needs ".[test,plot]", and the shared folder for the reference lap.
validation:
	$(PY) docs/validation.py

format:
	$(PY) -m ruff check --fix src tests docs examples
	$(PY) -m ruff format src tests docs examples
