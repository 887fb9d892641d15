"""Damaged saved evaluations: loading gives what was saved or raises an InputError."""

import json
import random
import re

import pytest

import cranfield
from cranfield import Evaluation, InputError, OutputError
from cranfield.evaluation import saving as saved
from tests.io.test_fuzz import mutated


@pytest.fixture(scope="module")
def evaluation():
    return cranfield.evaluate("builtin:qrels", "builtin:keywords", "AP nDCG@10 RR(rel=2)", name="Über/1")


@pytest.fixture
def path(evaluation, tmp_path):
    evaluation.save(tmp_path / "saved.json")
    return tmp_path / "saved.json"


def known(evaluation):
    """Everything that a saved evaluation contains."""
    return (
        evaluation.to_dict(),
        evaluation.query_ids,
        evaluation.version,
        evaluation.worst(n=99),
        str(evaluation),
    )


@pytest.mark.fault("damaged bytes in saved evaluations", "They are refused, or the values are the same.", tries=1_000)
@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_are_detected(evaluation, path, seed, tries):
    chance, data = random.Random(seed), path.read_bytes()
    expected, loaded = known(evaluation), 0
    for _ in range(tries):
        path.write_bytes(mutated(data, chance))
        try:
            found = known(Evaluation.load(path))
        except InputError:
            continue
        loaded += 1
        assert found == expected
    assert loaded < tries / 10


def places(content, at=()):
    """The path to every value in a JSON document."""
    if at:
        yield at
    members = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for name, value in members:
        yield from places(value, (*at, name))


ODD = [
    None,
    True,
    -1,
    0.5,
    10**30,
    10**400,
    float("nan"),
    float("inf"),
    "",
    "x",
    "nDCG@10",
    "\ud800",
    [],
    [[]],
    {},
    [1, "x"],
]


@pytest.mark.fault(
    "odd values in saved evaluations without a checksum", "They are refused, or the evaluation can be used.", tries=500
)
@pytest.mark.parametrize("seed", range(4))
def test_odd_content_is_refused_or_usable(evaluation, path, seed, tries):
    """Without a checksum, as if written by hand: loading fails or gives a usable evaluation."""
    chance, text = random.Random(seed), path.read_text(encoding="utf-8")
    refused = 0
    for _ in range(tries):
        content = json.loads(text)
        del content["checksum"]
        *way, last = chance.choice(list(places(content)))
        inner = content
        for step in way:
            inner = inner[step]
        if chance.random() < 0.2:
            del inner[last]
        else:
            inner[last] = chance.choice(ODD)
        path.write_text(json.dumps(content), encoding="utf-8")
        try:
            loaded = Evaluation.load(path)
        except InputError:
            refused += 1
            continue
        plain, query_ids, *_ = known(loaded)
        assert set(plain["per_query"]) == set(query_ids)
        assert all(len(loaded.column(measure)) == len(query_ids) for measure in loaded.measures)
    assert 0 < refused < tries


def test_changed_values_are_detected(path):
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"found": [0, ', '"found": [1, '), encoding="utf-8")
    with pytest.raises(InputError, match=r"it was changed after it was saved(.|\n)*remove the line 'checksum'"):
        Evaluation.load(path)
    path.write_text(re.sub(r',\n"checksum": "\w+"', "", path.read_text(encoding="utf-8")), encoding="utf-8")
    assert Evaluation.load(path).worst("AP", 1)[0].found == 1


def test_reformatted_content_is_loaded(evaluation, path):
    """As an editor or git may leave it."""
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert known(Evaluation.load(path)) == known(evaluation)
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")), indent=2), encoding="utf-8")
    assert known(Evaluation.load(path)) == known(evaluation)


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"format": ' * 100_000])
def test_deeply_nested_json_is_an_error(tmp_path, deep):
    (tmp_path / "deep.json").write_text(deep)
    with pytest.raises(InputError, match="this JSON is nested too deep"):
        Evaluation.load(tmp_path / "deep.json")


def test_values_that_are_not_finite_are_not_saved(tmp_path):
    with pytest.raises(OutputError, match=r"out\.json: a value that is not a finite number cannot be saved"):
        saved.write(tmp_path / "out.json", {"values": {"AP": [float("nan")]}})
    assert list(tmp_path.iterdir()) == []
