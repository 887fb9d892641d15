"""Fused runs are what the formulas say, whatever the runs come from, and know what they were made of."""

import gzip
import io
import json
import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import InputError, Policy, PolicyError, compare, evaluate, fuse
from cranfield.mixing import fusing, lists, reading
from cranfield.mixing.methods import METHODS
from cranfield.mixing.normalising import NORMALISATIONS
from cranfield.mixing.registry import PARAMETERS
from cranfield.native import native
from cranfield.ranks.run import open_run
from tests.mixing import oracle

A = {"q": {"a": 9.0, "b": 6.0, "c": 3.0}}
B = {"q": {"b": 0.8, "d": 0.7, "a": 0.2}}
SCORED = [name for name, entry in METHODS.items() if entry.reads == "scores"]


def random_runs(seed, runs=3, queries=4, documents=30, most=20):
    """Runs that share documents, with ties, short lists, lists of one document, and queries that some lack."""
    chance = np.random.default_rng(seed)
    made = []
    for _ in range(runs):
        run = {}
        for query in range(queries):
            size = int(chance.integers(0, most + 1))
            ids = chance.permutation(documents)[:size]
            scores = chance.integers(0, 12, size) / 4
            if size:
                run[f"q{query}"] = {f"d{number}": float(score) for number, score in zip(ids, scores, strict=True)}
        made.append(run or {"q0": {"d0": 1.0}})
    return made


def assert_fused(found, wanted, depth=1000):
    """The same documents with the same scores, in the order of the house; near-equal scores may be in either order."""
    assert set(found) == set(wanted)
    for query, scores in wanted.items():
        ranking = found[query]
        assert len(ranking) == min(depth, len(scores))
        for document, score in ranking.items():
            assert score == pytest.approx(scores[document], rel=1e-10, abs=1e-10), (query, document)
        in_order = [score for _, score in oracle.best_first(scores)][:depth]
        assert list(ranking.values()) == pytest.approx(in_order, rel=1e-10, abs=1e-10)
        assert list(ranking.items()) == oracle.best_first(ranking)  # ties by id


def test_every_method_and_normalisation_has_an_oracle():
    assert set(oracle.METHODS) == set(METHODS)
    assert set(oracle.NORMALISATIONS) == set(NORMALISATIONS)
    for entry in [*METHODS.values(), *NORMALISATIONS.values()]:
        assert set(entry.defaults) <= set(PARAMETERS)
        assert entry.summary.endswith(".")
        assert entry.formula
        assert entry.reference or entry.name == "none"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_methods_are_their_formulas(method, normalisation):
    if METHODS[method].reads == "ranks" and normalisation != "none":
        pytest.skip("it looks at ranks alone")
    for seed in range(12):
        runs = random_runs(seed, runs=2 + seed % 4)
        wanted = oracle.fused(runs, method, normalisation)
        assert_fused(fuse(runs, method, normalisation=normalisation).rankings, wanted)
        if METHODS[method].weighted:
            weights = [0.5, 2, 0.25, 1, 3][: len(runs)]
            wanted = oracle.fused(runs, method, normalisation, weights)
            assert_fused(fuse(runs, method, normalisation=normalisation, weights=weights).rankings, wanted)


@pytest.mark.parametrize("method", METHODS)
def test_every_parameter_does_what_its_formula_says(method):
    entry = METHODS[method]
    for name in entry.defaults:
        for value in PARAMETERS[name].grid:
            runs = random_runs(int(value * 7))
            assert_fused(fuse(runs, method, **{name: value}).rankings, oracle.fused(runs, method, **{name: value}))


