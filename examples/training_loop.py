"""Train an adapter for queries, and measure it over the whole corpus between two steps: exactly, with no top k.

    python examples/training_loop.py
    python examples/training_loop.py --documents 8841823 --queries 6980 --dimensions 768

The second has the size of MS MARCO and is for a GPU. Documents stand for embeddings of a frozen encoder; a query is its
document, distorted and with noise. The adapter learns to undo the distortion, from other queries than those measured.
"""

from __future__ import annotations

import argparse
import time

import torch

from cranfield.torch import FullCorpus


def main() -> None:
    """Train and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--every", type=int, default=50)
    sizes = parser.parse_args()
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    precision = torch.bfloat16 if device.type == "cuda" else torch.float32

    documents = torch.empty(sizes.documents, sizes.dimensions, dtype=precision, device=device).normal_()
    noise = sizes.dimensions**0.5 / 7
    distort = torch.linalg.qr(torch.randn(sizes.dimensions, sizes.dimensions))[0].to(device)

    def asked(relevant: torch.Tensor) -> torch.Tensor:
        """Queries that documents answer."""
        found = documents[relevant].float()
        return (found + noise * torch.randn_like(found)) @ distort

    relevant = torch.randperm(sizes.documents)[: sizes.queries]
    queries = asked(relevant)
    qrels = (torch.arange(sizes.queries), relevant, torch.ones(sizes.queries))

    adapter = torch.nn.Linear(sizes.dimensions, sizes.dimensions, bias=False, device=device)
    optimizer = torch.optim.Adam(adapter.parameters(), lr=0.005)
    for step in range(sizes.steps + 1):
        if step % sizes.every == 0:
            start = time.perf_counter()
            with torch.no_grad():
                adapted = adapter(queries).to(precision)
            result = FullCorpus(qrels, adapted, documents).evaluate("RR@10 nDCG@10 R@1000 AP")
            took = time.perf_counter() - start
            values = "  ".join(f"{measure} {value:.4f}" for measure, value in result.items())
            print(f"step {step:4}  {values}  {len(documents):,} documents in {took:.2f} s", flush=True)
        batch = torch.randint(0, sizes.documents, (256,), device=device)
        scores = adapter(asked(batch)) @ documents[batch].float().T
        loss = torch.nn.functional.cross_entropy(scores, torch.arange(len(batch), device=device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
