# Every target creates and reuses .venv by itself. Python 3.11 or later; a C++ compiler is used where there is one.
PYTHON ?= python3
BIN := .venv/bin
# Start-up time counts here, so compiled Python files are kept even where the environment says not to.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/native/*)

.PHONY: demo test quick thorough check ci sanitize bench docs pages figures format clean

demo: .venv/.installed
	$(BIN)/cranfield demo

# On all cores, with a quarter of the random examples, which differ from run to run; plain `pytest` tries all, on one
# core. One worker more than there are cores, since some wait for a browser, a server or Spark.
PARALLEL = --workers $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
test: .venv/.developing
	$(BIN)/python -m pytest -q $(PARALLEL) --examples 0.25

# While working: about two minutes, without what takes long, and with a tenth of the random examples.
quick: .venv/.developing
	$(BIN)/python -m pytest -q $(PARALLEL) --quick --examples 0.1

# Before a release, or at night: ten times the random examples.
thorough: .venv/.developing
	$(BIN)/python -m pytest -q $(PARALLEL) --examples 10

check: .venv/.developing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	rm -rf .venv/pages
	$(MAKE) --silent pages PAGES=.venv/pages
	(cd .venv/pages && find . -type f) | while read page; do diff docs/$$page .venv/pages/$$page || exit 1; done || (echo "a page in docs is stale: make pages"; exit 1)

# What must pass before a change is merged; .ci/run prepares a machine and calls this, also on GitHub.
ci:
	$(MAKE) --jobs=2 --output-sync=target check docs build/sanitized/.built
	$(MAKE) test
	$(MAKE) sanitize INPUTS=30000
	$(MAKE) demo

# The native part with sanitizers in it against its twin, on random and damaged input.
INPUTS ?= 1000000
sanitize: build/sanitized/.built
	LD_PRELOAD="$(call library,asan) $(call library,stdc++)" PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 \
	  UBSAN_OPTIONS=print_stacktrace=1 \
	  $(BIN)/python -m tests.fuzz --native build/sanitized/objects --inputs $(INPUTS) $(FUZZ)

library = $(shell $(CXX) -print-file-name=lib$(1).so)
build/sanitized/.built: .venv/.developing $(SOURCES)
	@test -e "$(call library,asan)" || (echo "make sanitize needs GCC with its sanitizers (libasan, libubsan)"; exit 1)
	rm -f build/sanitized/objects/_native*
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/sanitized \
	  --config-settings=build-dir=build/sanitized/objects --config-settings=cmake.define.CRANFIELD_SANITIZE=ON .
	touch $@

bench: .venv/.developing
	$(BIN)/python -m compileall -q src
	$(BIN)/python bench/run.py

# The site, in build/docs: any static server can serve it, and a browser can open its files as they are.
docs: .venv/.documenting
	$(BIN)/python -m zensical build --strict --clean
	@echo "build/docs/index.html"

# The pages that are written from the code, and from what `make bench` has recorded.
PAGES ?= docs
pages: .venv/.developing
	mkdir -p $(PAGES)
	$(BIN)/python docs/site/measures.py $(PAGES)
	$(BIN)/python -m docs.site.differences $(PAGES)/differences.md
	$(BIN)/python -m docs.site.claims $(PAGES)/claims.md
	$(BIN)/python docs/site/trec_eval.py $(PAGES)/trec_eval.md
	$(BIN)/python docs/site/commands.py $(PAGES)/command-line.md
	$(BIN)/python docs/site/api.py $(PAGES)
	$(BIN)/python docs/site/benchmarks.py $(PAGES)/benchmarks.md
	$(BIN)/python -m docs.site.tables $(PAGES)
	$(BIN)/python -m docs.site.schemas $(PAGES)
	mkdir -p $(PAGES)/site
	$(BIN)/python docs/site/colours.py $(PAGES)/site/colours.css

# The figures of docs/learn, and the pictures of pages.
figures: .venv/.developing
	$(BIN)/python docs/figures.py
	$(BIN)/python -m docs.site.judge_picture
	$(BIN)/python -m docs.site.pictures

format: .venv/.developing
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.venv/.created:
	$(PYTHON) -m venv .venv
	touch $@

# Each of these builds the native part, so whichever comes first installs all that it needs.
.venv/.installed: .venv/.created $(SOURCES)
	$(PIP) -e '.[judge]'
	touch $@

# With PyTorch, which is large, in addition: make EXTRAS=test,check,test-torch test
EXTRAS ?= test,check
.venv/.developing: .venv/.created $(SOURCES)
	$(PIP) -e '.[judge,$(EXTRAS)]'
	touch .venv/.installed $@

.venv/.documenting: .venv/.created $(SOURCES)
	$(PIP) -e '.[judge,docs]'
	touch .venv/.installed $@

clean:
	rm -rf .venv build dist
