"""A million spans read as a run, and as the searches of tasks: `python bench/tracing.py [SPANS]`.

Prints JSON: seconds of processor time and of the clock, and the peak memory of each process in MB.
`> bench/tracing.json` keeps it. Target: a million spans in at most 30 s.

A search has five documents with ids, scores, metadata and texts of 40 words, 3.3 KB in all; other spans have a prompt
and an answer. "mixed" has one search among four spans, as agents write them; in "searches" all spans are searches;
"otlp" is "mixed" in batches of 100 spans, as the collector writes them.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SPANS = 1_000_000
KINDS = {"mixed": 0.25, "searches": 1.0, "otlp": 0.25}
BATCH = 100


def spans(number: int, share: float) -> Iterator[dict[str, Any]]:
    chance = random.Random(1)
    words = [f"word{at}" for at in range(1000)]
    texts = [" ".join(chance.choices(words, k=40)) for _ in range(500)]
    for at in range(number):
        attributes: dict[str, Any] = {"input.value": f"question {at} {chance.choice(words)}"}
        # Of four spans the third, or of all: the first of each trace is not a search, unless all are.
        if share == 1 or at % round(1 / share) == 2:
            attributes["openinference.span.kind"] = "RETRIEVER"
            for place in range(5):
                start = f"retrieval.documents.{place}.document."
                attributes[f"{start}id"] = f"doc-{chance.randrange(100_000)}-{place}"
                attributes[f"{start}score"] = round(0.9 - place * 0.05 - chance.random() * 0.04, 4)
                attributes[f"{start}content"] = chance.choice(texts)
                attributes[f"{start}metadata"] = '{"source": "kb.pdf", "page": 3}'
        else:
            attributes["openinference.span.kind"] = chance.choice(["LLM", "CHAIN", "TOOL"])
            attributes["output.value"] = chance.choice(texts)
        yield {
            "name": "step",
            "context": {"trace_id": f"0x{at // 4:032x}", "span_id": f"0x{at:016x}", "trace_state": "[]"},
            "kind": "SpanKind.INTERNAL",
            "parent_id": parent(at, share),
            "start_time": "2026-03-01T10:00:00.123456Z",
            "end_time": "2026-03-01T10:00:00.223456Z",
            "status": {"status_code": "OK"},
            "attributes": attributes,
            "events": [],
            "links": [],
            "resource": {"attributes": {"service.name": "agent"}, "schema_url": ""},
        }


def parent(at: int, share: float) -> str | None:
    """The first span of the trace; one that another service has kept, if all spans are searches."""
    if share == 1:
        return f"0xf{at // 4:015x}"
    return None if at % 4 == 0 else f"0x{at - at % 4:016x}"


def otlp(span: dict[str, Any]) -> dict[str, Any]:
    typed = [
        {"key": key, "value": {"doubleValue" if isinstance(value, float) else "stringValue": value}}
        for key, value in span["attributes"].items()
    ]
    context = span["context"]
    known = {"traceId": context["trace_id"][2:], "spanId": context["span_id"][2:], "name": "step", "kind": 1}
    parent = {"parentSpanId": span["parent_id"][2:]} if span["parent_id"] else {}
    times = {"startTimeUnixNano": "1772359200123456000", "endTimeUnixNano": "1772359200223456000"}
    return {**known, **parent, **times, "attributes": typed, "status": {}}


def write(path: Path, kind: str, number: int) -> None:
    with path.open("w") as file:
        batch = []
        for span in spans(number, KINDS[kind]):
            if kind != "otlp":
                file.write(json.dumps(span) + "\n")
                continue
            batch.append(otlp(span))
            if len(batch) == BATCH:
                file.write(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": batch}]}]}) + "\n")
                batch = []


def read(path: str, what: str) -> dict[str, float]:
    from cranfield import read_searches
    from cranfield.io.source import open_source

    start, begun = time.process_time(), time.perf_counter()
    found: Any = open_source(path, "run").by_query if what == "run" else read_searches(path)  # type: ignore[union-attr]
    seconds, clock = time.process_time() - start, time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"found": len(found), "cpu": round(seconds, 1), "clock": round(clock, 1), "mb": round(peak)}


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else SPANS
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            path = Path(folder) / f"{kind}.jsonl"
            write(path, kind, number)
            for what in ("run", "tasks"):
                command = [sys.executable, __file__, "read", str(path), what]
                answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                mb = round(path.stat().st_size / 1e6)
                rows.append({"spans": number, "kind": kind, "as": what, "file_mb": mb, **json.loads(answer)})
            path.unlink()
    print("[\n" + ",\n".join(f"  {json.dumps(row)}" for row in rows) + "\n]")


if __name__ == "__main__":
    if sys.argv[1:2] == ["read"]:
        print(json.dumps(read(*sys.argv[2:])))
    else:
        main()
