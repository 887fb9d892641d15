"""Names that users of other tools try first, and what to write here instead."""

from __future__ import annotations

from importlib.util import find_spec

_EVALUATE = "cranfield.evaluate(qrels, run, 'nDCG@10 AP')"
_AS_IT_IS = f"pass dicts, frames and paths directly: {_EVALUATE}"

# Names of pytrec_eval, ranx, ir_measures and trec_eval's wrappers.
_NAMES = {
    "RelevanceEvaluator": f"{_EVALUATE}.by_query('AP') has the value of every query",
    "Qrels": _AS_IT_IS,
    "Run": _AS_IT_IS,
    "read_trec_qrels": _AS_IT_IS,
    "read_trec_run": _AS_IT_IS,
    "parse_qrel": _AS_IT_IS,
    "parse_run": _AS_IT_IS,
    "calc": _EVALUATE,
    "calc_aggregate": f"{_EVALUATE} is a mapping from measure to mean",
    "iter_calc": f"{_EVALUATE}.per_query has the rows",
    "evaluator": "cranfield.Judgments.read(qrels) reads judgments once, and evaluate takes them",
    "supported_measures": "cranfield.catalogue() has all measures",
    "metrics": "cranfield.catalogue() has all measures",
    "fuse": "cranfield does not fuse runs; it measures the result",
}


def hint_for(name: str) -> str:
    """What to write instead of a name that cranfield does not have; empty where nothing is known.

    >>> hint_for("nDCG")
    "measures are given by name: cranfield.evaluate(qrels, run, 'nDCG@10')"
    >>> hint_for("Qrels")
    "pass dicts, frames and paths directly: cranfield.evaluate(qrels, run, 'nDCG@10 AP')"
    """
    # Python looks up a submodule as an attribute first, maybe while the imports below are under way.
    if name in _NAMES or name.startswith("_") or find_spec(f"cranfield.{name}"):
        return _NAMES.get(name, "")
    from cranfield.measures import catalogue

    if name in catalogue():
        at = "@10" if catalogue()[name].at == "cutoff" else ""
        return f"measures are given by name: cranfield.evaluate(qrels, run, '{name}{at}')"
    from difflib import get_close_matches

    import cranfield

    return "".join(f"did you mean cranfield.{known}?" for known in get_close_matches(name, cranfield.__all__, 1))
