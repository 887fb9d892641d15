"""The output of trec_eval 10.0, for the measures we have."""

import shlex
from pathlib import Path

import pytest

import cranfield
from cranfield import Policy, parse_measure

CASES = sorted(Path(__file__).with_name("golden").iterdir())


def read_case(folder):
    """(policy, rel, judged only) and {(printed name, query): value}."""
    options = shlex.split((folder / "args").read_text())
    depth = int(options[options.index("-M") + 1]) if "-M" in options else None
    rel = int(options[options.index("-l") + 1]) if "-l" in options else 1
    expected = {}
    for line in (folder / "expected").read_text().splitlines():
        name, query, value = line.split("\t")
        expected[name.strip(), query] = value
    ties = "smaller_doc_id" if {"prefs", "qrels_prefs"} & set(options) else "doc_id"
    return Policy(ties=ties, depth=depth), rel, "-J" in options, expected


NOT_MEASURES = {"runid", "relstring", "relstring_6"}  # texts that only the drop-in prints


@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
def test_values_match_trec_eval(folder):
    policy, rel, judged_only, expected = read_case(folder)
    compared = 0
    measures = {}
    for name in {name for name, _ in expected}:
        if name in NOT_MEASURES:
            continue
        measure = parse_measure(name)
        if rel != 1 and "rel" in measure.definition.kinds:
            measure = measure.replace(rel=rel)
        if "avgjg" not in name and folder.name == "groups":
            continue  # num_q: an ordinary measure, and here documents have several grades
        measures[name] = measure.replace(judged_only=judged_only)
    if not measures:
        pytest.skip("none of its measures is in the catalogue yet")
    result = cranfield.evaluate(folder / "qrels", folder / "run", measures.values(), policy=policy)
    for name, measure in measures.items():
        values = result.by_query(measure) | {"all": result[measure]}
        shown = "{:.0f}" if measure.definition.aggregate == "sum" else "{:6.4f}"
        for (other, query), printed in expected.items():
            if other == name:
                assert shown.format(values[query]) == printed, (name, query)
                compared += 1
    assert compared