@pytest.mark.parametrize("normalisation", [name for name, entry in NORMALISATIONS.items() if entry.defaults])
def test_lists_without_a_scale_get_the_constant(normalisation):
    equal, single = {"q": {"a": 2.0, "b": 2.0}}, {"q": {"c": 7.0}}
    for constant in (0, 0.5, 1):
        found = fuse([equal, single], "combsum", normalisation=normalisation, constant=constant).rankings["q"]
        share = constant / 2 if normalisation == "sum" else constant
        assert found == {"c": constant, "b": share, "a": share}
    assert fuse([equal, single], "combsum", normalisation=normalisation).rankings["q"]["c"] == 1


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 5, 1000]), st.sampled_from(list(METHODS)))
def test_a_depth_cuts_what_is_read_and_what_is_kept(seed, depth, method):
    runs = random_runs(seed)
    normalisation = METHODS[method].normalisation
    wanted = oracle.fused(runs, method, normalisation, depth=depth)
    assert_fused(fuse(runs, method, depth=depth).rankings, wanted, depth)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(list(METHODS)), st.permutations(range(4)))
def test_the_order_of_the_runs_does_not_matter(seed, method, order):
    runs = random_runs(seed, runs=4)
    one, other = fuse(runs, method).rankings, fuse([runs[at] for at in order], method).rankings
    assert {query: list(ranking) for query, ranking in one.items()} == {query: list(other[query]) for query in one}


def test_sums_that_differ_in_rounding_alone_are_ties():
    # 1/61 + 1/62 + 1/63 in six orders: not all are the same number.
    lists_of = [dict(zip(order, (3.0, 2.0, 1.0), strict=True)) for order in ("abc", "bca", "cab")]
    found = fuse([{"q": its} for its in lists_of]).rankings["q"]
    assert list(found) == ["c", "b", "a"]
    assert len(set(found.values())) == 1


def test_larger_ids_come_first_by_bytes():
    ids = ["a", "aa", "a\0", "b", "é", "z" * 20, "z" * 20 + "a", "z" * 8, "\U0001f600"]
    for n in range(len(ids)):
        runs = [{"q": {ids[n]: 1.0}}, *({"q": {document: 5.0}} for document in ids if document != ids[n])]
        assert list(fuse(runs).rankings["q"]) == sorted(ids, key=str.encode, reverse=True)


RANX = {
    "combsum": "sum",
    "combmnz": "mnz",
    "combanz": "anz",
    "combmax": "max",
    "combmin": "min",
    "combmed": "med",
    "rrf": "rrf",
    "isr": "isr",
    "log-isr": "logn_isr",
    "borda": "bordafuse",
    "rbc": "rbc",
}
RANX_NORMALISATIONS = {"min-max": "min-max", "z-score": "zmuv", "sum": "sum", "rank": "rank", "none": None}
RANX_PARAMETERS = {"rrf": {"k": 60}, "log-isr": {"sigma": 0.01}, "rbc": {"phi": 0.8}}


def ranx_fused(runs, method, normalisation, parameters):
    library = pytest.importorskip("ranx")
    fused = library.fuse(
        [library.Run(run) for run in runs], norm=RANX_NORMALISATIONS[normalisation], method=method, params=parameters
    )
    return {query: dict(ranking) for query, ranking in fused.to_dict().items()}


@pytest.mark.parametrize("method", RANX)
@pytest.mark.parametrize("normalisation", RANX_NORMALISATIONS)
def test_values_are_those_of_ranx(method, normalisation):
    """On lists without ties and of several documents, where definitions agree."""
    if METHODS[method].reads == "ranks" and normalisation != "none":
        pytest.skip("it looks at ranks alone")
    chance = np.random.default_rng(len(method))
    runs = [
        {
            f"q{query}": {f"d{d}": float(s) for d, s in zip(chance.permutation(12)[:8], chance.random(8), strict=True)}
            for query in range(3)
        }
        for _ in range(3)
    ]
    theirs = ranx_fused(runs, RANX[method], normalisation, RANX_PARAMETERS.get(method))
    ours = fuse(runs, method, normalisation=normalisation).rankings
    for query in theirs:
        assert ours[query] == pytest.approx(theirs[query], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("method", "theirs"), [("combsum", "wsum"), ("combmnz", "wmnz"), ("borda", "w_bordafuse")])
def test_weighted_values_are_those_of_ranx(method, theirs):
    weights = (0.7, 0.3)
    normalisation = METHODS[method].normalisation
    wanted = ranx_fused([A, B], theirs, normalisation, {"weights": weights})["q"]
    assert fuse([A, B], method, weights=weights).rankings["q"] == pytest.approx(wanted, abs=1e-12)


