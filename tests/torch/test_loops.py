"""Real training loops, with small models made on the spot: sentence-transformers' trainer, Lightning, Accelerate."""

import runpy
from pathlib import Path

import pytest

import cranfield

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import cranfield.torch  # noqa: E402
from cranfield.torch import RetrievalMeasures  # noqa: E402

THEIR_OWN = pytest.mark.filterwarnings("ignore")  # libraries that train warn of their own deprecations
DOCUMENTS = {
    f"d{number}": f"{word} {other}"
    for number, (word, other) in enumerate(
        (word, other) for word in ("red", "green", "blue", "grey") for other in ("hat", "bag", "coat", "shoe")
    )
}
QUERIES = {f"q{number}": text for number, text in enumerate(DOCUMENTS.values())}
QRELS = {f"q{number}": {f"d{number}": 1} for number in range(len(QUERIES))}


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    from sentence_transformers.models import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = sorted({word for text in DOCUMENTS.values() for word in text.split()})
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(["?", *words])}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    torch.manual_seed(4)
    return transformers.SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=8)], device="cpu")


@THEIR_OWN
def test_values_match_the_evaluator_of_sentence_transformers(model):
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    qrels = {query: {f"d{(number * 5 + 3) % 16}": 1, f"d{number}": 1} for number, query in enumerate(QUERIES)}
    theirs = InformationRetrievalEvaluator(
        QUERIES, DOCUMENTS, {query: set(grades) for query, grades in qrels.items()}, write_csv=False
    )(model)
    ours = cranfield.torch.RetrievalEvaluator(
        qrels, QUERIES, DOCUMENTS, "nDCG@10 RR@10 R@10 P@10 AP(denominator=min)@100"
    )(model)
    for name, peer in {
        "nDCG@10": "cosine_ndcg@10",
        "RR@10": "cosine_mrr@10",
        "R@10": "cosine_recall@10",
        "P@10": "cosine_precision@10",
        "AP(denominator=min)@100": "cosine_map@100",
    }.items():
        assert ours[name] == pytest.approx(theirs[peer], abs=1e-6), name


@THEIR_OWN
def test_the_trainer_of_sentence_transformers_keeps_the_best_model(model, tmp_path):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.losses import MultipleNegativesRankingLoss

    # Training towards documents with the same last word makes the values fall.
    pairs = {"anchor": list(QUERIES.values()), "positive": [f"grey {text.split()[1]}" for text in QUERIES.values()]}
    evaluator = cranfield.torch.RetrievalEvaluator(QRELS, QUERIES, DOCUMENTS, "RR nDCG@10", name="words")
    before = evaluator(model)["words_RR"]
    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path),
            num_train_epochs=4,
            per_device_train_batch_size=16,
            learning_rate=0.5,
            eval_strategy="epoch",
            save_strategy="epoch",
            load_best_model_at_end=True,
            report_to=[],
            use_cpu=True,
            metric_for_best_model="eval_words_RR",
            disable_tqdm=True,
        ),
        train_dataset=datasets.Dataset.from_dict(pairs),
        loss=MultipleNegativesRankingLoss(model),
        evaluator=evaluator,
    )
    trainer.train()
    seen = [entry["eval_words_RR"] for entry in trainer.state.log_history if "eval_words_RR" in entry]
    assert len(seen) == 4
    assert before == 1
    assert trainer.state.best_metric == max(seen)
    assert evaluator(model)["words_RR"] == pytest.approx(max(seen))
    model.save_pretrained(str(tmp_path / "model"))
    assert "nDCG@10" in (tmp_path / "model" / "README.md").read_text()


@THEIR_OWN
def test_lightning_logs_the_measures_of_an_epoch(tmp_path):
    lightning = pytest.importorskip("pytorch_lightning", reason="Lightning is not installed")
    scores = torch.tensor([[0.1, 0.9, 0.3, 0.3], [0.2, 0.4, 0.6, 0.1], [0.5, 0.5, 0.5, 0.5]])
    target = torch.tensor([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0]])

    class Scorer(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.bias = torch.nn.Parameter(torch.zeros(()))
            self.measures = RetrievalMeasures("nDCG@3 RR")

        def validation_step(self, batch, number):
            row, preds, target = batch
            self.measures.update(target, preds + self.bias, row)

        def on_validation_epoch_end(self):
            self.log_dict(self.measures.compute())
            self.measures.reset()

    rows = torch.arange(3).repeat_interleave(4)
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(rows, scores.flatten(), target.flatten()), batch_size=5
    )
    trainer = lightning.Trainer(
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
        default_root_dir=tmp_path,
    )
    (logged,) = trainer.validate(Scorer(), loader, verbose=False)
    documents = ["0", "1", "2", "3"]
    expected = cranfield.evaluate(
        {str(q): dict(zip(documents, grades)) for q, grades in enumerate(target.tolist())},
        {str(q): dict(zip(documents, row)) for q, row in enumerate(scores.tolist())},
        "nDCG@3 RR",
    )
    assert logged == pytest.approx(dict(expected))


def test_the_example_learns(monkeypatch, capsys):
    example = Path(__file__).parents[2] / "examples" / "training_loop.py"
    sizes = {"documents": 3000, "queries": 100, "dimensions": 32, "steps": 60, "every": 60}
    monkeypatch.setattr("sys.argv", [str(example), *(f"--{name}={size}" for name, size in sizes.items())])
    runpy.run_path(str(example), run_name="__main__")
    before, after = (float(line.split()[3]) for line in capsys.readouterr().out.splitlines())
    assert before < 0.1 < 0.5 < after
