"""Try an installed wheel: `python .ci/smoke.py compiled` or `… pure`, from any folder, without the working tree.

It must have the scan that is named, and print what trec_eval prints, byte by byte, for every golden case.
"""

import shlex
import subprocess
import sys
from pathlib import Path

import cranfield
from cranfield.native import native

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden"
PROGRAM = "from cranfield.cli.trec_eval import main; main()"

scan = "compiled" if native else "pure"
if [scan] != sys.argv[1:]:
    sys.exit(f"{cranfield.__file__} has the {scan} scan.")
for case in sorted(GOLDEN.iterdir()):
    arguments = [*shlex.split((case / "args").read_text()), case / "qrels", case / "run"]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True)
    if (done.returncode, done.stdout) != (0, (case / "expected").read_bytes()):
        sys.exit(f"{case.name} differs:\n{done.stdout.decode()}{done.stderr.decode()}")
print(f"{cranfield.__file__}: {scan} scan, {len(list(GOLDEN.iterdir()))} golden cases")