def test_published_values():
    """Lists A and B with ranx 0.3.21, and Condorcet by hand: a and b beat two documents, and a beats b by weight."""
    assert fuse([A, B], "rrf").rankings["q"] == pytest.approx(
        {"b": 0.032522474881, "a": 0.032266458496, "d": 0.016129032258, "c": 0.015873015873}, abs=1e-11
    )
    assert fuse([A, B], "condorcet", weights=(0.7, 0.3)).rankings["q"] == {"a": 3, "b": 2, "c": 1, "d": 0}


# What the runs come from.


def lines_of(run, order=None, *, name="x", separator=" "):
    rows = []
    for query in order or run:
        for rank, (document, score) in enumerate(oracle.best_first(run[query]), 1):
            rows.append(separator.join([query, "Q0", document, str(rank), repr(score), name]))
    return "\n".join(rows) + "\n"


def big_runs():
    chance = np.random.default_rng(5)
    return [
        {
            f"query{query}": {
                f"doc{d}": float(s)
                for d, s in zip(chance.permutation(300)[:200], chance.random(200).round(2), strict=True)
            }
            for query in range(40)
        }
        for _ in range(3)
    ]


def shapes(tmp_path, runs):
    """The same runs as files of several kinds, and in memory."""
    pandas = pytest.importorskip("pandas")
    chance = np.random.default_rng(1)
    texts = [lines_of(run, list(chance.permutation(list(run)))) for run in runs]  # each in another order of queries
    yield "dicts", runs
    for at, text in enumerate(texts):
        (tmp_path / f"{at}.run").write_text(text)
        (tmp_path / f"{at}.run.gz").write_bytes(gzip.compress(text.encode()))
        shuffled = text.splitlines()
        chance.shuffle(shuffled)
        (tmp_path / f"shuffled{at}.run").write_text("\n".join(shuffled))
        (tmp_path / f"{at}.json").write_text(json.dumps(runs[at]))
        (tmp_path / f"{at}.csv").write_text(
            "query_id,doc_id,score\n"
            + "".join(f"{q},{d},{s!r}\n" for q, its in runs[at].items() for d, s in its.items())
        )
        (tmp_path / f"noted{at}.run").write_text("# a comment\n\n" + text.replace("\n", "\n# another\n", 3))
    for kind in ("{}.run", "{}.run.gz", "shuffled{}.run", "{}.json", "{}.csv", "noted{}.run"):
        yield kind, [tmp_path / kind.format(at) for at in range(len(runs))]
    yield "open files", [io.BytesIO(text.encode()) for text in texts]
    frames = [
        pandas.DataFrame(
            [(q, d, s) for q, its in run.items() for d, s in its.items()], columns=["query_id", "doc_id", "score"]
        )
        for run in runs
    ]
    yield "frames", frames
    yield "mixed", [tmp_path / "0.run", runs[1], tmp_path / "shuffled2.run"]


@pytest.mark.parametrize("compiled", [True, False])
def test_the_same_from_every_source(tmp_path, monkeypatch, compiled):
    if compiled and native is None:
        pytest.skip("the native scan is not built")
    if not compiled:
        monkeypatch.setattr(reading, "native", None)
        monkeypatch.setattr(lists, "native", None)
    monkeypatch.setattr(reading, "BYTES", 50_000)  # several groups of queries
    monkeypatch.setattr(reading, "_BLOCK", 20_000)
    runs = big_runs()
    wanted = {query: list(its.items()) for query, its in fuse(runs, "combsum").rankings.items()}
    assert_fused(fuse(runs, "combsum").rankings, oracle.fused(runs, "combsum", "min-max"))
    for kind, sources in shapes(tmp_path, runs):
        fused = fuse(sources, "combsum")
        assert {query: list(its.items()) for query, its in fused.rankings.items()} == wanted, kind
        assert fused.queries == 40, kind


