"""The program in separate processes, without its start-up: a server that has imported everything forks for each call.

Importing scipy.stats takes a second, and the tests call the program hundreds of times. What the start itself decides
(closed streams, encodings, what is imported) is tested with real processes: cli/test_program.py, cli/test_start.py,
cli/test_faults.py; and `printed` is for tests of single imports.

`run` calls the program from Python; `shims` is a folder of programs of the same names for shells. Where a fork is not
safe, as on macOS, or there is none, both are the real programs.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path

import cranfield

FORKS = sys.platform == "linux"
ROOT = Path(__file__).resolve().parents[1]
INSTALLED = Path(sys.executable).parent
SOURCE = Path(cranfield.__file__).parent
PROGRAMS = {
    "cranfield": lambda: importlib.import_module("cranfield.cli.main").main(),
    "cranfield-trec_eval": lambda: importlib.import_module("cranfield.cli.trec_eval").main(),
    "page": lambda: importlib.import_module("tests.pages").main(),
    "script": lambda: exec(sys.argv.pop(1), {"__name__": "__main__"}),  # as `python -c`
    "pytest": lambda: sys.exit(importlib.import_module("pytest").console_main()),  # of another project
}
IMPORTED = [
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "jinja2",
    "pytest",
]
OURS = [
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    for path in sorted(SOURCE.rglob("[!_]*.py"))
    if not {"torch", "engines", "pytest_plugin.py"} & {*path.relative_to(SOURCE).parts}
]
# Runs in a shell instead of the program, and passes on its streams and Ctrl-C. Without `site`, it starts at once.
SHIM = """#!/bin/sh
exec "{python}" -I -S -c '
import json, os, signal, socket, sys
running = []
signal.signal(signal.SIGINT, lambda *_: [os.kill(process, signal.SIGINT) for process in running])
with socket.socket(socket.AF_UNIX) as server, server.makefile() as answers:
    server.connect(sys.argv[1])
    socket.send_fds(server, [b"!"], [0, 1, 2])
    server.sendall(json.dumps([sys.argv[2], sys.argv[3:], os.getcwd(), dict(os.environ)]).encode() + b"\\n")
    running.append(int(answers.readline()))
    os._exit(int(answers.readline()))
' "{address}" {program} "$@"
"""


def run(*arguments, cwd=None, env=None, input=None, program="cranfield", timeout=300):
    """Call a program and wait for it: like `subprocess.run` with the output captured as text."""
    words = [str(each) for each in arguments]
    if not FORKS:
        page = [sys.executable, "-P", ROOT / "tests" / "pages.py"]
        command = {"page": page, "script": [sys.executable, "-c"]}.get(program, [INSTALLED / program])
        return subprocess.run(
            [*command, *words], cwd=cwd, env=env, input=input, capture_output=True, encoding="utf-8", timeout=timeout
        )
    request = [program, words, str(cwd or os.getcwd()), dict(os.environ if env is None else env)]
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        socket.socket(socket.AF_UNIX) as server,
        server.makefile() as answers,
    ):
        server.settimeout(timeout)
        server.connect(str(shims() / "server"))
        reading, writing = os.pipe()
        socket.send_fds(server, [b"!"], [reading, out.fileno(), err.fileno()])
        os.close(reading)
        server.sendall(json.dumps(request).encode() + b"\n")
        # The program may end without reading all of its input.
        with contextlib.suppress(BrokenPipeError), open(writing, "wb") as pipe:
            pipe.write((input or "").encode())
        _, code = answers.readline(), int(answers.readline())
        outputs = [file.seek(0) or file.read().decode() for file in (out, err)]
        return subprocess.CompletedProcess([program, *words], code, *outputs)


def printed(code, *arguments):
    """The output of Python code in a new process, which has imported nothing yet."""
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True).stdout


@cache
def shims():
    """The folder of the programs for shells; the first call starts the server, which ends with this process.

    This does not wait for it: calls are answered once it has imported everything. Forks of this process share it.
    """
    if not FORKS:
        return INSTALLED
    folder = Path(tempfile.mkdtemp(prefix="cranfield"))
    for program in PROGRAMS:
        shim = folder / program
        shim.write_text(SHIM.format(python=sys.executable, address=folder / "server", program=program))
        shim.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "server"))
        listener.listen(64)
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.program", str(listener.fileno())],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
        )
    atexit.register(_end, os.getpid(), server, folder)
    return folder


def _end(owner, server, folder):
    if os.getpid() == owner:  # forks clean up as well, but others may still call programs
        server.communicate()
        shutil.rmtree(folder, ignore_errors=True)


def serve(listener):
    """Fork for each call, until the process that started this ends, which closes standard input."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a fork copies only the calling thread
    for name in [*IMPORTED, *OURS]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    running = {}  # descriptor of a process: its number, and the connection of its caller
    while 0 not in (ready := select.select([listener, 0, *running], [], [])[0]):
        for each in ready:
            if each is listener:
                connection, _ = listener.accept()
                if pid := _start(connection, [listener, *(waiting for _, waiting in running.values())]):
                    running[os.pidfd_open(pid)] = pid, connection
            else:
                pid, connection = running.pop(each)
                os.close(each)
                with connection, contextlib.suppress(BrokenPipeError):  # the caller has gone
                    connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _start(connection, others):
    """Start the requested program in a fork, which closes the `others`, and tell the caller its process number.

    Returns that number, or 0 if the caller has gone.
    """
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as file:
        request = file.readline()
    pid = os.fork() if request else 0
    if request and pid == 0:
        for each in (connection, *others):
            each.close()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _call(streams, *json.loads(request))
    for stream in streams:
        os.close(stream)  # readers of the output wait until every copy is closed
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(b"%d\n" % pid)
    return pid


def _call(streams, program, words, folder, environment):
    atexit._clear()  # the server's handlers take as long as a short program
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (until the end)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (until the end)
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115 (until the end)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = [program, *words]
    sys.path[:] = [place for place in sys.path if place not in ("", str(ROOT))]
    sys.dont_write_bytecode = True  # a test may rewrite a module within a second, the resolution of timestamps
    try:
        PROGRAMS[program]()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else bool(ended.code)
    except BaseException:
        traceback.print_exc()
        code = 1
    else:
        code = 0
    sys.stdout.flush()
    atexit._run_exitfuncs()
    os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
