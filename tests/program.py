"""The program in a process of its own, but not its start-up: one that has imported everything forks for each call.

Importing scipy.stats takes a second, and the tests call the program hundreds of times. What the start itself decides
(closed streams, encodings, what is imported) is tested with real processes: test_program.py, test_faults.py.
"""

import importlib
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import cranfield

CONTEXT = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
LIBRARIES = ["numpy", "scipy.stats", "scipy.optimize", "click", "rich", "jinja2", "altair", "httpx"]
SOURCE = Path(cranfield.__file__).parent
OURS = [
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    for path in sorted(SOURCE.rglob("[!_]*.py"))
    if not {"torch", "engines", "pytest_plugin.py"} & {*path.relative_to(SOURCE).parts}
]
# First what keeps numpy to one thread: a fork takes only the thread along that it is called in.
CONTEXT.set_forkserver_preload(["cranfield.cli.process", *LIBRARIES, *OURS])
MODULES = {"cranfield": "cranfield.cli.main", "cranfield-trec_eval": "cranfield.cli.trec_eval"}


def run(*arguments, cwd=None, env=None, input=None, program="cranfield", timeout=60):
    """Call the program and wait for it: like `subprocess.run` with the output captured as text."""
    with TemporaryDirectory() as streams:
        reading, writing = CONTEXT.Pipe(duplex=False)
        environment = dict(os.environ if env is None else env)
        words = [str(each) for each in arguments]
        process = CONTEXT.Process(
            target=_called, args=(program, words, str(cwd or os.getcwd()), environment, streams, reading)
        )
        process.start()
        reading.close()
        _feed(writing, input)
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired([program, *words], timeout)
        said = [Path(streams, name).read_bytes().decode() for name in ("out", "err")]
        return subprocess.CompletedProcess([program, *words], process.exitcode, *said)


def _feed(writing, text):
    try:
        with open(writing.fileno(), "wb", closefd=False) as pipe:
            pipe.write((text or "").encode())
    except BrokenPipeError:  # it has ended without reading everything
        pass
    writing.close()


def _called(program, words, folder, environment, streams, reading):
    """What happens in the fork: the streams, the environment and the folder of the call, then the program."""
    os.dup2(reading.fileno(), 0)
    for number, name in enumerate(("out", "err"), 1):
        os.dup2(os.open(os.path.join(streams, name), os.O_WRONLY | os.O_CREAT), number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = [program, *words]
    sys.path[:] = ["", *(place for place in sys.path if place != folder)]
    sys.dont_write_bytecode = True  # a test may write a module twice within the second that its stamp counts
    importlib.import_module(MODULES[program]).main()