def test_recorded_systems_are_runs():
    recorded = cranfield.record(lambda query, k=3: [("a", 3.0), ("b", 2.0)][:k], {"q": "cats"}, name="mine")
    fused = fuse([recorded, B])
    assert fused.runs == ("mine", "the run")
    assert list(fused.rankings["q"]) == ["b", "a", "d"]
    again = fuse([fused, A], "rrf", name="twice")  # and so are fused runs
    assert again.runs == ("fused", "the run")


def test_ranked_lists_without_scores():
    assert fuse([{"q": ["a", "b"]}, {"q": ["b", "c"]}]).rankings["q"] == pytest.approx(
        {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62}
    )


def test_queries_that_some_runs_lack_are_fused_from_the_others_and_counted():
    fused = fuse([{**A, "p": {"x": 1.0}}, B])
    assert list(fused.rankings) == ["q", "p"]
    assert fused.rankings["p"] == {"x": 1 / 61}
    assert fused.warnings == ("1 query is missing from some of the runs",)


def test_policies_of_reading_hold(tmp_path):
    (tmp_path / "a.run").write_text("q Q0 a 1 2 x\nq Q0 a 2 1 x\nq Q0 q 3 0.5 x\n")
    with pytest.raises(cranfield.DuplicateError, match=r"a\.run:2: document 'a' appears twice"):
        fuse([tmp_path / "a.run", B])
    kept = fuse([tmp_path / "a.run", B], policy=Policy(duplicates="first", same_id="drop")).rankings["q"]
    assert kept["a"] == pytest.approx(1 / 61 + 1 / 63)
    assert "q" not in kept
    with pytest.raises(PolicyError, match="needs judgments"):
        fuse([A, B], policy=Policy(ties="best"))
    tied = {"q": {"a": 1.0, "b": 1.0}}
    assert fuse([tied, tied]).rankings["q"] == {"b": 2 / 61, "a": 2 / 62}
    assert fuse([tied, tied], policy=Policy(ties="smaller_doc_id")).rankings["q"] == {"a": 2 / 61, "b": 2 / 62}


# What is written.


def test_a_written_run_is_the_one_in_memory_and_knows_what_it_is_made_of(tmp_path):
    runs = {"lexical": big_runs()[0], "dense": big_runs()[1]}
    wanted = fuse(runs, "combsum", weights=[0.25, 0.75])
    for name in ("fused.run", "fused.run.gz", "fused.json", "fused.csv"):
        path = tmp_path / name
        fused = fuse(runs, "combsum", path, weights={"dense": 0.75, "lexical": 0.25})
        assert fused.documents == wanted.documents
        run = open_run(path)
        assert run.made == wanted.made, name
        assert run.made.fusion.runs == ("lexical", "dense")
        assert run.scores(Policy()) == {query: dict(its) for query, its in wanted.rankings.items()}
        assert evaluate({"query1": {"doc1": 1}}, path, "AP")._evidence.made == wanted.made
    text = (tmp_path / "fused.run").read_text()
    assert text.startswith("# ir_metadata.start\n# tag: fused\n")
    assert '#       interpolates: ["lexical", "dense"]\n' in text
    yaml = pytest.importorskip("yaml")
    head = "\n".join(line[2:] for line in text.splitlines()[1:] if line.startswith("# ")).removesuffix(
        "ir_metadata.end"
    )
    parsed = yaml.safe_load(head)
    assert parsed["method"]["score ties"] == "larger id first"
    assert parsed["method"]["retrieval"][-1]["interpolates"] == ["lexical", "dense"]
    assert parsed["cranfield"]["made"]["fusion"]["settings"]["weights"] == [0.25, 0.75]
    plain = fuse(runs, "rrf", tmp_path / "plain.run", metadata=False)
    assert "#" not in (tmp_path / "plain.run").read_text()
    assert open_run(plain.path).made is None


