"""What happens within groups of queries: noise, what would be better another time, robustness, consistency, p-MRR."""

import csv
from itertools import combinations
from statistics import fmean, variance

import numpy as np
import pytest

from cranfield import compare, evaluate, rbo, within_groups
from cranfield.comparison.within_groups import DRAWS, are_repeats
from cranfield.errors import ComparisonError
from tests.comparison.published_repeats import MINI, NANO, right
from tests.comparison.test_groups import published
from tests.program import run as program


def test_noise_of_the_published_example():
    qrels, runs, groups = published()
    found = compare(qrels, runs, "P@1", baseline="mini", groups=groups, bounds=False)
    noise = found.within_groups("P@1", "nano", "mini")
    assert noise.variance == pytest.approx(0.1529, abs=5e-5)
    assert noise.within == pytest.approx(0.0331, abs=5e-5)
    assert noise.noise == pytest.approx(0.0331 / 0.1529, abs=1e-3)
    assert (noise.groups, noise.better, noise.worse, noise.independent) == (198, 62, 46, True)
    assert (noise.better_low, noise.better_high) == (51, 62)  # equal means of groups are more frequent when drawn again
    assert "22% of the variance is noise within groups" in noise.sentence


def test_noise_is_that_of_a_naive_loop_and_repeats_of_two_runs_share_nothing():
    one, other = right(MINI), right(NANO)
    apart = fmean((variance(a) + variance(b)) / 5 for a, b in zip(one, other, strict=True))
    paired = fmean(variance([y - x for x, y in zip(a, b, strict=True)]) / 5 for a, b in zip(one, other, strict=True))
    qrels, runs, groups = published()
    found = compare(qrels, runs, "P@1", baseline="mini", groups=groups, bounds=False)
    assert found.within_groups("P@1", "nano", "mini").within == pytest.approx(apart)
    variants = {query: f"group {group}" for query, group in groups.items()}  # no longer named after their query
    assert are_repeats(groups)
    assert not are_repeats(variants)
    judged = {query: {"good": 1} for query in groups}
    found = compare(judged, runs, "P@1", baseline="mini", groups=variants, bounds=False)
    noise = found.within_groups("P@1", "nano", "mini")
    assert noise.within == pytest.approx(paired)
    assert "if variants were drawn again" in noise.sentence
    with pytest.raises(ComparisonError, match="without groups"):
        compare(judged, runs, "P@1", bounds=False).within_groups("P@1", "nano", "mini")


