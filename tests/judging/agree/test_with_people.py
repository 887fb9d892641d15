"""Models beside people: cases to read, and whether one model agrees better than another."""

import json

import numpy as np
import pytest

from cranfield import InputError, ModelAssessor, agreement, ask_model, open_store
from cranfield.judging.agree.statistics import Grid, JudgedItem
from cranfield.judging.agree.with_people import OVERSTATED, model_difference
from tests import program
from tests.judging.agree import oracle_agreement as oracle

TITLES = {"a": "Apples", "b": "Bread", "c": "Cats", "d": "Dogs", "e": "Eels"}


@pytest.fixture
def judged(tmp_path):
    """A person and two models; `high` says why."""
    path = tmp_path / "judgments.db"
    with open_store(path, create=True) as store:
        store.add_queries({"q1": "red apples", "q2": "fresh bread"})
        store.add_documents({document: {"title": title, "text": title} for document, title in TITLES.items()})
        pairs = [(query, document) for query in ("q1", "q2") for document in TITLES]
        store.wait(pairs)
        for at, (query, document) in enumerate(pairs):
            store.judge(query, document, [0, 1, 2, 3, 0][at % 5], assessor="ann")
        for name, grade in (("high", {"A": 3, "B": 2, "E": 1}), ("low", {"D": 0, "C": 1})):

            def call(query, document, grade=grade):
                found = grade.get(document[0], {"B": 1, "C": 2, "D": 3}.get(document[0], 0))
                return json.dumps({"reason": f"It is about {document[:4]}.", "grade": found})

            ask_model(store, ModelAssessor(name=name, model=name, call=call), canaries=0)
    return path


def test_cases_to_read(judged):
    found = agreement(judged, ["ann", "high", "low"], kinds=["person", "model"])
    pairs = {pair.assessors: pair for pair in found.pairs}
    high = pairs["ann", "high"]
    assert (high.model, high.too_low) == ("high", ())
    assert [(case.query_id, case.doc_id, case.person, case.model) for case in high.too_high] == [
        ("q1", "a", 0.0, 3.0),  # the furthest apart, and then one of each query
        ("q2", "a", 0.0, 3.0),
        ("q1", "b", 1.0, 2.0),
    ]
    assert high.too_high[1][4:] == ("fresh bread", "Apples", "It is about Appl.")
    assert [case.doc_id for case in pairs["ann", "low"].too_low] == ["d", "d", "c"]
    assert pairs["high", "low"].model == ""
    [of_ann, *_] = json.loads(found.to_json())["pairs"]
    assert of_ann["too_high"][0] == high.too_high[0]._asdict()
    assert "model" not in json.loads(found.to_json())["pairs"][2]


def test_the_command_shows_cases_and_compares_models(judged):
    done = program.run("agreement", judged, "--kind", "person", "--kind", "model")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "high grades higher than ann q1 (red apples), a (Apples): ann 0, high 3: “It is about Appl.”" in said
    assert "low grades lower than ann q1 (red apples), d (Dogs): ann 3, low 0: “It is about Dogs.”" in said
    assert "too little to tell which agrees better with people, 10 documents of 2 queries" in said
    assert OVERSTATED in said
    alone = program.run(
        "agreement", judged, "--kind", "person", "--kind", "model", "--assessor", "ann", "--assessor", "low"
    )
    assert OVERSTATED not in " ".join(alone.stdout.split())


def test_models_among_several_assessors_are_each_told_beside_people():
    """Two models that say the same agree perfectly, and with people as badly as one of them."""
    chance = np.random.default_rng(1)
    people = {f"q{n}": {d: int(chance.integers(4)) for d in "abcdef"} for n in range(15)}
    apart = {
        q: {d: grade if chance.random() < 0.5 else 3 - grade for d, grade in its.items()} for q, its in people.items()
    }
    models = {"gpt": apart, "twin": apart}
    alone = agreement({"people": people, "gpt": apart}, models=["gpt"])
    shown = alone.sentence.removeprefix("Poor agreement: ")
    both = agreement({"people": people, **models}, models=models)
    assert both.sentence == f"Poor agreement of gpt with people: {shown} Poor agreement of twin with people: {shown}"
    assert both.statistics["ordinal alpha"].value > alone.statistics["ordinal alpha"].value + 0.2
    many = {f"m{n}": apart for n in range(5)}
    assert agreement({"people": people, **many}, models=many).sentence.endswith(
        ". 2 other pairs of a model and a person are below."
    )
    few = {q: people[q] for q in ("q0", "q1")}
    assert agreement({"people": few, **models}, models=models).sentence.startswith(
        "Too few documents judged by gpt and people to tell how well they agree: "
    )
    # Without a model, it is about all of them.
    assert agreement({"people": people, **models}).sentence.startswith("Poor agreement: ordinal alpha ")


