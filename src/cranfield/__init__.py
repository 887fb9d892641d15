"""Find out how good search results are, whether a change made them better, and which queries went wrong.

>>> import cranfield
>>> round(cranfield.value("nDCG@5", [3, 2, 3, 0, 1]), 4)
0.9724
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from cranfield.version import __version__ as __version__

# The public names. Each is imported when it is first used, so that `import cranfield` and the program start at once.
if TYPE_CHECKING:
    from cranfield.comparison.comparing import compare as compare
    from cranfield.comparison.comparing import compare_evaluations as compare_evaluations
    from cranfield.comparison.conclusions import Comparison as Comparison
    from cranfield.comparison.differences import Difference as Difference
    from cranfield.comparison.doubts import Doubt as Doubt
    from cranfield.comparison.gating import GateResult as GateResult
    from cranfield.comparison.gating import gate as gate
    from cranfield.comparison.order_agreement import Overlap as Overlap
    from cranfield.comparison.order_agreement import RunOverlap as RunOverlap
    from cranfield.comparison.order_agreement import kendall_tau as kendall_tau
    from cranfield.comparison.order_agreement import rbo as rbo
    from cranfield.comparison.order_agreement import run_overlap as run_overlap
    from cranfield.comparison.order_agreement import spearman_rho as spearman_rho
    from cranfield.comparison.order_agreement import tau_ap as tau_ap
    from cranfield.comparison.power import detectable_difference as detectable_difference
    from cranfield.comparison.power import power_of as power_of
    from cranfield.comparison.power import queries_needed as queries_needed
    from cranfield.comparison.power import query_set_sizes as query_set_sizes
    from cranfield.comparison.reusability import Reusability as Reusability
    from cranfield.comparison.reusability import reusability as reusability
    from cranfield.comparison.segments import SegmentComparison as SegmentComparison
    from cranfield.comparison.stability import Stability as Stability
    from cranfield.comparison.stability import stability as stability
    from cranfield.dialects.dialect import Dialect as Dialect
    from cranfield.dialects.like import LikeEvaluation as LikeEvaluation
    from cranfield.dialects.like import evaluate_like as evaluate_like
    from cranfield.dialects.tools import known_dialects as known_dialects
    from cranfield.dialects.why import Reason as Reason
    from cranfield.dialects.why import Why as Why
    from cranfield.dialects.why import why as why
    from cranfield.errors import ComparisonError as ComparisonError
    from cranfield.errors import CranfieldError as CranfieldError
    from cranfield.errors import DuplicateError as DuplicateError
    from cranfield.errors import InputError as InputError
    from cranfield.errors import MeasureError as MeasureError
    from cranfield.errors import MissingLibrary as MissingLibrary
    from cranfield.errors import OutputError as OutputError
    from cranfield.errors import PolicyError as PolicyError
    from cranfield.errors import SystemFailure as SystemFailure
    from cranfield.evaluation.advice import Advice as Advice
    from cranfield.evaluation.advice import advise as advise
    from cranfield.evaluation.checking import CheckReport as CheckReport
    from cranfield.evaluation.checking import Problem as Problem
    from cranfield.evaluation.checking import check_files as check_files
    from cranfield.evaluation.collection_presets import CollectionPreset as CollectionPreset
    from cranfield.evaluation.collection_presets import preset as preset
    from cranfield.evaluation.corrected import CorrectedJudgments as CorrectedJudgments
    from cranfield.evaluation.estimating import Estimate as Estimate
    from cranfield.evaluation.evaluating import Evaluations as Evaluations
    from cranfield.evaluation.evaluating import evaluate as evaluate
    from cranfield.evaluation.evaluating import evaluate_runs as evaluate_runs
    from cranfield.evaluation.evaluating import value as value
    from cranfield.evaluation.explaining import Explanation as Explanation
    from cranfield.evaluation.explaining import explain as explain
    from cranfield.evaluation.explaining import explain_grades as explain_grades
    from cranfield.evaluation.lazily import LazyEvaluation as LazyEvaluation
    from cranfield.evaluation.lazily import evaluate_lazily as evaluate_lazily
    from cranfield.evaluation.reranking import Headroom as Headroom
    from cranfield.evaluation.reranking import headroom as headroom
    from cranfield.evaluation.result import Evaluation as Evaluation
    from cranfield.io.converting import Conversion as Conversion
    from cranfield.io.converting import convert_file as convert_file
    from cranfield.judging.agree import Agreement as Agreement
    from cranfield.judging.agree import agreement as agreement
    from cranfield.judging.decide import Decision as Decision
    from cranfield.judging.decide import Look as Look
    from cranfield.judging.decide import ModelledValue as ModelledValue
    from cranfield.judging.decide import PairLook as PairLook
    from cranfield.judging.decide import decide as decide
    from cranfield.judging.decide import modelled_values as modelled_values
    from cranfield.judging.models import ModelAssessor as ModelAssessor
    from cranfield.judging.models import ModelReport as ModelReport
    from cranfield.judging.models import ask_model as ask_model
    from cranfield.judging.pool import Pooled as Pooled
    from cranfield.judging.pool import pool as pool
    from cranfield.judging.pool.corrected_judgments import corrected_judgments as corrected_judgments
    from cranfield.judging.pool.planning import PlannedSample as PlannedSample
    from cranfield.judging.pool.planning import SamplePlan as SamplePlan
    from cranfield.judging.pool.planning import plan_sample as plan_sample
    from cranfield.judging.store import ReadSheet as ReadSheet
    from cranfield.judging.store import Store as Store
    from cranfield.judging.store import WrittenSheet as WrittenSheet
    from cranfield.judging.store import open_store as open_store
    from cranfield.judging.store import read_sheet as read_sheet
    from cranfield.judging.store import save_sheet as save_sheet
    from cranfield.measures import Measure as Measure
    from cranfield.measures import catalogue as catalogue
    from cranfield.measures import measure as measure
    from cranfield.measures import parse_measure as parse_measure
    from cranfield.measures import parse_measures as parse_measures
    from cranfield.measures.arithmetic import ratio as ratio
    from cranfield.measures.references import bibtex as bibtex
    from cranfield.mixing.fusing import Fused as Fused
    from cranfield.mixing.fusing import fuse as fuse
    from cranfield.mixing.tuning import Tuning as Tuning
    from cranfield.mixing.tuning import tune as tune
    from cranfield.ranks.chunk_runs import ChunkRun as ChunkRun
    from cranfield.ranks.chunks import Chunks as Chunks
    from cranfield.ranks.grouped_judgments import GroupedJudgments as GroupedJudgments
    from cranfield.ranks.judgments import Judgments as Judgments
    from cranfield.ranks.passages import PassageJudgments as PassageJudgments
    from cranfield.ranks.policy import Policy as Policy
    from cranfield.ranks.same_text import inherit_grades as inherit_grades
    from cranfield.ranks.tables.ranks import JudgedRanks as JudgedRanks
    from cranfield.report import ReportFile as ReportFile
    from cranfield.report import write_comparison as write_comparison
    from cranfield.report import write_report as write_report
    from cranfield.report.plotting import draw_chart as draw_chart
    from cranfield.report.plotting import save_chart as save_chart
    from cranfield.systems.collapse import collapse_run as collapse_run
    from cranfield.systems.collection import Collection as Collection
    from cranfield.systems.collection import open_collection as open_collection
    from cranfield.systems.opening import open_system as open_system
    from cranfield.systems.queries import Query as Query
    from cranfield.systems.recorded import Recorded as Recorded
    from cranfield.systems.recording import record as record
    from cranfield.systems.reranking import rerank as rerank


@cache
def _homes() -> dict[str, str]:
    """The module of each public name, from the imports above, which are read when a name is first used."""
    import ast

    loader: Any = __spec__ and __spec__.loader
    nodes = ast.walk(ast.parse(loader.get_source(__name__)))
    listed = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.names[0].asname]
    return {node.names[0].name: str(node.module) for node in listed}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_homes())
    if home := _homes().get(name):
        from importlib import import_module

        globals()[name] = getattr(import_module(home), name)
        return globals()[name]
    from cranfield.names_of_other_tools import hint_for

    hint = hint_for(name)
    raise AttributeError(f"module 'cranfield' has no attribute '{name}'" + (f"\nHint: {hint}" if hint else ""))


def __dir__() -> list[str]:
    return sorted({*globals(), *_homes()})
