# Every target creates and reuses .venv by itself. Python 3.11 or later; a C++ compiler is used where there is one.
PYTHON ?= python3
BIN := .venv/bin
# Start-up time counts here, so compiled Python files are kept even where the environment says not to.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/native/*)

.PHONY: demo test check bench measures format clean

demo: .venv/.installed
	$(BIN)/cranfield demo

test: .venv/.developing
	$(BIN)/python -m pytest -q

check: .venv/.developing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m cranfield.show.catalogue .venv/measures.md
	diff docs/measures.md .venv/measures.md || (echo "docs/measures.md is stale: make measures"; exit 1)
	$(BIN)/python -m tests.differences .venv/differences.md
	diff docs/differences.md .venv/differences.md || (echo "docs/differences.md is stale: make measures"; exit 1)

bench: .venv/.developing
	$(BIN)/python -m compileall -q src
	$(BIN)/python bench/run.py

measures: .venv/.developing
	$(BIN)/python -m cranfield.show.catalogue docs/measures.md
	$(BIN)/python -m tests.differences docs/differences.md

format: .venv/.developing
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.venv/.created:
	$(PYTHON) -m venv .venv
	touch $@

.venv/.installed: .venv/.created $(SOURCES)
	$(PIP) -e .
	touch $@

.venv/.developing: .venv/.installed
	$(PIP) -e '.[test,check]'
	touch $@

clean:
	rm -rf .venv build dist
