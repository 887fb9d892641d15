"""Scores on a GPU: `PYTHONPATH=src python bench/gpu.py [CASE …]`, with CUDA, Triton and torchmetrics.

check   the kernels count what plain torch counts, on random data of all precisions
a       6,980 × 1,000 float32: nDCG@10, AP and RR together, against torchmetrics' nDCG alone
b       6,980 × 1,000,000 half: the bandwidth of counting for one judged document and for 200, against a copy
c       6,980 queries × 8.8 million documents of 768 bfloat16: against the bare products, and products with top-1000
d       6,980 × 1,000 on the CPU, against torchmetrics; needs no GPU
tune    the time of counting for other sizes of blocks; not part of the default

Whole calls are timed by the clock between synchronisations, host work included; parts of them by CUDA events. Each is
the best of several after warming up; whole calls of `a` and `d` are also shown as the best of the first 20. The
results are kept in bench/gpu.json, for docs/benchmarks.md.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from record import record_gpu
from torch import Tensor

from cranfield import catalogue
from cranfield.torch import FullCorpus, counting, evaluate
from cranfield.torch.products import product, usual_dtype

QUERIES = 6980
MEASURES = "nDCG@10 AP RR"
FIRST_TWENTY = 3000
TABLE: list[tuple[str, str, str, str]] = []  # what, found, target, whether it is met


def note(what: str, found: str, target: str = "", met: bool | None = None) -> None:
    TABLE.append((what, found, target, "" if met is None else "met" if met else "MISSED"))
    print(f"  {what}: {found}  {target}  {TABLE[-1][3]}", flush=True)


def by_clock(work: Callable[[], Any], times: int = 5, warm: int = 2) -> float:
    """The best seconds of a call, its host work included."""
    best = float("inf")
    for turn in range(warm + times):
        wait()
        start = time.perf_counter()
        work()
        wait()
        if turn >= warm:
            best = min(best, time.perf_counter() - start)
    return best


def by_events(work: Callable[[], Any], times: int = 7, warm: int = 2) -> float:
    """The best seconds that the device takes for what a call launches."""
    best = float("inf")
    for turn in range(warm + times):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        stop.record()
        stop.synchronize()
        if turn >= warm:
            best = min(best, start.elapsed_time(stop) / 1000)
    return best


def wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def case_check() -> None:
    from cranfield.torch import kernels

    cases = 0
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        for n, judged, levels in (
            (1, 1, 3),
            (1000, 1, 0),
            (70_001, 1, 50),
            (70_001, 5, 0),
            (70_001, 40, 0),
            (70_016, 200, 0),
            (131_072, 300, 4000),
            (5000, 30, 3),
        ):
            scores = torch.randint(0, levels, (37, n), device="cuda") if levels else torch.randn(37, n, device="cuda")
            scores = scores.to(dtype)
            scores[3, n // 2 :] = -torch.inf
            mask = torch.rand(37, n, device="cuda") < judged / n
            mask[:, 0] = True
            mask[5] = False
            row, column = mask.nonzero(as_tuple=True)
            own = scores[row, column]
            own = own.masked_fill(own == -torch.inf, torch.inf)
            for tile in (0, n + 3, -n - 3):
                found = []
                for kind in (kernels.DeviceCounter, counting.PlainCounter):
                    one = kind(row, own, column, mask.sum(1).cpu().numpy())
                    one.add(scores, tile)
                    found.append(one.counted())
                for name, ours, plain in zip(found[0]._fields, *found, strict=True):
                    if not torch.equal(ours.long(), plain.long()):
                        wrong = int((ours.long() != plain.long()).sum())
                        raise SystemExit(f"{dtype} {n} {judged} {levels} tile {tile}: {wrong} differ in {name}")
                cases += 1
    given = {"cutoff": "@10", "recall": "(recall=0.5)", "documents": "(documents=3000)"}
    lengths = ("TBG", "U")  # which need the lengths of documents
    names = [
        name + "".join(given[one] for one in needed(definition))
        for name, definition in catalogue().items()
        if definition.table == "ranks" and name not in lengths
    ]
    grades = torch.randint(-1, 4, (60, 3000)).double() * (torch.rand(60, 3000) < 0.02)
    for dtype in (torch.float16, torch.float32):
        scores = torch.randn(60, 3000).to(dtype)
        here, there = (evaluate(grades.to(device), scores.to(device), names) for device in ("cpu", "cuda"))
        wrong = [one.name for one in here.measures if here.column(one).tolist() != there.column(one).tolist()]
        note(f"measures with other values on the GPU, {dtype}", f"{len(wrong)} of {len(names)}", "0", not wrong)
    torch.manual_seed(2)
    queries, documents = (torch.randn(rows, 64, device="cuda") for rows in (50, 30_000))
    judgments = (torch.arange(50), torch.arange(50) * 500 + 7, torch.ones(50))
    exact = queries.double() @ documents.double().T
    expected = 1 + (exact > exact[judgments[0], judgments[1]][:, None]).sum(1).cpu()
    rank = torch.tensor(FullCorpus(judgments, queries, documents, tile=4096).ranks().rank)
    near = int((rank - expected).abs().max())  # float32 products may swap neighbours
    check_whole_numbers()
    note("kernels equal plain torch", f"{cases} cases", "all", True)
    note("full corpus, farthest from float64 ranks", f"{near}", "≤ 2", near <= 2)


def check_whole_numbers() -> None:
    """Whole numbers, whose products are exact in every arithmetic: the ranks must be those of float64."""
    kinds = {torch.int8: 128, torch.float8_e4m3fn: 9, torch.float8_e5m2: 5, torch.bfloat16: 9, torch.float16: 9}
    for dtype, limit in kinds.items():
        queries, documents = (torch.randint(1 - limit, limit, (rows, 104), device="cuda") for rows in (40, 30_000))
        judgments = (torch.arange(40), torch.arange(40) * 500 + 7, torch.ones(40))
        exact = (queries.double() @ documents.double().T).to(usual_dtype(dtype, "dot")).double()
        own = exact[judgments[0], judgments[1]][:, None]
        column = torch.arange(30_000, device="cuda")
        before = (exact == own) & (column > judgments[1].to("cuda")[:, None])
        expected = 1 + ((exact > own) | before).sum(1).cpu()
        found = FullCorpus(judgments, queries.to(dtype), documents.to(dtype), tile=4096).ranks().rank
        wrong = int((torch.tensor(found) != expected).sum())
        note(f"full corpus of {dtype}, ranks that are wrong", f"{wrong} of 40", "0", wrong == 0)


def needed(definition: Any) -> set[str]:
    """The parameters of a measure that have no default."""
    parameters = inspect.signature(definition.function).parameters.values()
    return {one.name for one in parameters if one.kind == one.KEYWORD_ONLY and one.default is one.empty}


def relevance(n: int, device: str) -> Tensor:
    grades = torch.zeros(QUERIES, n, dtype=torch.int64, device=device)
    grades[torch.arange(QUERIES), torch.randint(0, n, (QUERIES,))] = 1
    return grades


def against_torchmetrics(device: str, what: str, target: int, turns: int) -> None:
    from torchmetrics.retrieval import RetrievalNormalizedDCG

    scores, grades = torch.rand(QUERIES, 1000, device=device), relevance(1000, device)
    indexes = torch.arange(QUERIES, device=device).repeat_interleave(1000)
    call = partial(evaluate, grades, scores, MEASURES)
    soon = by_clock(call, 20)
    metric = RetrievalNormalizedDCG(top_k=10)
    value = 0.0

    def theirs() -> None:
        nonlocal value
        metric.reset()
        metric.update(scores.flatten(), grades.flatten(), indexes)
        value = float(metric.compute())

    # In turns, because the speed of the host varies. A call of milliseconds reaches its full speed only after many
    # repetitions.
    ours, slow = (min(each) for each in zip(*((by_clock(call, 200), by_clock(theirs, 1, 1)) for _ in range(turns))))
    difference = abs(value - evaluate(grades, scores, MEASURES)["nDCG@10"])
    note(f"{what}: three measures, whole call", f"{ours * 1000:.2f} ms; {soon * 1000:.2f} ms in the first 20 calls")
    note(
        f"{what}: torchmetrics nDCG@10",
        f"{slow * 1000:.0f} ms, differs by {difference:.1e}",
        "≤ 1e-5",
        difference < 1e-5,
    )
    ratios = f"{slow / ours:.0f} ×; {slow / soon:.0f} × in the first 20 calls"
    note(f"{what}: ratio", ratios, f"≥ {target} ×", slow / ours >= target)
    if target > FIRST_TWENTY:
        met = slow / soon >= FIRST_TWENTY
        note(f"{what}: ratio in the first 20 calls", f"{slow / soon:.0f} ×", f"≥ {FIRST_TWENTY} ×", met)


def case_a() -> None:
    against_torchmetrics("cuda", "a  GPU 6,980 × 1,000", 4000, 3)


def case_d() -> None:
    against_torchmetrics("cpu", f"d  CPU 6,980 × 1,000, {torch.get_num_threads()} threads", 100, 3)


def many_scores(n: int = 1_000_000) -> Tensor:
    scores = torch.empty(QUERIES, n, dtype=torch.float16, device="cuda")
    for block in scores.split(500):
        block.normal_()
    return scores


def judged_at_random(scores: Tensor, each: int) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, scores and columns of `each` different documents of every row."""
    n = scores.shape[1]
    step = n // each  # one in every stretch
    row = torch.arange(QUERIES, device="cuda").repeat_interleave(each)
    column = torch.arange(each, device="cuda").repeat(QUERIES) * step
    column += torch.randint(0, step, column.shape, device="cuda")
    return row, scores[row, column], column


