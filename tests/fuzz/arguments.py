"""Arrays passed directly to the native part: valid ones with a known answer, and invalid ones that it must refuse."""

import random

import numpy as np

from cranfield.comparison.joint.gains import largest_fractions
from cranfield.comparison.significance.tukey import in_numpy
from cranfield.io.formats.trec import TREC_RUN
from cranfield.mixing.counting import count_above
from cranfield.native import native, native_layout
from tests.comparison.test_fractions import made
from tests.fuzz.mutations import lines
from tests.fuzz.texts import COMPARED, REFUSED, any_judgments, exact, index_of


def running_sums(chance: random.Random) -> str:
    query = np.array(sorted(chance.randrange(5) for _ in range(chance.randrange(20))), np.int64)
    kind, drawn = chance.choice([(np.float64, chance.random), (np.int64, lambda: chance.randrange(2))])
    values = np.array([drawn() for _ in query], kind)
    expected = values.tolist()
    for at in range(1, len(expected)):
        if query[at] == query[at - 1]:
            expected[at] += expected[at - 1]
    native.add_up(values, query)
    assert values.tolist() == expected
    return COMPARED


def fractions(chance: random.Random) -> str:
    """Bounds of nDCG, of all completions of a few documents."""
    arguments = [exact(each) for each in made(chance.randrange(1 << 32), rows=chance.choice((1, 5)))]
    assert np.allclose(native.largest_fractions(*arguments), largest_fractions(*arguments), rtol=0, atol=1e-12)
    return COMPARED


def permutations(chance: random.Random) -> str:
    queries, systems = chance.randint(0, 6), chance.choice((1, 2, 3, 10, 15, 40))
    values = np.array([[chance.randrange(64) / 64 for _ in range(systems)] for _ in range(queries)], np.float64)
    values = values.reshape(queries, systems)
    first, seed = chance.choice((0, 1, 1000)), chance.getrandbits(64)
    last = first + chance.randrange(6)
    found = native.largest_differences(values, seed, first, last)
    if queries:
        assert found.tolist() == in_numpy(values, seed, first, last).tolist()  # sums of 64ths are exact
    return COMPARED


NUMBERS = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 15, 16, 17, 20, 64, 2**31 - 1, 2**31, 2**32, 2**63 - 1)


def any_numbers(chance: random.Random, size: int) -> np.ndarray:
    """Numbers that are valid offsets or places, or nearly."""
    steps = chance.randrange(4)
    numbers = np.array(
        [chance.randrange(steps + 1) for _ in range(max(size + chance.choice((-1, 0, 0, 0, 1)), 0))], np.int64
    )
    if chance.random() < 0.5:
        numbers = np.cumsum(numbers, dtype=np.int64)
    if len(numbers) and chance.random() < 0.3:
        numbers[chance.randrange(len(numbers))] = chance.choice(NUMBERS)
    return numbers


def counts(chance: random.Random) -> str:
    """How many documents come before others by several rows of fused scores."""
    rows, width = chance.randrange(4), chance.randrange(1, 40)
    scores = np.array([[chance.choice((0.0, -0.0, 1.0, 2.5, -1.0, 1e-300)) for _ in range(width)] for _ in range(rows)])
    scores = scores.reshape(rows, width)
    documents = np.array([chance.randrange(width) for _ in range(chance.randrange(5))], np.int64)
    assert native.count_above(exact(scores), exact(documents)).tolist() == count_above(scores, documents).tolist()
    return COMPARED


def any_text(chance: random.Random) -> np.ndarray:
    return exact(np.frombuffer(chance.randbytes(chance.randrange(12)), np.uint8))


def any_scores(chance: random.Random, size: int) -> np.ndarray:
    kinds = (1.0, 2.0, 2.0, float("nan"), float("inf")) if chance.random() < 0.2 else (1.0, 2.0, -3.0)
    return np.array([chance.choice(kinds) for _ in range(size)], np.float64)


def any_objects(chance: random.Random, size: int) -> np.ndarray:
    objects = np.empty(max(size + chance.choice((-1, 0, 0, 0, 1)), 0), object)
    objects[:] = [chance.choice(("a", "b", "é", "", "\ud800", 12, None, b"a")) for _ in objects]
    return objects


def any_index(chance: random.Random):
    queries, documents = chance.randrange(4), chance.randrange(6)
    return native.Index(
        any_text(chance),
        any_numbers(chance, queries + 1),
        any_text(chance),
        any_numbers(chance, documents + 1),
        any_numbers(chance, queries + 1),
    )


def any_layout(chance: random.Random):
    names = ("query", "document", "value", "least", "most", "rank")
    changes = {name: chance.choice(NUMBERS) for name in chance.sample(names, chance.randint(1, 3))}
    if chance.random() < 0.2:
        changes["separator"] = chance.choice((",", "\n", "\r", '"', " ", "\0", "::", "é"))
    return native_layout(TREC_RUN._replace(**changes))


