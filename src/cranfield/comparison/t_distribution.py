"""Student's distribution from SciPy's special functions: importing `scipy.stats`, which has it, takes half a second."""

from __future__ import annotations

import importlib
import threading

import numpy as np
import numpy.typing as npt

from cranfield.ranks.columns import Numbers


def import_ahead() -> None:
    """Import SciPy's functions in a thread while files are read: that takes a fifth of a second."""
    threading.Thread(target=importlib.import_module, args=("scipy.special",), daemon=True).start()


def chance_below(value: npt.ArrayLike, freedom: float) -> Numbers:
    """The chance of a smaller t.

    >>> chance_below([-1.0, 0.0, 1.0], 1).round(6).tolist()
    [0.25, 0.5, 0.75]
    """
    from scipy.special import stdtr

    return np.asarray(stdtr(freedom, np.asarray(value, dtype=np.float64)), dtype=np.float64)


def exceeded_with(chance: npt.ArrayLike, freedom: float) -> Numbers:
    """The t that is exceeded with a chance; infinite where that is 0.

    >>> exceeded_with([0.0, 0.25, 0.5], 1).round(6).tolist()
    [inf, 1.0, -0.0]
    """
    from scipy.special import stdtrit

    chances = np.asarray(chance, dtype=np.float64)
    return np.where(chances > 0, -np.asarray(stdtrit(freedom, chances)), np.inf)


def shifted_chance_below(value: float, freedom: float, shift: float) -> float:
    """The chance of a smaller t where the true mean is so many standard errors above 0: noncentral t."""
    from scipy.special import nctdtr

    return float(nctdtr(freedom, shift, value))
