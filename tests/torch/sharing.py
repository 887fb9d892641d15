"""One of two processes that share a corpus: `python -m tests.torch.sharing RANK FOLDER`."""

import json
import sys
from pathlib import Path

import torch
from torch import distributed

from cranfield import InputError
from cranfield.torch import FullCorpus
from tests.torch.test_corpus import EIGHT_BITS, embeddings

KINDS = {str(kind): kind for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64, *EIGHT_BITS)}
MEASURES = "AP nDCG@5 bpref RR"
PARTS = ([0, 31, 50], [0, 0, 50])  # where the part of each process begins


def shared(rank, parts, **options):
    """A corpus, the part of this process in two shards."""
    queries, documents, judgments = embeddings(4, **options)
    mine = documents[parts[rank] : parts[rank + 1]]
    return FullCorpus(
        judgments, queries, [mine[:9], mine[9:]] if len(mine) else [], tile=8, group=distributed.group.WORLD
    )


def main(rank, folder):
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    found = {}
    for parts in PARTS:
        for name, kind in KINDS.items():
            corpus = shared(rank, parts, dtype=kind)
            found[f"{name} {parts}"] = [
                corpus.ranks().rank.tolist(),
                corpus.evaluate(MEASURES).to_dict(per_query=True)["per_query"],
            ]
    again = shared(rank, PARTS[0])
    own = again._ahead()
    again._ahead = lambda: torch.zeros_like(own)  # other scores than in the tiles: all is counted again
    found["again"] = [again.ranks().rank.tolist(), again.evaluate(MEASURES).to_dict(per_query=True)["per_query"]]
    broken = shared(rank, PARTS[0])
    if rank == 0:
        broken._documents[0][3] = torch.nan
    try:
        broken.ranks()
    except InputError as error:
        found["error"] = str(error)
    Path(folder, f"{rank}.json").write_text(json.dumps(found))
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
