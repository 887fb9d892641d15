"""The overhead of recording a system: `python bench/harness.py JOB` prints seconds; see case_harness."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ANSWER = [(f"document-{rank}", 100.0 - rank) for rank in range(100)]
PAYLOAD = json.dumps({"hits": {"hits": [{"_id": name, "_score": score} for name, score in ANSWER]}}).encode()
IN_PROCESS, ON_SERVER, JOBS = 2000, 1000, 8


def search(query: str, k: int) -> list[tuple[str, float]]:
    """A system that takes no time."""
    return ANSWER[:k]


def serve() -> None:
    """A server in a separate process, so that the client does not share its interpreter."""
    import asyncio

    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(PAYLOAD)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                lines = [line.lower() for line in request.split(b"\r\n")]
                sizes = [int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")]
                await reader.readexactly(sum(sizes))
                await asyncio.sleep(0.002)  # the least time of a search
                writer.write(head + PAYLOAD)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        async with server:
            await server.serve_forever()

    threading.Thread(target=lambda: (sys.stdin.read(), __import__("os")._exit(0)), daemon=True).start()
    asyncio.run(main())


def timed(job: str) -> float:
    from cranfield.systems.opening import open_system
    from cranfield.systems.recording import record

    queries = {f"q{n}": f"query number {n}" for n in range(ON_SERVER if job.startswith("server") else IN_PROCESS)}
    if job == "in-process-bare":
        start = time.perf_counter()
        for text in queries.values():
            search(text, 100)
        return time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.run"
        if job == "in-process":
            system = open_system(search)
            start = time.perf_counter()
            record(system, queries, out, 100)
            return time.perf_counter() - start
        server = subprocess.Popen(
            [sys.executable, __file__, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}/_search"
            if job == "server-httpx":
                return _bare_loop(url, list(queries.values()))
            system = open_system({"type": "elasticsearch", "url": url})
            start = time.perf_counter()
            record(system, queries, out, 100, jobs=JOBS)
            return time.perf_counter() - start
        finally:
            assert server.stdin
            server.stdin.close()
            server.wait()


def _bare_loop(url: str, texts: list[str]) -> float:
    """A loop written by hand: the ids and scores of every answer, without writing a file."""
    import httpx

    with httpx.Client() as client, ThreadPoolExecutor(JOBS) as pool:

        def ask(text: str) -> list[tuple[str, float]]:
            answer = client.post(url, json={"query": text, "size": 100}).json()
            return [(hit["_id"], hit["_score"]) for hit in answer["hits"]["hits"]]

        start = time.perf_counter()
        assert all(len(ranking) == 100 for ranking in pool.map(ask, texts))
        return time.perf_counter() - start


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        print(timed(sys.argv[1]))
