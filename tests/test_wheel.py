"""The package installs and works where nothing can be compiled."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

CODE = """
import cranfield
from cranfield.judge.native import native
result = cranfield.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "RR")
print(native, result["RR"], cranfield.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("scikit_build_core")
    folder = tmp_path_factory.mktemp("wheel")
    failing = folder / "failing"
    failing.write_text("#!/bin/sh\nexit 1\n")
    failing.chmod(0o755)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "-w", folder, ROOT]
    options = {"CC": str(failing), "CXX": str(failing), "SKBUILD_BUILD_DIR": str(folder / "build")}
    done = subprocess.run(command, env={**os.environ, **options}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


@pytest.mark.skipif(os.name == "nt", reason="the failing compiler is a shell script")
def test_it_evaluates_without_a_compiler(wheel, tmp_path):
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert not [name for name in names if name.startswith("tests") or name.endswith(".so")]
    assert {"cranfield/py.typed", "cranfield/data/collection/qrels/test.tsv"} <= set(names)
    assert {f"cranfield/show/report/{file}" for file in ("page.html", "page.css", "start.js")} <= set(names)
    # Not the working tree: only what the wheel holds, and the libraries it needs.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    path = os.pathsep.join([str(tmp_path / "site"), sysconfig.get_path("purelib")])
    done = subprocess.run(
        [tmp_path / "venv" / "bin" / "python", "-c", CODE],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["None", "0.5", str(tmp_path / "site" / "cranfield" / "__init__.py")], done.stderr
