"""How a public name goes: it warns for a while, and says what takes its place and when it is gone."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def deprecated(replacement: str, *, removal: str) -> Callable[[Function], Function]:
    """Mark a function that goes in the version `removal`; each call raises a DeprecationWarning that says so.

    >>> @deprecated("evaluate", removal="2.0")
    ... def measured():
    ...     return 1
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     measured(), str(caught[0].message)
    (1, 'measured goes in cranfield 2.0; use evaluate instead')
    """

    def decorate(function: Function) -> Function:
        message = f"{function.__name__} goes in cranfield {removal}; use {replacement} instead"

        @functools.wraps(function)
        def warned(*args: Any, **options: Any) -> Any:
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return function(*args, **options)

        warned.__removal__ = removal  # type: ignore[attr-defined]  # by which a test sees what has stayed too long
        return warned  # type: ignore[return-value]

    return decorate