def case_b() -> None:
    scores = many_scores()
    size = scores.numel() * scores.element_size()
    half = scores.view(2, -1)
    copy = size / by_events(lambda: half[0].copy_(half[1]))  # reads one half and writes the other
    scores = many_scores()
    note("b  copy", f"{copy / 1e12:.2f} TB/s, read and written")
    times = {}
    for each in (1, 3, 20, 200):
        row, own, column = judged_at_random(scores, each)
        start = time.perf_counter()
        counter = counting.counter(row, own, column, np.full(QUERIES, each))
        wait()
        prepared = time.perf_counter() - start
        times[each] = by_events(lambda counter=counter: counter.add(scores))
        speed = size / times[each]
        found = f"{times[each] * 1000:.2f} ms, {speed / 1e12:.2f} TB/s read; {prepared * 1000:.1f} ms to prepare"
        note(f"b  counting, {each} judged each", found)
        if each == 1:
            note("b  one judged each, of the copy's bandwidth", f"{speed / copy:.0%}", "≥ 70 %", speed / copy >= 0.7)
    ratio = times[200] / times[1]
    note("b  200 judged each, ratio to one", f"{ratio:.1f} ×", "≤ 3.5 ×", ratio <= 3.5)
    row, own, column = judged_at_random(scores, 1)
    judgments = (row, column, torch.ones_like(row))
    note("b  one judged each, whole call", f"{by_clock(lambda: evaluate(judgments, scores, MEASURES)) * 1000:.1f} ms")