@pytest.mark.skipif(native is None, reason="the native scan is not built")
@pytest.mark.parametrize("odd", ["plain", "é", "#a", "a#", "\x01", "\x7f", "x" * 1001])
@pytest.mark.parametrize("name", ["f.run", "f.run.gz", "f.txt"])
def test_lines_are_those_of_the_twin(tmp_path, monkeypatch, odd, name):
    chance = np.random.default_rng(3)
    runs = [
        {f"q{q}": {f"d{d}": float(s) for d, s in zip(chance.permutation(40)[:20], chance.random(20), strict=True)}}
        for q in (1, 1, 2)
    ]
    runs[1]["q1"][odd] = 1e-300
    (tmp_path / "theirs").mkdir()
    for method in ("rrf", "combsum", "condorcet"):
        fuse(runs, method, tmp_path / name, force=True)
        monkeypatch.setattr(fusing, "native", None)
        fuse(runs, method, tmp_path / "theirs" / name, force=True)
        monkeypatch.undo()
        read = gzip.decompress if name.endswith("gz") else bytes
        assert read((tmp_path / name).read_bytes()) == read((tmp_path / "theirs" / name).read_bytes())


@pytest.mark.skipif(native is None, reason="the native scan is not built")
@pytest.mark.parametrize("seed", range(20))
def test_rankings_are_lined_up_alike(seed):
    chance = np.random.default_rng(seed)
    runs, queries, most = chance.integers(1, 5), chance.integers(0, 5), chance.integers(1, 40)
    counts = chance.integers(0, most, (runs, queries))
    code = np.concatenate(
        [np.zeros(0, np.int64), *(chance.permutation(2 * most)[:count] for count in counts.reshape(-1))]
    )
    for scores in (chance.random(len(code)), np.zeros(0)):
        for compiled, twin in zip(
            native.line_up(code, counts, scores), lists.line_up(code, counts, scores), strict=True
        ):
            np.testing.assert_array_equal(compiled, twin)


@pytest.mark.skipif(native is None, reason="the native scan is not built")
def test_numbers_are_written_as_python_writes_them():
    chance = np.random.default_rng(4)
    some = [0.0, -0.0, 1.0, 1e-4, 9.999e-5, 1e15, 1e16, 1e22, 1 / 3, 5e-324, 1.7976931348623157e308]
    scores = np.concatenate([some, chance.random(5000), 10 ** chance.uniform(-30, 30, 5000)])
    n = len(scores)
    places = [np.frombuffer(b"doc", np.uint8)], np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, 3)
    lines = native.run_lines([b"q"], np.array([n]), *places, scores, b"tag").decode().splitlines()
    assert lines == [f"q Q0 doc {rank} {score!r} tag" for rank, score in enumerate(scores.tolist(), 1)]


def test_a_signature_names_what_was_fused(tmp_path):
    fuse({"lexical": A, "dense": B}, path=tmp_path / "f.run")
    assert "|fused:rrf(lexical+dense,k=60,depth=1000)|" in evaluate({"q": {"a": 1}}, tmp_path / "f.run", "RR").signature
    weighted = fuse({"lexical": A, "dense": B}, "combsum", weights=[1, 2], constant=0.5)
    wanted = "|fused:combsum(lexical+dense,normalisation=min-max,constant=0.5,weights=1+2,depth=1000)|"
    assert wanted in evaluate({"q": {"a": 1}}, weighted, "RR").signature


def test_a_damaged_head_is_no_head(tmp_path):
    fuse([A, B], path=tmp_path / "f.run")
    text = (tmp_path / "f.run").read_text()
    for damaged in (
        text.replace('{"made"', '{"mad'),
        text.replace("# cranfield: ", "# cranfield: [1]"),
        "# ir_" + text,
    ):
        (tmp_path / "g.run").write_text(damaged)
        assert open_run(tmp_path / "g.run").made is None
        assert evaluate({"q": {"b": 1}}, tmp_path / "g.run", "RR")["RR"] == 1


def test_a_file_is_replaced_only_with_force(tmp_path):
    path = tmp_path / "f.run"
    fuse([A, B], path=path)
    before = path.read_bytes()
    with pytest.raises(cranfield.OutputError, match="already exists"):
        fuse([A, B], "isr", path=path)
    assert path.read_bytes() == before
    fuse([A, B], "isr", path=path, force=True)
    assert path.read_bytes() != before


