"""Damaged files of stores: whatever reads them, only our own errors come out."""

import json
import random
import sqlite3
from itertools import product

import pytest

from cranfield import CranfieldError, InputError, agreement, convert_file, evaluate, open_store
from cranfield.judging.page.desk import Desk, TakenError
from cranfield.judging.store import save_sheet

CALLS = {
    "start": {},
    "next": {"count": 3},
    "queries": {"words": "cats"},
    "judged": {},
    "conflicts": {},
    "query": {"query_id": "q1"},
    "open": {"query_id": "q1", "doc_id": "d1"},
    "judge": {"query_id": "q0", "doc_id": "d1", "grade": 1},
    "undo": {},
    "flags": {},
    "flag": {"query_id": "q2", "comment": "why"},
}


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    return whole_store(tmp_path_factory.mktemp("whole"))


def whole_store(folder):
    path = folder / "judgments.db"
    with open_store(path, create=True) as store:
        store.add_queries({f"q{n}": {"text": f"cats {n}", "narrative": "pets"} for n in range(3)})
        store.add_documents({f"d{n}": {"title": f"Cat {n}", "text": "Cats sleep. " * 5} for n in range(4)})
        pairs = [(f"q{query}", f"d{document}") for query, document in product(range(3), range(4))]
        store.wait(pairs, assessors=2)
        for (query, document), who in product(pairs[:9], ("ann", "bob")):
            store.judge(query, document, len(who + document) % 3, assessor=who, seconds=3)
        store.judge("q1", "d1", 2, assessor="ann", part=(0, 4))
        store.judge("q0", "d0", 2, assessor="eve", adjudicates=True)
        store.undo("bob")
        store.flag("q1", assessor="ann", comment="which?")
        store.set_scale({0: "no", 1: "some", 2: "good", 3: "best"})
    return path.read_bytes()


def damaged(content, chance):
    data = bytearray(content)
    kind = chance.randrange(4)
    if kind == 0:
        del data[chance.randrange(16, len(data)) :]
    elif kind == 1:
        page = chance.randrange(1, len(data) // 4096)
        data[page * 4096 : (page + 1) * 4096] = bytes(4096)
    else:
        used = [place for place in range(100, len(data)) if data[place]]
        for place in chance.sample(used, chance.choice([1, 5, 20])):
            data[place] = chance.choice([0, 255, data[place] ^ 1 << chance.randrange(8), 65])
    return data


def read_in_all_ways(path):
    """Each way by itself: one that fails does not keep the others from reading."""
    run = {"q0": ["d0", "d1"], "q1": ["d1"]}
    yield lambda: evaluate(path, run, "nDCG@10")
    yield lambda: convert_file(path, path.with_name("qrels.txt"), role="qrels", force=True)
    for read in (
        lambda store: list(store.events()),
        lambda store: (store.view(), store.conflicts(), store.progress(), store.scale),
        lambda store: store.to_passages(),
        agreement,
        lambda store: save_sheet(store, str(path.with_name("sheet.csv")), force=True),
    ):
        yield lambda read=read: with_store(path, read)
    for name, asked in CALLS.items():
        yield lambda name=name, asked=asked: with_store(
            path, lambda store: json.dumps(Desk(store).calls[name]({"assessor": "ann", **asked})), read_only=False
        )


def with_store(path, act, read_only=True):
    with open_store(path, read_only=read_only) as store:
        return act(store)


def test_any_damage(content, tmp_path, examples):
    chance = random.Random(1)
    outcomes = set()
    for _ in range(examples(30)):
        data = damaged(content, chance)
        for number, read in enumerate(read_in_all_ways(tmp_path / f"{len(data)}.db")):
            path = tmp_path / f"{len(data)}.db"
            path.write_bytes(data)
            try:
                read()
                outcomes.add((number, "read"))
            except (CranfieldError, TakenError):
                outcomes.add((number, "refused"))
            for beside in tmp_path.iterdir():
                beside.unlink()
    assert {outcome for _, outcome in outcomes} == {"read", "refused"}


@pytest.mark.parametrize(
    "change",
    [
        "update events set at = '2026-02-31 late' where number = 3",
        "update events set kind = 'cat' where number = 3",
        "update events set at = '2026-02-31T10:00:00+00:00' where number = 3",
        "update events set at = substr(at, 1, 24) || char(0) || 'Z' where number = 3",
        "update events set grade = x'00ff' where number = 3",
        "update waiting set part_start = 1e308, part_end = 1e308",
        "update queries set text = x'00ff'",
        "update documents set title = x'00ff'",
    ],
)
def test_values_that_no_store_writes(content, tmp_path, change):
    path = tmp_path / "judgments.db"
    path.write_bytes(content)
    connection = sqlite3.connect(path)
    connection.execute(change)
    connection.commit()
    connection.close()
    failures = []
    for read in read_in_all_ways(path):
        try:
            read()
        except CranfieldError as error:
            failures.append(str(error))
    assert any("it contains values that cannot be there" in failure for failure in failures), failures
    assert all("judgments.db" in failure for failure in failures)


@pytest.mark.parametrize("table", ["events", "cranfield_store", "waiting"])
def test_a_view_that_never_ends(content, tmp_path, table):
    path = tmp_path / "judgments.db"
    path.write_bytes(content)
    connection = sqlite3.connect(path)
    columns = [row[1] for row in connection.execute(f"pragma table_info({table})")]
    endless = ", ".join(f"n as {column}" for column in columns)
    connection.execute(f"drop table {table}")
    connection.execute(
        f"create view {table} as with recursive e(n) as (select 1 union all select n from e) select {endless} from e"
    )
    connection.commit()
    connection.close()
    for read_only in (False, True):
        with pytest.raises(InputError, match=f"it contains the view '{table}'"):
            open_store(path, read_only=read_only)


def test_an_error_of_ours_is_not_taken_for_damage(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.judge("q", "d", 1, assessor="ann")
        with pytest.raises(KeyError), store._reading():
            raise KeyError("ours")
