"""Find out how good search results are, whether a change made them better, and which queries went wrong.

>>> import cranfield
>>> round(cranfield.value("nDCG@5", [3, 2, 3, 0, 1]), 4)
0.9724
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.comparison import (
        Comparison,
        Difference,
        GateResult,
        Reusability,
        Stability,
        compare,
        compare_evaluations,
        detectable_difference,
        gate,
        power_of,
        queries_needed,
        query_set_sizes,
        reusability,
        stability,
    )
    from cranfield.comparison.corrected import CorrectedEvaluation
    from cranfield.comparison.corrected_pairs import CorrectedComparison
    from cranfield.comparison.order_agreement import (
        Overlap,
        RunOverlap,
        kendall_tau,
        rbo,
        run_overlap,
        spearman_rho,
        tau_ap,
    )
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
    from cranfield.evaluation.advice import Advice, advise
    from cranfield.evaluation.evaluating import Evaluations, evaluate, evaluate_runs, value
    from cranfield.evaluation.explaining import Explanation, explain, explain_grades
    from cranfield.evaluation.lazily import LazyEvaluation, evaluate_lazily
    from cranfield.evaluation.result import Evaluation
    from cranfield.files.chart_files import save_chart
    from cranfield.files.checking import CheckReport, Problem, check_files
    from cranfield.files.converting import Conversion, convert_file
    from cranfield.judging.agreeing import Agreement, agreement
    from cranfield.judging.correcting import compare_corrected, evaluate_corrected, gate_corrected
    from cranfield.judging.deciding.deciding import decide
    from cranfield.judging.deciding.decision import Decision
    from cranfield.judging.deciding.looks import Look, PairLook
    from cranfield.judging.models.asking import ask_model
    from cranfield.judging.models.assessor import ModelAssessor
    from cranfield.judging.models.model_report import ModelReport
    from cranfield.judging.pooling import Pooled, pool
    from cranfield.judging.sheets import ReadSheet, WrittenSheet, read_sheet, save_sheet
    from cranfield.judging.store import Store, open_store
    from cranfield.measures import Measure, catalogue, measure, parse_measure, parse_measures
    from cranfield.measures.arithmetic import ratio
    from cranfield.measures.references import bibtex
    from cranfield.ranks.chunk_runs import ChunkRun
    from cranfield.ranks.chunks import Chunks
    from cranfield.ranks.grouped_judgments import GroupedJudgments
    from cranfield.ranks.judgments import Judgments
    from cranfield.ranks.passages import PassageJudgments
    from cranfield.ranks.policy import Policy
    from cranfield.ranks.tables.ranks import JudgedRanks
    from cranfield.report import ReportFile, write_comparison, write_report
    from cranfield.report.plotting import draw_chart
    from cranfield.systems.collapse import collapse_run
    from cranfield.systems.collection import Collection, open_collection
    from cranfield.systems.opening import open_system
    from cranfield.systems.recording import Recorded, record

# Where each public name lives; it is imported when it is first used, so that the program starts at once.
_HOMES = {
    "evaluation.advice": ("Advice", "advise"),
    "comparison.order_agreement": (
        "Overlap",
        "RunOverlap",
        "kendall_tau",
        "rbo",
        "run_overlap",
        "spearman_rho",
        "tau_ap",
    ),
    "files.checking": ("CheckReport", "Problem", "check_files"),
    "files.converting": ("Conversion", "convert_file"),
    "comparison": (
        *(
            "Comparison",
            "Difference",
            "GateResult",
            "Reusability",
            "Stability",
            "compare",
            "compare_evaluations",
            "detectable_difference",
        ),
        *("gate", "power_of", "queries_needed", "query_set_sizes", "reusability", "stability"),
    ),
    "comparison.corrected": ("CorrectedEvaluation",),
    "comparison.corrected_pairs": ("CorrectedComparison",),
    "errors": (
        *("ComparisonError", "CranfieldError", "DuplicateError", "InputError", "MeasureError", "MissingLibrary"),
        *("OutputError", "PolicyError", "SystemFailure"),
    ),
    "evaluation.lazily": ("LazyEvaluation", "evaluate_lazily"),
    "evaluation.evaluating": ("Evaluations", "evaluate", "evaluate_runs", "value"),
    "evaluation.explaining": ("Explanation", "explain", "explain_grades"),
    "evaluation.result": ("Evaluation",),
    "judging.agreeing": ("Agreement", "agreement"),
    "judging.correcting": ("compare_corrected", "evaluate_corrected", "gate_corrected"),
    "judging.deciding.deciding": ("decide",),
    "judging.deciding.decision": ("Decision",),
    "judging.deciding.looks": ("Look", "PairLook"),
    "judging.models.asking": ("ask_model",),
    "judging.models.assessor": ("ModelAssessor",),
    "judging.models.model_report": ("ModelReport",),
    "judging.pooling": ("Pooled", "pool"),
    "judging.sheets": ("ReadSheet", "WrittenSheet", "read_sheet", "save_sheet"),
    "judging.store": ("Store", "open_store"),
    "ranks.chunk_runs": ("ChunkRun",),
    "ranks.chunks": ("Chunks",),
    "ranks.grouped_judgments": ("GroupedJudgments",),
    "ranks.judgments": ("Judgments",),
    "ranks.passages": ("PassageJudgments",),
    "ranks.policy": ("Policy",),
    "ranks.tables.ranks": ("JudgedRanks",),
    "measures.arithmetic": ("ratio",),
    "measures.references": ("bibtex",),
    "report.plotting": ("draw_chart",),
    "files.chart_files": ("save_chart",),
    "report": ("ReportFile", "write_comparison", "write_report"),
    "systems.collapse": ("collapse_run",),
    "systems.collection": ("Collection", "open_collection"),
    "systems.opening": ("open_system",),
    "systems.recording": ("Recorded", "record"),
    "measures": ("Measure", "catalogue", "measure", "parse_measure", "parse_measures"),
}

__all__ = [
    "Advice",
    "Agreement",
    "CheckReport",
    "ChunkRun",
    "Chunks",
    "Collection",
    "Comparison",
    "ComparisonError",
    "Conversion",
    "CorrectedComparison",
    "CorrectedEvaluation",
    "CranfieldError",
    "Decision",
    "Difference",
    "DuplicateError",
    "Evaluation",
    "Evaluations",
    "Explanation",
    "GateResult",
    "GroupedJudgments",
    "InputError",
    "JudgedRanks",
    "Judgments",
    "LazyEvaluation",
    "Look",
    "Measure",
    "MeasureError",
    "MissingLibrary",
    "ModelAssessor",
    "ModelReport",
    "OutputError",
    "Overlap",
    "PairLook",
    "PassageJudgments",
    "Policy",
    "PolicyError",
    "Pooled",
    "Problem",
    "ReadSheet",
    "Recorded",
    "ReportFile",
    "Reusability",
    "RunOverlap",
    "Stability",
    "Store",
    "SystemFailure",
    "WrittenSheet",
    "__version__",
    "advise",
    "agreement",
    "ask_model",
    "bibtex",
    "catalogue",
    "check_files",
    "collapse_run",
    "compare",
    "compare_corrected",
    "compare_evaluations",
    "convert_file",
    "decide",
    "detectable_difference",
    "draw_chart",
    "evaluate",
    "evaluate_corrected",
    "evaluate_lazily",
    "evaluate_runs",
    "explain",
    "explain_grades",
    "gate",
    "gate_corrected",
    "kendall_tau",
    "measure",
    "open_collection",
    "open_store",
    "open_system",
    "parse_measure",
    "parse_measures",
    "pool",
    "power_of",
    "queries_needed",
    "query_set_sizes",
    "ratio",
    "rbo",
    "read_sheet",
    "record",
    "reusability",
    "run_overlap",
    "save_chart",
    "save_sheet",
    "spearman_rho",
    "stability",
    "tau_ap",
    "value",
    "write_comparison",
    "write_report",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            found = getattr(import_module(f"cranfield.{home}"), name)
            globals()[name] = found
            return found
    from cranfield.names_of_other_tools import hint_for

    hint = hint_for(name)
    raise AttributeError(f"module 'cranfield' has no attribute '{name}'" + (f"\nHint: {hint}" if hint else ""))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
