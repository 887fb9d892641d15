"""The files that set up a gate: its settings, and jobs for GitHub's CI."""

from __future__ import annotations

from cranfield.comparison.gating import GATE_TESTS

CONFIG_NAME = "cranfield-gate.toml"
JOB_NAME = ".github/workflows/search-quality.yml"

CONFIG = """\
# Settings of `cranfield gate`. Paths are relative to this file. Options on the command line take precedence.

# The judgments, and the run of the version under test.
qrels = "qrels.txt"
candidate = "candidate.run"

# What it is compared with: the run of the version in use. Keep the run itself, so that it can be measured again when
# the judgments change. An evaluation that was saved with `cranfield evaluate --save` works too, until they do.
baseline = "baseline.run"

measures = ["nDCG@10"]

# If a model judged all queries and people a random sample of them: the model, and who corrects it.
# assessor = "gpt"
# correct_with = "people"

# A measure may drop by this much. A larger drop fails only if it is also significant at alpha, by a one-sided paired
# test: a candidate that is neither better nor worse has a chance of at most alpha to be stopped.
tolerance = 0.01
alpha = 0.05
test = "t"  # or OTHERS

# Fail if no measure is significantly better.
require_improvement = false

# Fail if more queries than this got worse, by however little. Remove the line to allow any number.
# max_worse_queries = 20

# Fail below these values, significant or not.
# [minimum]
# "nDCG@10" = 0.4
""".replace("OTHERS", ", ".join(f'"{name}"' for name in GATE_TESTS if name != "t"))

_INSTALLING = """\
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: python -m pip install "${CRANFIELD:?name in this file where cranfield is installed from}"
"""

JOB = """\
name: search quality
on:
  pull_request:

env:
  # What pip installs. cranfield is not on PyPI yet: name the repository or the wheel that you have it from, such as
  # git+https://git.example.com/you/cranfield, or ./wheels/cranfield-VERSION-py3-none-any.whl in this repository.
  CRANFIELD: ""

jobs:
  # Compares the run of the version under test with that of the version in use, as cranfield-gate.toml says.
  gate:
    runs-on: ubuntu-latest
    steps:
INSTALLING
      # Replace this with the command that makes the run of the version under test.
      - run: ./make-run > candidate.run
      - run: cranfield gate --config cranfield-gate.toml --format markdown >> "$GITHUB_STEP_SUMMARY"

  # The system itself, as described in cranfield.toml: it is asked every query and compared with the accepted result.
  # Remove the job that you do not need.
  test:
    runs-on: ubuntu-latest
    steps:
INSTALLING
      # Start your system here, if cranfield.toml asks a server.
      - run: cranfield test
""".replace("INSTALLING\n", _INSTALLING)
