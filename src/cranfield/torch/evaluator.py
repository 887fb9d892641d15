"""An evaluator with the interface of sentence-transformers, for training and for finished models."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from cranfield.errors import InputError
from cranfield.evaluation.result import Evaluation
from cranfield.measures import DEFAULT_MEASURES, Measures, parse_measures
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.torch.corpus import FullCorpus, Similarity

if TYPE_CHECKING or not find_spec("sentence_transformers"):
    SentenceEvaluator = object
else:  # whose trainer accepts only subclasses of its own class as a single evaluator
    try:
        from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator
    except ImportError:  # before its version 6
        from sentence_transformers.evaluation import SentenceEvaluator


class RetrievalEvaluator(SentenceEvaluator):
    """Embeds queries and documents with a model, ranks the whole corpus exactly, and measures.

    qrels: anything that `cranfield.evaluate` takes; the judged documents must be among the documents.
    queries, documents: the texts by id. Queries without a judgment are not embedded.
    measures: the first one is the `primary_metric`, unless `primary` names another.
    name: a prefix of the names of the measures, as in sentence-transformers.

    Call it with a model, or pass it to a trainer: it returns {measure: mean}, and `result` is the last Evaluation. With
    an output path, a line is added to a CSV file there. Anything with `encode(texts)` is a model; `encode_query` and
    `encode_document` are preferred where it has them.

    >>> class Letters:
    ...     def encode(self, texts, **options):
    ...         return torch.tensor([[float(text.count(letter)) for letter in "act"] for text in texts])
    >>> evaluator = RetrievalEvaluator({"q": {"a": 1}}, {"q": "cat"}, {"a": "tac", "b": "dog at"}, "RR", name="tiny")
    >>> evaluator(Letters()), evaluator.primary_metric, evaluator.description
    ({'tiny_RR': 1.0}, 'tiny_RR', 'Information Retrieval')
    >>> evaluator.result.by_query("RR"), evaluator.get_config_dict()["similarity"]
    ({'q': 1.0}, 'cosine')
    """

    greater_is_better: bool

    def __init__(
        self,
        qrels: Any,
        queries: Mapping[str, str],
        documents: Mapping[str, str],
        measures: Measures = DEFAULT_MEASURES,
        *,
        primary: str | None = None,
        similarity: Similarity = "cosine",
        batch_size: int = 32,
        policy: Policy | None = None,
        name: str = "",
        write_csv: bool = True,
    ) -> None:
        super().__init__()
        judgments = Judgments.read(qrels)
        # Columns are in the order of the ids, so that ties are broken as in a run file.
        self._ids = sorted(map(str, documents), key=str.encode)
        self._texts = [documents[document] for document in self._ids]
        place = {document: column for column, document in enumerate(self._ids)}
        unknown = [document for document in judgments.document_ids if document not in place]
        if unknown:
            raise InputError("qrels", f"document '{unknown[0]}' is judged, but not among the documents.")
        absent = [query for query in judgments.query_ids if query not in queries]
        if absent:
            raise InputError("qrels", f"query '{absent[0]}' is judged, but not among the queries.")
        self._query_ids = judgments.query_ids
        self._questions = [queries[query] for query in judgments.query_ids]
        columns = [place[document] for document in judgments.document_ids]
        self._judgments = (torch.tensor(judgments.query), torch.tensor(columns), torch.tensor(judgments.grades))
        self._measures = parse_measures(measures)
        self.name = name
        self._policy, self._batch_size, self._write_csv = policy, batch_size, write_csv
        self._similarity: Similarity = similarity
        first = parse_measures(primary)[0] if primary else self._measures[0]
        if first not in self._measures:
            raise InputError("primary", f"{first.name} is not one of the measures.")
        self.greater_is_better = not first.definition.lower_is_better
        self.primary_metric = self._key(first.name)
        self.result: Evaluation | None = None

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """The means of the measures for a model."""
        embed_query = getattr(model, "encode_query", model.encode)
        embed_document = getattr(model, "encode_document", model.encode)
        options = {"batch_size": self._batch_size, "convert_to_tensor": True, "show_progress_bar": False}
        queries = torch.as_tensor(embed_query(self._questions, **options))
        documents = torch.as_tensor(embed_document(self._texts, **options))
        corpus = FullCorpus(self._judgments, queries, documents, self._similarity, query_ids=self._query_ids)
        self.result = corpus.evaluate(self._measures, policy=self._policy, name=self.name or "embeddings")
        values = {self._key(measure): value for measure, value in self.result.items()}
        if output_path is not None and self._write_csv:
            self._write(Path(output_path), epoch, steps)
        store = getattr(getattr(model, "model_card_data", None), "set_evaluation_metrics", None)
        if store:
            store(self, values, epoch, steps)
        return values

    @property
    def description(self) -> str:
        """The kind of evaluation, as a model card names it."""
        return "Information Retrieval"

    def get_config_dict(self) -> dict[str, Any]:
        """How the values were measured, for a model card."""
        return {"similarity": self._similarity, "policy": str(self._policy or Policy())}

    def _key(self, measure: str) -> str:
        return f"{self.name}_{measure}" if self.name else measure

    def _write(self, folder: Path, epoch: int, steps: int) -> None:
        assert self.result is not None
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"cranfield_evaluation{'_' + self.name if self.name else ''}_results.csv"
        new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            if new:
                rows.writerow(["epoch", "steps", *self.result])
            rows.writerow([epoch, steps, *self.result.values()])
