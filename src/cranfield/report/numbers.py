"""Numbers as the page prints them: three decimals, a true minus sign, and 0 only for a real 0."""

from __future__ import annotations

from cranfield.comparison import differences
from cranfield.comparison.significance import SAME

DIGITS = 3


def rounded(value: float) -> str:
    """A value with three decimals.

    >>> rounded(0.47216), rounded(-0.5), rounded(-0.0001)
    ('0.472', '−0.500', '0.000')
    """
    text = f"{value:.{DIGITS}f}"
    return f"{abs(float(text)):.{DIGITS}f}" if float(text) == 0 else text.replace("-", "−")


def signed(number: float) -> str:
    """A difference with its sign, and with more decimals where three would make it 0.

    >>> signed(0.0373), signed(-0.00002), signed(0.0), signed(float("inf"))
    ('+0.037', '−0.00002', '0.000', 'no end')
    """
    return rounded(0) if abs(number) < SAME else differences.signed(number, DIGITS).replace("-", "−")


def percent(share: float) -> str:
    """A share, never rounded to nothing or to all.

    >>> percent(0.26), percent(0.001), percent(0.999), percent(1.0)
    ('26%', 'under 1%', 'over 99%', '100%')
    """
    if 0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1 else f"{share:.0%}"