def test_one_query_does_not_fill_the_cases():
    ann = {"q1": dict.fromkeys("abcd", 0), "q2": {"a": 0}, "q3": {"a": 0}}
    gpt = {"q1": dict.fromkeys("abcd", 2), "q2": {"a": 2}, "q3": {"a": 1}}
    [pair] = agreement({"ann": ann, "gpt": gpt}, models=["gpt"]).pairs
    assert [(case.query_id, case.doc_id) for case in pair.too_high] == [("q1", "a"), ("q2", "a"), ("q1", "b")]
    with pytest.raises(InputError, match="there is no assessor 'gtp'"):
        agreement({"ann": ann, "gpt": gpt}, models=["gtp"])


def assessed(chance, queries, documents, noises, people=2):
    """People and models, whose slips of a query go together."""
    items = []
    for query in range(queries):
        hard = chance.normal(0, 0.4)
        for document in range(documents):
            quality = chance.normal()
            shared = chance.normal()
            grades = {f"person{n}": quality + 0.5 * chance.normal() for n in range(people)}
            for name, noise in noises.items():
                grades[name] = quality + hard + noise * (0.6 * shared + 0.8 * chance.normal())
            graded = {name: float(np.searchsorted([0.0, 0.8, 1.6], value)) for name, value in grades.items()}
            if people > 1 and chance.random() < 0.5:
                del graded["person1"]
            items.append(JudgedItem(f"q{query}", f"d{document}", graded))
    return items


def compared(items, noises, draws):
    people = sorted({name for item in items for name in item.grades} - {*noises})
    grid = Grid(items, [*noises, *people], "")
    return model_difference(grid, (0, 1), range(2, 2 + len(people)), draws, 0)


def test_the_difference_is_that_of_two_alphas_on_the_same_documents():
    noises = {"a": 0.4, "b": 1.2}
    items = assessed(np.random.default_rng(4), 12, 6, noises)
    del items[0].grades["a"]  # such a document counts for neither
    found = compared(items, noises, 50)
    assert (found.models, found.documents, found.queries) == (("a", "b"), 71, 12)
    alphas = []
    for model in noises:
        units = [
            [grade, item.grades[model]]
            for item in items[1:]
            for name, grade in item.grades.items()
            if name not in noises
        ]
        alphas.append(oracle.alpha(units, "ordinal alpha"))
    assert [alpha.value for alpha in found.alphas] == pytest.approx(alphas)
    assert found.difference.value == pytest.approx(alphas[0] - alphas[1])
    assert found.difference.low < found.difference.value < found.difference.high
    assert compared(items, {"b": 1.2, "a": 0.4}, 50).models == ("a", "b")


def test_pairing_narrows_the_interval():
    noises = {"a": 1.0, "b": 1.0}
    items = assessed(np.random.default_rng(5), 40, 6, noises)
    found = compared(items, noises, 400)
    apart = [alpha.high - alpha.low for alpha in found.alphas]
    assert found.difference.high - found.difference.low < np.hypot(*apart)


@pytest.mark.parametrize(("queries", "least"), [(6, 0.88), (25, 0.90)])
def test_intervals_of_differences_hold_for_other_queries(queries, least):
    chance, noises, times = np.random.default_rng(queries), {"a": 0.5, "b": 0.9}, 150
    truth = compared(assessed(chance, 3000, 6, noises), noises, 1).difference.value
    held = []
    for _ in range(times):
        found = compared(assessed(chance, queries, 6, noises), noises, 250)
        low, high = found.difference.low, found.difference.high
        low, high = (low, high) if found.models == ("a", "b") else (-high, -low)
        held.append(low <= truth <= high)
    assert np.mean(held) > least


def test_equal_models_are_seldom_told_apart():
    chance, noises = np.random.default_rng(1), {"a": 0.8, "b": 0.8}
    said = [compared(assessed(chance, 12, 6, noises), noises, 250).sentence for _ in range(150)]
    assert np.mean([sentence.startswith("Too close to call: ") for sentence in said]) > 0.88


def test_the_sentence_about_two_models(tmp_path):
    noises = {"strict": 0.3, "loose": 1.5}
    rows = [
        (item.query_id, item.doc_id, name, grade)
        for item in assessed(np.random.default_rng(2), 40, 6, noises, people=1)
        for name, grade in item.grades.items()
    ]
    found = agreement(rows, models=noises)
    [only] = found.models
    low, high = only.difference.low, only.difference.high
    better = f"strict agrees better with people than loose: ordinal alpha {only.difference.value:+.2f}"
    assert only.sentence == f"{better} (95% interval {low:+.2f} to {high:+.2f})."
    assert found.to_dict()["models"][0]["sentence"] == only.sentence
    assert agreement(rows).models == ()
    twins = [*rows, *((query, document, "twin", grade) for query, document, name, grade in rows if name == "strict")]
    [same] = agreement(twins, models=["strict", "twin"]).models
    assert same.sentence == (
        "No difference: strict and twin agree with people equally well on 240 documents of 40 queries, "
        f"ordinal alpha {same.alphas[0].value:.2f}."
    )
