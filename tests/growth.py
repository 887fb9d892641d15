"""How work grows with its input: the ratio that shows a loop in a loop, and that no clock speed changes."""

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import Any

LINEAR = 2.6  # at most, for twice the input: 2, and some for caches and noise; a square takes 4


def is_linear(prepare: Callable[[int], Any], work: Callable[[Any], object], size: int) -> bool:
    """Whether twice the input takes about twice the time; asked again if not, since other processes disturb it."""
    return any(growth(prepare, work, size) <= LINEAR for _ in range(4))


def growth(prepare: Callable[[int], Any], work: Callable[[Any], object], size: int) -> float:
    """How many times the processor time that `work` takes for twice the input: medians of five, taken in turn."""
    times: dict[int, list[float]] = {size: [], 2 * size: []}
    inputs = {each: prepare(each) for each in times}
    for _ in range(5):
        for each, taken in times.items():
            gc.collect()
            start = time.process_time()
            work(inputs[each])
            taken.append(time.process_time() - start)
    return median(times[2 * size]) / median(times[size])
