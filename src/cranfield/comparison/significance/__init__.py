"""The significance tests, one file each: is a difference more than chance would give?

Every test takes columns of paired differences, one row for each query and one column for each pair of runs. It says
for each column in which direction it points and how likely that is by chance, and gives the interval that belongs to
it: the interval excludes 0 exactly where the test rejects. Scipy is imported when a test is called.
"""

from __future__ import annotations

from cranfield.comparison.significance.bootstrap import BOOTSTRAP
from cranfield.comparison.significance.randomisation import RANDOMISATION
from cranfield.comparison.significance.sign import SIGN
from cranfield.comparison.significance.student import STUDENT
from cranfield.comparison.significance.test import Outcome, Settings, Test, hedges
from cranfield.comparison.significance.tukey import TUKEY
from cranfield.comparison.significance.wilcoxon import WILCOXON

TESTS: dict[str, Test] = {test.name: test for test in (STUDENT, RANDOMISATION, BOOTSTRAP, WILCOXON, SIGN, TUKEY)}

__all__ = ["TESTS", "Outcome", "Settings", "Test", "hedges"]
