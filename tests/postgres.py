"""A PostgreSQL server in a temporary folder: `dsn` is a fixture for all tests that need one."""

import glob
import os
import shutil
import subprocess
import tempfile
from itertools import count
from urllib.parse import quote

import pytest

# Nothing has to survive a crash, and databases are small.
SETTINGS = (
    *("fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0"),
    *("autovacuum=off", "jit=off", "shared_buffers=16MB", "listen_addresses=''"),
)
_NUMBERS = count()


def find(program):
    found = shutil.which(program) or next(iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{program}"))), None)
    return os.path.realpath(found) if found else None


@pytest.fixture(scope="session")
def dsn():
    initdb, pg_ctl = find("initdb"), find("pg_ctl")
    if not initdb or not pg_ctl:
        pytest.skip("there is no PostgreSQL server here")
    pwd = pytest.importorskip("pwd", reason="this system has no Unix users")
    options = {}
    folder = tempfile.mkdtemp(prefix="pg")  # short: the path of a socket may have about 100 characters
    if os.getuid() == 0:  # the server refuses to run as root
        name = next((name for name in ("postgres", "nobody") if _exists(pwd, name)), None)
        if name is None:
            pytest.skip("there is no unprivileged user to run PostgreSQL")
        os.chown(folder, pwd.getpwnam(name).pw_uid, -1)
        options = {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}
    run = {"check": True, "capture_output": True, "cwd": folder, **options}
    data = f"{folder}/data"
    try:
        subprocess.run([initdb, "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C"], **run)
        with open(f"{data}/pg_hba.conf", "r+") as rules:  # one user needs a password
            kept = rules.read()
            rules.seek(0)
            rules.write(f"local all locked scram-sha-256\n{kept}")
        settings = " ".join(f"-c {each}" for each in (*SETTINGS, f"unix_socket_directories={folder}"))
        subprocess.run(
            [pg_ctl, "-D", data, "-l", f"{folder}/log", "-w", "-o", settings, "start"],
            **{**run, "capture_output": False, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL},
        )
    except subprocess.CalledProcessError as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"PostgreSQL did not start: {(error.stderr or b'').decode()[-200:]}")
    yield f"host={folder} user=tester dbname=postgres"
    subprocess.run([pg_ctl, "-D", data, "-m", "fast", "-w", "stop"], **run)
    shutil.rmtree(folder, ignore_errors=True)


def _exists(pwd, name):
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False


@pytest.fixture(scope="session")
def new_database(request):
    """A function that makes an empty schema in PostgreSQL and returns its URL.

    A schema is as good as a database, and takes a hundredth of the time.
    """
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    server = request.getfixturevalue("dsn")
    folder = server.split()[0].removeprefix("host=")
    with psycopg.connect(server, autocommit=True) as connection:

        def make():
            name = f"store{next(_NUMBERS)}"
            connection.execute(f"create schema {name}")
            return f"postgresql+psycopg://tester@/postgres?host={quote(folder)}&options=-csearch_path%3D{name}"

        yield make
