"""Find out how good search results are, whether a change made them better, and which queries went wrong.

>>> import cranfield
>>> round(cranfield.value("nDCG@5", [3, 2, 3, 0, 1]), 4)
0.9724
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.advice import Advice, advise
    from cranfield.agreement import Overlap, RunOverlap, kendall_tau, rbo, run_overlap, spearman_rho, tau_ap
    from cranfield.checking import CheckReport, Problem, check_files
    from cranfield.comparison import (
        Comparison,
        Difference,
        GateResult,
        Stability,
        compare,
        compare_evaluations,
        detectable_difference,
        gate,
        power_of,
        queries_needed,
        query_set_sizes,
        stability,
    )
    from cranfield.conversion import Conversion, convert_file
    from cranfield.engines.per_query import LazyEvaluation, evaluate_lazily
    from cranfield.errors import (
        ComparisonError,
        CranfieldError,
        DuplicateError,
        InputError,
        MeasureError,
        MissingLibrary,
        OutputError,
        PolicyError,
        SystemFailure,
    )
    from cranfield.evaluation import evaluate, evaluate_runs, value
    from cranfield.explanation import Explanation, explain
    from cranfield.judge.grouped import GroupedJudgments
    from cranfield.judge.judgments import Judgments
    from cranfield.judge.policy import Policy
    from cranfield.judge.ranks import JudgedRanks
    from cranfield.measures import Measure, catalogue, measure, parse_measure, parse_measures
    from cranfield.measures.references import bibtex
    from cranfield.result import Evaluation
    from cranfield.show.pictures import draw_chart, save_chart
    from cranfield.show.report import ReportFile, write_report
    from cranfield.systems.collapse import collapse_run
    from cranfield.systems.collection import Collection, open_collection
    from cranfield.systems.opening import open_system
    from cranfield.systems.recording import Recorded, record

# Where each public name lives; it is imported when it is first used, so that the program starts at once.
_HOMES = {
    "advice": ("Advice", "advise"),
    "agreement": ("Overlap", "RunOverlap", "kendall_tau", "rbo", "run_overlap", "spearman_rho", "tau_ap"),
    "checking": ("CheckReport", "Problem", "check_files"),
    "conversion": ("Conversion", "convert_file"),
    "comparison": (
        *(
            "Comparison",
            "Difference",
            "GateResult",
            "Stability",
            "compare",
            "compare_evaluations",
            "detectable_difference",
        ),
        *("gate", "power_of", "queries_needed", "query_set_sizes", "stability"),
    ),
    "errors": (
        *("ComparisonError", "CranfieldError", "DuplicateError", "InputError", "MeasureError", "MissingLibrary"),
        *("OutputError", "PolicyError", "SystemFailure"),
    ),
    "engines.per_query": ("LazyEvaluation", "evaluate_lazily"),
    "evaluation": ("evaluate", "evaluate_runs", "value"),
    "explanation": ("Explanation", "explain"),
    "result": ("Evaluation",),
    "judge.grouped": ("GroupedJudgments",),
    "judge.judgments": ("Judgments",),
    "judge.policy": ("Policy",),
    "judge.ranks": ("JudgedRanks",),
    "measures.references": ("bibtex",),
    "show.pictures": ("draw_chart", "save_chart"),
    "show.report": ("ReportFile", "write_report"),
    "systems.collapse": ("collapse_run",),
    "systems.collection": ("Collection", "open_collection"),
    "systems.opening": ("open_system",),
    "systems.recording": ("Recorded", "record"),
    "measures": ("Measure", "catalogue", "measure", "parse_measure", "parse_measures"),
}

__all__ = [
    "Advice",
    "CheckReport",
    "Collection",
    "Comparison",
    "ComparisonError",
    "Conversion",
    "CranfieldError",
    "Difference",
    "DuplicateError",
    "Evaluation",
    "Explanation",
    "GateResult",
    "GroupedJudgments",
    "InputError",
    "JudgedRanks",
    "Judgments",
    "LazyEvaluation",
    "Measure",
    "MeasureError",
    "MissingLibrary",
    "OutputError",
    "Overlap",
    "Policy",
    "PolicyError",
    "Problem",
    "Recorded",
    "ReportFile",
    "RunOverlap",
    "Stability",
    "SystemFailure",
    "__version__",
    "advise",
    "bibtex",
    "catalogue",
    "check_files",
    "collapse_run",
    "compare",
    "compare_evaluations",
    "convert_file",
    "detectable_difference",
    "draw_chart",
    "evaluate",
    "evaluate_lazily",
    "evaluate_runs",
    "explain",
    "gate",
    "kendall_tau",
    "measure",
    "open_collection",
    "open_system",
    "parse_measure",
    "parse_measures",
    "power_of",
    "queries_needed",
    "query_set_sizes",
    "rbo",
    "record",
    "run_overlap",
    "save_chart",
    "spearman_rho",
    "stability",
    "tau_ap",
    "value",
    "write_report",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            found = getattr(import_module(f"cranfield.{home}"), name)
            globals()[name] = found
            return found
    from cranfield.others import hint_for

    hint = hint_for(name)
    raise AttributeError(f"module 'cranfield' has no attribute '{name}'" + (f"\nHint: {hint}" if hint else ""))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
