"""A model is asked until its own grades decide which run is better."""

import pytest

from cranfield import InputError, ModelAssessor, open_store
from cranfield.judging.decide.decision import Decision
from cranfield.judging.models.session import Asking, decide_by_model
from tests.program import run

QUERIES = 20
BAD = {f"q{q}": [f"bad{d}" for d in range(10)] for q in range(QUERIES)}
GOOD = {f"q{q}": [f"good{d}" for d in range(10)] for q in range(QUERIES)}
MODULE = "def grade(query, document):\n    return 2 if document.startswith('a good') else 0\n"


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as opened:
        opened.add_queries({query: f"text of {query}" for query in BAD})
        opened.add_documents(
            {**{f"bad{d}": f"a bad text {d}" for d in range(10)}, **{f"good{d}": f"a good text {d}" for d in range(10)}}
        )
        yield opened


class Model:
    def __init__(self):
        self.asked = []

    def __call__(self, query, document):
        self.asked.append((query, document))
        return 2 if document.startswith("a good") else 0


def decided(store, model, **options):
    with Asking(store, ModelAssessor(name="small", call=model), **options) as asking:
        return decide_by_model(store, asking, lambda grades: Decision.of({"bad": BAD, "good": GOOD}, grades=grades), 4)


def test_asking_ends_when_the_verdict_is_final(store):
    model = Model()
    decision, reports = decided(store, model)
    look = decision.look()
    assert look.state == "better"
    assert look.judged == 40
    assert reports[0].canaries.asked == 4
    assert len(model.asked) == reports[-1].requests == 44
    assert len({event.doc_id for event in store.events()}) <= 20
    assert {event.kind for event in store.events()} == {"model"}
    with store._reading() as connection:
        chosen = connection.exec_driver_sql("select chosen_by, assessors from waiting").all()
    assert {tuple(row) for row in chosen} == {("decide", 0)}


def test_earlier_grades_count_and_are_not_paid_for_again(store):
    decided(store, Model(), limit=24, jobs=1)
    model = Model()
    decision, _ = decided(store, model)
    assert decision.look().state == "better"
    assert len(model.asked) == 20
    model = Model()
    decision, _ = decided(store, model)
    assert decision.look().done
    assert not model.asked


def test_grades_of_people_do_not_count(store):
    for query in BAD:
        for d in range(10):
            store.judge(query, f"bad{d}", 3, assessor="ann")
            store.judge(query, f"good{d}", 0, assessor="ann")
    decision, _ = decided(store, Model())
    assert decision.look().state == "better"


def test_a_limit_before_the_first_grade_leaves_nothing_to_say_of_a_difference(store, tmp_path):
    write_runs(store, tmp_path)
    runs = ("--decide", "bad.run", "good.run", "-m", "nDCG@10")
    done = run("judge", "judgments.db", "--assessor", "small:grade", "--limit", "1", *runs, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "By the grades of small:grade, 0 documents judged:" in done.stdout
    assert "good beside bad: too early to tell; a verdict probably takes" in " ".join(done.stdout.split())
    assert "Difference" not in done.stdout
    assert "None" not in done.stdout


def test_a_document_without_text(store):
    run_of_others = {query: ["unknown", *ranking[1:]] for query, ranking in GOOD.items()}
    with (
        Asking(store, ModelAssessor(name="small", call=Model())) as asking,
        pytest.raises(InputError, match="it has no text of document 'unknown'"),
    ):
        decide_by_model(store, asking, lambda grades: Decision.of({"bad": BAD, "x": run_of_others}, grades=grades), 0)


def write_runs(store, folder):
    store.close()
    (folder / "small.py").write_text(MODULE)
    for name, rankings in (("bad", BAD), ("good", GOOD)):
        rows = [f"{q} Q0 {doc} 1 {-at} x\n" for q, ranking in rankings.items() for at, doc in enumerate(ranking)]
        (folder / f"{name}.run").write_text("".join(rows))


def test_on_the_command_line(store, tmp_path):
    write_runs(store, tmp_path)
    runs = ("--decide", "bad.run", "good.run", "-m", "nDCG@10")
    dry = run("judge", "judgments.db", "--assessor", "small:grade", "--dry-run", *runs, cwd=tmp_path)
    assert dry.stdout.startswith(
        "small:grade: 400 documents to judge at most; asking stops once the verdict is final\n"
    )
    with open_store(tmp_path / "judgments.db") as unchanged:
        assert not list(unchanged.events())
        assert unchanged.progress().documents == 0
    done = run("judge", "judgments.db", "--assessor", "small:grade", *runs, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "By the grades of small:grade, 40 documents judged:" in done.stdout
    assert "good beside bad: better" in done.stdout
    assert "Difference +0." in done.stdout
    assert "0 of 10 canaries were graded 1 or higher" in done.stdout
    dry = run("judge", "judgments.db", "--assessor", "small:grade", "--dry-run", *runs, cwd=tmp_path)
    assert dry.stdout == "small:grade: nothing to ask; the verdict is final.\n"
    other = run("judge", "judgments.db", "--assessor", "small:grade", "--order", "mtf", "bad.run", cwd=tmp_path)
    assert "--order mtf is for people" in other.stderr