def call(chance: random.Random) -> None:
    """One call of any function, with arguments that may not fit each other."""
    rows = chance.randrange(6)
    text = exact(np.frombuffer(lines(chance).data, np.uint8))
    match chance.randrange(15):
        case 0:
            drop, depth = chance.random() < 0.5, chance.choice(NUMBERS)
            native.scan_text(text, any_layout(chance), index_of(any_judgments(chance)), 0, drop, depth)
        case 1:
            native.scan_text(text, native_layout(TREC_RUN), any_index(chance), chance.choice((0, 1, 2, 3)), False, rows)
        case 2:
            things = (any_numbers(chance, rows), any_scores(chance, rows), any_objects(chance, rows), None, text)
            given = (chance.choice(things) for _ in range(3))
            ties, depth = chance.choice((0, 1, 2, -1)), chance.choice(NUMBERS)
            native.scan_frame(*given, chance.random() < 0.5, any_index(chance), ties, rows, depth)
            native.judge_frame(any_objects(chance, rows), chance.choice(things), any_scores(chance, rows))
        case 3:
            run = {query: {"a": 1.0, "b": 1.0, "12": 0.5} for query in "xyz"}
            places = {query: chance.choice((0, 1, 2, "0", None, *NUMBERS, 2**70)) for query in "xyz"}
            judged = [chance.choice(("a", "b", "c", "12", 12, None)) for _ in range(rows)]
            native.scan_dicts(run, places, judged, any_numbers(chance, 4), False, chance.choice((0, 1, 3)))
        case 4:
            ties = chance.choice(NUMBERS)
            native.first_of_text(text, any_layout(chance), index_of(any_judgments(chance)), rows, ties, False)
        case 5:
            native.partition(text, any_layout(chance), chance.choice(NUMBERS), chance.choice(NUMBERS))
        case 6:
            first = chance.randrange(5)
            native.largest_differences(np.zeros((rows, chance.randrange(3))), 1, first, chance.randrange(5))
        case 7:
            native.add_up(np.zeros(rows), any_numbers(chance, rows))
        case 8:
            native.codes([chance.choice(("a", "é", "\ud800", 12, None)) for _ in range(rows)])
        case 11:
            native.places_of_text(text, any_layout(chance))
            depth = abs(chance.choice(NUMBERS))
            native.ranked_text(text, any_layout(chance), chance.choice((0, 1, 2, 3, -1)), chance.random() < 0.5, depth)
        case 13:
            names = [chance.choice((b"q", b"", b"#q", b"a\0b", 7)) for _ in range(chance.randrange(3))]
            places = (any_numbers(chance, rows) for _ in range(3))
            scores = any_scores(chance, chance.choice((rows, rows, rows + 1)))
            texts = [text] * chance.randrange(3)
            native.run_lines(names, any_numbers(chance, len(names)), texts, *places, scores, b"tag")
        case 14:
            counts = any_numbers(chance, 4).reshape(chance.choice(((1, 4), (2, 2), (4, 1))))
            native.line_up(any_numbers(chance, rows), counts, any_scores(chance, chance.choice((0, rows, rows + 1))))
        case 12:
            native.count_above(any_scores(chance, 3 * rows).reshape(rows, 3), any_numbers(chance, chance.randrange(4)))
        case 10:
            shapes = (2, chance.choice((1, 2))), (2, 2), (rows, chance.choice((1, 2, 2)))
            given = (any_numbers(chance, 4) for _ in shapes)
            tables = [np.resize(numbers, shape) for numbers, shape in zip(given, shapes, strict=True)]
            native.match_documents(any_numbers(chance, rows), *tables)
        case 9:
            ranks = np.array([[chance.choice((1, 2, 9, 1 << 30, 0, -1))] * 2 for _ in range(rows)], np.int32)
            steps = chance.randrange(3)
            native.largest_fractions(
                *(ranks.reshape(rows, 2), ranks.reshape(rows, 2)[:, : chance.choice((1, 2, 2))]),
                any_scores(chance, rows),
                *(any_numbers(chance, rows), any_numbers(chance, rows)),
                *(any_scores(chance, chance.randrange(3)) for _ in range(3)),
                *(any_scores(chance, steps), any_numbers(chance, steps)),
                any_numbers(chance, 3 * steps).reshape(3, -1) if steps else np.zeros((3, 0), np.int64),
            )


def wrong_arguments(chance: random.Random) -> str:
    try:
        call(chance)
    except (ValueError, IndexError, TypeError, OverflowError):
        return REFUSED
    return COMPARED