def case_c(documents: int = 8_800_000, dimensions: int = 768, tile: int = 1 << 16) -> None:
    queries = torch.randn(QUERIES, dimensions, device="cuda").bfloat16()
    shards = []
    for start in range(0, documents, 1 << 20):
        shard = torch.empty(min(1 << 20, documents - start), dimensions, dtype=torch.bfloat16, device="cuda")
        shards.append(shard.normal_())
    row = torch.arange(QUERIES)
    judgments = (row, torch.randint(0, documents, (QUERIES,)), torch.ones(QUERIES))
    tiles = [part for shard in shards for part in shard.split(tile)]
    out = torch.empty(QUERIES, tile, dtype=torch.bfloat16, device="cuda")

    def products() -> None:
        for part in tiles:
            torch.mm(queries, part.T, out=out[:, : len(part)] if len(part) == tile else None)

    passes = []
    count = FullCorpus._count

    def counted(self: FullCorpus, own: Tensor) -> Any:
        passes.append(1)
        return count(self, own)

    FullCorpus._count = counted
    # In turns, because the device becomes slower as it becomes warmer.
    call = partial(FullCorpus, judgments, queries, shards, tile=tile)
    turns = 6
    pairs = [(by_events(products, 1, 1), by_clock(lambda: call().evaluate(MEASURES), 1, 1)) for _ in range(turns)]
    FullCorpus._count = count
    bare, ours = (float(np.median(each)) for each in zip(*pairs))
    rate = 2 * QUERIES * documents * dimensions / bare
    note("c  bare products", f"{bare * 1000:.0f} ms, {rate / 1e12:.0f} TFLOP/s")
    once = len(passes) / (2 * turns)
    note("c  full corpus, whole call", f"{ours * 1000:.0f} ms, {once:.2f} passes", "1 pass", once == 1)
    note("c  ratio to the bare products", f"{ours / bare:.3f} ×", "≤ 1.05 ×", ours / bare <= 1.05)
    wide = by_clock(
        lambda: FullCorpus(judgments, queries, shards, tile=tile, dtype=torch.float32).evaluate(MEASURES), 2, 1
    )
    note("c  compared in float32, ratio to the bare products", f"{wide / bare:.2f} ×")

    eight_bits(judgments, queries, tiles, tile)
    some = tiles[:6]

    def with_top() -> None:
        best: Any = None
        for part in some:
            values, places = (queries @ part.T).topk(1000, dim=1)
            if best is not None:
                values, places = torch.cat((best[0], values), 1), torch.cat((best[1], places), 1)
                values, kept = values.topk(1000, dim=1)
                places = places.gather(1, kept)
            best = values, places

    top = by_events(with_top, 2, 1) * documents / (len(some) * tile)
    note("c  products with top-1000", f"{top * 1000:.0f} ms, scaled from {len(some)} of {len(tiles)} tiles")
    note("c  top-1000 over full corpus", f"{top / ours:.1f} ×", "≥ 3 ×", top / ours >= 3)


