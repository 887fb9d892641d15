"""Rows of questions with their contexts, as in ragas and Hugging Face datasets."""

import json
from types import SimpleNamespace

import pytest

from cranfield import InputError, Judgments, evaluate
from tests.program import run as run_program

ROWS = [
    {
        "user_input": "How long may I return shoes?",
        "retrieved_contexts": ["We deliver in two days.", "Shoes may be\nreturned for thirty days."],
        "reference_contexts": ["Shoes may be returned for thirty days."],
    },
    {
        "user_input": "Do you deliver to Norway?",
        "retrieved_contexts": ["Sweden, Denmark, Norway.", "We deliver in two days."],
        "reference_contexts": ["Sweden, Denmark, Norway.", "Delivery is free in Norway."],
    },
    {"user_input": "Which cards?", "retrieved_contexts": [], "reference_contexts": ["Visa, Mastercard."]},
]
EXPECTED = {"context_recall": (1 + 0.5 + 0) / 3, "context_precision": (0.5 + 1 + 0) / 3, "MRR": (0.5 + 1 + 0) / 3}


def renamed(names):
    return [{names.get(key, key): value for key, value in row.items()} for row in ROWS]


def check(qrels, run):
    found = evaluate(qrels, run, list(EXPECTED))
    assert {name: found[name] for name in EXPECTED} == pytest.approx(EXPECTED)


@pytest.mark.parametrize(
    "names",
    [
        {},
        {"user_input": "question", "retrieved_contexts": "contexts"},
        {"user_input": "query", "reference_contexts": "ground_truth_contexts"},
    ],
)
def test_rows_with_texts(names):
    check(renamed(names), renamed(names))


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".txt"])
def test_files(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    path.write_text(json.dumps(ROWS) if suffix == ".json" else "\n".join(map(json.dumps, ROWS)))
    check(str(path), str(path))
    done = run_program("evaluate", str(path), str(path), "-m", "context_recall hit_rate@5", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "context_recall" in done.stdout
    assert "context_recall is SetR" in done.stdout
    assert "hit_rate@5 is Success@5" in done.stdout


def test_context_ids_are_used_when_both_sides_have_them():
    rows = [{**row, "retrieved_context_ids": ["d1", 2], "reference_context_ids": [2]} for row in ROWS]
    assert Judgments.read(rows).by_query["Which cards?"] == {"2": 1.0}
    assert evaluate(rows, rows, "RR")["RR"] == 0.5


def test_context_ids_on_one_side_only_are_ignored():
    rows = [{**row, "retrieved_context_ids": ["d1", "d2"]} for row in ROWS]
    check(rows, rows)


def test_frames_and_datasets():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    check(pandas.DataFrame(ROWS), pandas.DataFrame(ROWS))
    polars = pytest.importorskip("polars", reason="polars is not installed")
    check(polars.DataFrame(ROWS), polars.DataFrame(ROWS))
    import pyarrow

    check(pyarrow.Table.from_pylist(ROWS), pyarrow.Table.from_pylist(ROWS))
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    check(datasets.Dataset.from_list(ROWS), datasets.Dataset.from_list(ROWS))


class Samples(SimpleNamespace):
    """Like the EvaluationDataset of ragas: samples, and their rows by to_list()."""

    def __iter__(self):
        return iter(self.samples)

    def to_list(self):
        return [dict(vars(sample)) for sample in self.samples]


def test_a_ragas_evaluation_dataset_is_read():
    dataset = Samples(samples=[SimpleNamespace(**row) for row in ROWS])
    check(dataset, dataset)


@pytest.mark.parametrize(
    ("rows", "role", "fact"),
    [
        ([ROWS[0], ROWS[0]], "qrels", "row 2: the question 'How long may I return shoes?' appears twice"),
        ([{"user_input": "x", "retrieved_contexts": ["a"]}], "qrels", "row 1 has no reference contexts"),
        ([{"user_input": "x", "reference_contexts": "a text"}], "qrels", "reference_contexts is 'a text', not a list"),
        ([ROWS[0], {"x": 1}], "qrels", "row 2 is not a question with its contexts"),
        ([{"user_input": "x", "reference_contexts": [None]}], "qrels", "None is not an id"),
    ],
)
def test_bad_rows_raise_an_input_error(rows, role, fact):
    with pytest.raises(InputError) as caught:
        Judgments.read(rows)
    assert fact in str(caught.value)


def test_a_context_retrieved_twice_is_an_error():
    rows = [{**ROWS[0], "retrieved_contexts": ["same text", "same  text"]}]
    with pytest.raises(InputError, match="'same text' appears twice"):
        evaluate(ROWS, rows, "RR")


def test_splits_of_a_dataset_are_not_taken_for_queries():
    class DatasetDict(dict):
        column_names = {"train": [], "test": []}  # noqa: RUF012

    with pytest.raises(InputError, match=r"it has the splits train, test\.\nHint: give one of them: dataset\['test'\]"):
        evaluate(DatasetDict(train=ROWS, test=ROWS), {"q": ["a"]}, "RR")