def test_counts_of_another_time_are_those_of_a_naive_loop():
    qrels, runs, groups = published()
    found = compare(qrels, runs, "P@1", baseline="mini", groups=groups, bounds=False)
    noise = found.within_groups("P@1", "nano", "mini")
    rng, counts = np.random.default_rng(9), []
    for _ in range(DRAWS // 4):  # five answers drawn from five are right as often as a binomial variable says
        drawn = [rng.binomial(5, [sum(answers) / 5 for answers in right(model)]).tolist() for model in (MINI, NANO)]
        counts.append(sum(b > a for a, b in zip(*drawn, strict=True)))
    low, high = np.percentile(counts, [2.5, 97.5])
    assert abs(noise.better_low - low) <= 1
    assert abs(noise.better_high - high) <= 1


def test_the_share_of_noise_is_right_on_average_with_few_skewed_values():
    """Values 0, 0.5 and 1 of unequal groups: the mean estimate of the noise is its true value, by simulation."""
    rng, found, true = np.random.default_rng(2), [], []
    sizes = [2, 3, 5, 1, 4] * 6
    members = {f"g{g}m{m}": f"g{g}" for g, size in enumerate(sizes) for m in range(size)}
    qrels = {query: {"a": 1} for query in members}
    for _ in range(200):
        chance = {f"g{g}": rng.choice([0.05, 0.2, 0.9], p=[0.6, 0.3, 0.1]) for g in range(len(sizes))}
        run = {q: ["a"] if rng.random() < chance[g] else ["b", "a"] for q, g in members.items()}  # 1 or 0.5
        its = within_groups(evaluate(qrels, run, "RR", groups=members), depth=0)
        several = [group for group in its.by_group if group.queries > 1]
        found.append(its.within)
        true.append(fmean(0.25 * chance[g.name] * (1 - chance[g.name]) / g.queries for g in several))
    assert fmean(found) == pytest.approx(fmean(true), rel=0.06)


def test_robustness_consistency_and_perfect_groups():
    groups = {"1": "a", "2": "a", "3": "a", "4": "b", "5": "b", "6": "c"}
    run = {
        "1": ["x", "y", "z"], "2": ["y", "x", "z"], "3": ["w", "v", "x"],
        "4": ["x", "y"], "5": ["x", "y"], "6": ["y", "x"],
    }  # fmt: skip
    result = evaluate({query: {"x": 1} for query in groups}, run, "RR R@1", groups=groups)
    found = within_groups(result, "RR")
    assert found.worst == pytest.approx((1 / 3 + 1 + 1 / 2) / 3)
    assert found.perfect == pytest.approx(1 / 3)
    of_a = fmean(rbo(run[one], run[other]).extrapolated for one, other in combinations("123", 2))
    assert found.by_group[0].consistency == pytest.approx(of_a)
    assert found.consistency == pytest.approx((of_a + 1) / 2)  # of group c, with one query, nothing is known
    assert (found.by_group[2].low, found.by_group[2].consistency) == (None, None)
    assert found.by_group[1][2:5] == (1.0, 1.0, 1.0)
    assert within_groups(result, "R@1").perfect == pytest.approx(1 / 3)  # paired accuracy
    with pytest.raises(ComparisonError, match="has no groups"):
        within_groups(result.weighted(None))


@pytest.mark.parametrize(("before", "after", "value"), [(4, 1, -0.75), (1, 4, 0.75), (2, 2, 0.0), (None, 1, -0.75)])
def test_p_mrr_of_a_document_that_a_changed_query_excludes(before, after, value):
    def ranking(rank):
        others = ["other1", "other2", "other3"]
        return others if rank is None else [*others[: rank - 1], "gone", *others[rank - 1 :]]

    qrels = {"q": {"gone": 1, "kept": 1}, "q-changed": {"gone": 0, "kept": 1}}
    run = {"q": ranking(before), "q-changed": ranking(after)}
    result = evaluate(qrels, run, "RR", groups={"q": "q", "q-changed": "q"}, check_ids=False)
    assert within_groups(result).p_mrr == pytest.approx(value)


def test_a_system_is_asked_repeatedly_and_its_repeats_are_a_group(tmp_path):
    done = program("run", "sqlite", "builtin", "--repeat", "3", "-k", "5", "-o", "a.run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "a.run.queries.tsv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 180
    assert rows[60] == {"query_id": "q01#2", "text": rows[0]["text"], "group": "q01"}
    once = program("run", "sqlite", "builtin", "-k", "5", "-o", "b.run", cwd=tmp_path)
    assert once.returncode == 0, once.stderr
    options = ("--query-columns", "a.run.queries.tsv", "-m", "nDCG@5")
    shown = program("evaluate", "builtin", "a.run", *options, cwd=tmp_path)
    plain = program("evaluate", "builtin", "b.run", "-m", "nDCG@5", cwd=tmp_path)
    value = plain.stdout.split("\n")[1].split()[1]
    assert shown.stdout.split("\n")[1].split() == ["a", value]
    assert "60 groups count once each; 180 queries" in " ".join(shown.stdout.split())
    assert "consistency" in shown.stdout
    again = ("run", "sqlite", "a.run.queries.tsv", "--repeat", "2", "-o", "c.run")
    refused = program(*again, cwd=tmp_path)  # its ids are those of repeats already
    assert refused.returncode == 2
    assert "has a # in its id" in refused.stderr