def eight_bits(judgments: Any, queries: Tensor, tiles: Sequence[Tensor], tile: int) -> None:
    """The same corpus in 8 bits, against the bare products of those."""
    some = tiles[:32]
    inside = judgments[1] < sum(map(len, some))
    judged = tuple(column[inside] for column in judgments)
    for dtype in (torch.int8, torch.float8_e4m3fn):
        scores = usual_dtype(dtype, "dot")
        factor = 30 if dtype == torch.int8 else 1
        small = [(part.float() * factor).to(dtype) for part in some]
        asked = (queries.float() * factor).to(dtype)

        def products(asked: Tensor = asked, small: Sequence[Tensor] = small, scores: torch.dtype = scores) -> None:
            for part in small:
                product(asked, part, scores)

        bare = by_events(products, 3, 1)
        corpus = partial(FullCorpus, judged, asked, small, tile=tile)
        ours = by_clock(lambda corpus=corpus: corpus().evaluate(MEASURES), 3, 1)
        rate = 2 * QUERIES * tile * len(small) * queries.shape[1] / bare
        found = f"{ours / bare:.2f} × the bare products, {rate / 1e12:.0f} TFLOP/s"
        note(f"c  full corpus of {dtype}, {len(small)} tiles", found)


def case_tune() -> None:
    from cranfield.torch import kernels

    scores = many_scores()
    one, many = (judged_at_random(scores, each) for each in (1, 200))
    for span in (1 << 15, 1 << 16, 1 << 18):
        kernels._SPAN = span
        for block, warps in ((256, 4), (512, 4), (512, 8), (1024, 4), (1024, 8), (2048, 4), (2048, 8), (4096, 8)):
            kernels._BLOCK_ONE, kernels._WARPS_ONE = block, warps
            kernels._BLOCK_MANY, kernels._WARPS_MANY = block, warps
            times = []
            for (row, own, column), each in ((one, 1), (many, 200)):
                counter = counting.counter(row, own, column, np.full(QUERIES, each))
                times.append(by_events(lambda counter=counter: counter.add(scores), 3, 1) * 1000)
            print(f"  span {span:7} block {block:4} warps {warps}: {times[0]:7.2f} ms {times[1]:8.2f} ms", flush=True)


CASES = {"check": case_check, "a": case_a, "b": case_b, "c": case_c, "d": case_d, "tune": case_tune}


def main() -> None:
    wanted = sys.argv[1:] or [case for case in CASES if case != "tune"]
    if torch.cuda.is_available():
        print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    for case in wanted:
        torch.manual_seed(1)
        if case != "d" and not torch.cuda.is_available():
            print(f"{case}: there is no GPU here.")
            continue
        print(case, flush=True)
        CASES[case]()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
    print("\n" + "\n".join(f"{what:58}{found:44}{target:10}{met}" for what, found, target, met in TABLE))
    if torch.cuda.is_available():
        record_gpu(torch.cuda.get_device_name(), TABLE)


if __name__ == "__main__":
    main()
