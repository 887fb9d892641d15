"""A simulated person who judges: `judging_person.py GRADES cranfield judge …` answers its server, then ends it.

GRADES is "q1 red-shoes 3, q1 red-hat 0"; documents that the server does not offer are added. Output is passed on.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request


def ask(address: str, name: str, **body: object) -> dict:
    request = urllib.request.Request(
        f"{address}api/{name}",
        json.dumps({"assessor": "ann", **body}).encode(),
        {"Content-Type": "application/json", "Origin": address.rstrip("/")},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def judge(address: str, grades: dict[tuple[str, str], float]) -> None:
    left = dict(grades)
    while tasks := ask(address, "next", count=1)["tasks"]:
        named = {name: tasks[0][name] for name in ("query_id", "doc_id", "part")}
        ask(address, "judge", **named, grade=left.pop((named["query_id"], named["doc_id"])), seconds=1)
    for (query, document), grade in left.items():
        ask(
            address, "find", query_id=query, words=document.replace("-", " ")
        )  # as a person would: by words of its title
        ask(address, "add", query_id=query, doc_id=document)
        ask(address, "judge", query_id=query, doc_id=document, grade=grade, seconds=1)


def main() -> None:
    rows = [row.split() for row in sys.argv[1].split(",")]
    grades = {(query, document): float(grade) for query, document, grade in rows}
    command = [*sys.argv[2:], "--no-browser", "--port", "0"]
    served = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert served.stdout is not None
    for line in served.stdout:
        address = re.search(r"http://\S+", line)
        print(line.replace(address[0], "http://127.0.0.1:8765/") if address else line, end="")
        if address:
            judge(address[0], grades)
            served.send_signal(signal.SIGINT)
    sys.exit(served.wait())


if __name__ == "__main__":
    main()
