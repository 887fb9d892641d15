"""Names of measures for trackers, which allow letters, digits and few signs: nDCG@10 is nDCG_at_10 there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping


def flat_name(name: str) -> str:
    """A name that every tracker takes.

    >>> flat_name("nDCG@10"), flat_name("P(rel=2)@5"), flat_name("nDCG(dcg='exp-log2')@10"), flat_name("mine, 2nd run")
    ('nDCG_at_10', 'P_rel2_at_5', 'nDCG_dcgexp-log2_at_10', 'mine_2nd_run')
    """
    text = name.replace("@", "_at_").replace("=", "").replace("'", "").replace('"', "")
    return re.sub(r"_*[^A-Za-z0-9_.-]+_*", "_", text).strip("_") or "_"


def flat_names(names: Iterable[str]) -> dict[str, str]:
    """The flat names of several, all different.

    >>> flat_names(["P@5", "P_at_5"])
    {'P@5': 'P_at_5', 'P_at_5': 'P_at_5_2'}
    """
    flat: dict[str, str] = {}
    for name in names:
        wanted = its = flat_name(name)
        number = 1
        while its in flat.values():
            number += 1
            its = f"{wanted}_{number}"
        flat[name] = its
    return flat


def finite(values: Mapping[str, float | None]) -> dict[str, float]:
    """Those values that a tracker can draw."""
    return {name: float(value) for name, value in values.items() if value is not None and abs(value) < float("inf")}