def test_comparing_a_fused_run_with_a_recorded_one_is_no_doubt_about_how_they_were_asked():
    recorded = cranfield.record(lambda query, k=3: ["a", "b", "c"][:k], {str(q): "cats" for q in range(12)}, k=2)
    fused = fuse([recorded, {str(q): ["c", "a"] for q in range(12)}])
    compared = compare({str(q): {"a": 1} for q in range(12)}, {"one": recorded, "both": fused}, "RR")
    assert not [doubt for doubt in compared.doubts if doubt.kind == "asked"]


# What is refused.


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ({"method": "rff"}, "there is no fusion method 'rff'", "did you mean rrf?"),
        ({"normalisation": "minmaxx", "method": "combsum"}, "there is no normalisation 'minmaxx'", "min-max"),
        ({"normalisation": "sum"}, "it looks at ranks alone", "leave out"),
        ({"k": -1}, "k cannot be -1", "a number from 0"),
        ({"k": "many"}, "k cannot be 'many'", "a number from 0"),
        ({"k": math.nan}, "k cannot be nan", "a number from 0"),
        ({"method": "rbc", "phi": 1}, "phi cannot be 1", "above 0 and below 1"),
        ({"phi": 0.5}, "it has no parameter 'phi'", "it has k, weights"),
        ({"method": "isr", "k": 1}, "it has no parameter 'k'", "it has none"),
        ({"method": "combmax", "weights": [1, 2]}, "its runs have no weights", "rrf, combsum"),
        ({"weights": [1]}, "1 for 2 runs", "one for each run"),
        ({"weights": [0, 0]}, "are not weights", "not all 0"),
        ({"weights": [1, -1]}, "are not weights", "numbers from 0"),
        ({"weights": {"one": 1}}, "two has no weight", "one, two"),
        ({"weights": {"one": 1, "tow": 2}}, "no run is called 'tow'", "one, two"),
        ({"weights": ["x", 1]}, "are not numbers", "one for each run"),
        ({"depth": 0}, "is not a number of documents", "from 1"),
    ],
)
def test_what_cannot_be_is_refused_with_a_hint(arguments, message, hint):
    with pytest.raises(InputError) as error:
        fuse({"one": A, "two": B}, **arguments)
    assert message in error.value.fact
    assert hint in error.value.hint


@pytest.mark.parametrize("method", ["combsum", "combmnz", "combanz"])
@pytest.mark.parametrize("normalisation", ["none", "z-score", "min-max"])
def test_scores_that_are_too_large_are_refused(method, normalisation):
    huge = {"q": {"a": 1.7e308, "b": 1e308, "c": -1.7e308}}
    with pytest.raises(InputError, match="the scores are too large to be added"):
        fuse([huge, huge], method, normalisation=normalisation)


def test_one_run_is_not_fused():
    with pytest.raises(InputError, match="at least two runs"):
        fuse([A])


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q2 Q0 b 1 high x", "a.run:4: score 'high' is not a number."),
        ("q2 Q0 b 1", "a.run:4: 4 columns where at least 6 are needed."),
        ("q2 Q0 b 1 inf x", "a.run:4: score 'inf' is not a finite number."),
    ],
)
def test_errors_name_the_line(tmp_path, monkeypatch, compiled, line, message):
    if not compiled:
        monkeypatch.setattr(reading, "native", None)
    monkeypatch.setattr(reading, "BYTES", 10)  # a query at a time
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.run").write_text(f"q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\nq2 Q0 a 1 2.0 x\n{line}\nq3 Q0 a 1 2.0 x\n")
    with pytest.raises(InputError) as error:
        fuse(["a.run", {"q2": {"a": 1.0}}], path="f.run")
    assert error.value.fact == message
    assert os.listdir(tmp_path) == ["a.run"]


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "a.run").write_text("# nothing\n")
    with pytest.raises(InputError, match=r"a\.run: contains only blank lines and comments"):
        fuse([tmp_path / "a.run", A])
