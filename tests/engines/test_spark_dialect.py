"""The dialect of Spark gives the numbers of Spark's RankingMetrics."""

import pytest

from cranfield import evaluate_like, known_dialects
from tests.dialects import asked
from tests.dialects.made import collection
from tests.engines.conftest import WARNINGS_OF_SPARK

pytestmark = WARNINGS_OF_SPARK


def test_means_of_spark_are_those_of_its_dialect(spark):
    qrels, run = collection(2000, 8)
    run = {query: ranking for query, ranking in run.items() if query in qrels}
    answered = {query: qrels[query] for query in run}
    names = [name.theirs.format(k=5) for name in known_dialects()["Spark"].names]
    theirs = asked.spark(names, answered, run, spark.sparkContext)
    ours = evaluate_like(answered, run, "Spark", names)
    assert dict(ours) == pytest.approx(theirs, abs=1e-9)
