"""Releases: a wheel that works without a compiler, the source archive, and their metadata."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib.metadata import metadata
from pathlib import Path

import pytest

import cranfield

ROOT = Path(__file__).parents[1]

CHECK = runpy.run_path(str(ROOT / ".ci" / "wheel.py"))
LICENCES, package_files, faults = (CHECK[name] for name in ("LICENCES", "package_files", "faults"))


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
def test_the_wheel_evaluates_without_a_compiler(wheel, tmp_path):
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    assert faults(wheel) == []
    assert wheel.stat().st_size < 2_000_000
    # Not the working tree: only what the wheel holds, and the libraries it needs.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    path = os.pathsep.join([str(tmp_path / "site"), sysconfig.get_path("purelib")])
    done = subprocess.run(
        [tmp_path / "venv" / "bin" / "python", ROOT / ".ci" / "smoke.py", "pure"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    place = tmp_path / "site" / "cranfield" / "__init__.py"
    assert done.stdout.startswith(f"{place}: pure scan, "), done.stderr


@pytest.mark.skipif(os.name == "nt", reason="the failing compiler is a shell script")
def test_a_wheel_that_holds_too_much_or_too_little_is_refused(wheel, tmp_path):
    other = tmp_path / "cranfield-0.1.0-cp312-abi3-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(wheel) as archive, zipfile.ZipFile(other, "w") as written:
        names = [name for name in archive.namelist() if not name.endswith(("nanobind.txt", "/cli/main.py"))]
        for name in names:
            written.writestr(name, archive.read(name))
        written.writestr("tests/test_it.py", "")
    lacking, licence, stranger, compiled = faults(other)
    assert lacking.endswith("nanobind.txt") or lacking == "it lacks cranfield/cli/main.py"
    assert {lacking, licence} >= {"it lacks cranfield/cli/main.py"}
    assert stranger == "tests/test_it.py does not belong into it"
    assert compiled == "its compiled part should be cranfield/native/_native, and is missing"
    with zipfile.ZipFile(other, "a") as written:
        written.writestr("cranfield/native/_native.abi3.so", "")
    assert faults(other)[-1] == stranger
    any_machine = shutil.copy(other, tmp_path / "cranfield-0.1.0-py3-none-any.whl")
    assert faults(any_machine)[-1] == "cranfield/native/_native.abi3.so is compiled, but the wheel is for any machine"


def test_workflows_run_only_what_is_pinned_and_may_only_read():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text()
        used = re.findall(r"uses: (\S+)(.*)", text)
        assert used
        for action, comment in used:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v[\d.]+", comment), action
        assert re.search(r"^permissions:\n  contents: read\n\n", text, re.MULTILINE), path
        installed = re.findall(r"pip install ((?:[\w-]+==\S+ ?)+)", text)
        assert [name for line in installed for name in line.split()] == ["cibuildwheel==3.2.1", "abi3audit==0.0.26"]


@pytest.fixture
def checkout(tmp_path):
    """The working tree, with a single file in each folder that tools fill with many."""
    filled = (".venv", ".git", "bench", "build", "dist")
    folder = shutil.copytree(ROOT, tmp_path / "checkout", ignore=shutil.ignore_patterns(*filled, "__pycache__"))
    for name in filled:
        (folder / name).mkdir()
        (folder / name / "made_by_a_tool.py").touch()
    return folder


def test_the_source_archive_contains_only_what_building_needs(checkout, tmp_path):
    pytest.importorskip("scikit_build_core")
    code = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, tmp_path], cwd=checkout, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    native = {path.relative_to(ROOT).as_posix() for path in (ROOT / "src" / "native").iterdir()}
    needed = {"pyproject.toml", "CMakeLists.txt", "README.md", "CITATION.cff", *LICENCES, *native}
    assert names >= needed | {f"src/cranfield/{path}" for path in package_files()}
    assert {name.partition("/")[0] for name in names} == {
        *("src", "licenses", "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff"),
        *("pyproject.toml", "CMakeLists.txt", "PKG-INFO"),
    }
    assert archive.stat().st_size < 2_000_000


def test_the_version_is_defined_in_one_place():
    version = cranfield.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["scikit-build"]["metadata"]["version"]["input"] == "src/cranfield/version.py"
    # CITATION.cff is a static file, so its version is kept by hand.
    assert re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1] == version
    assert metadata("cranfield")["Version"] == version


def test_the_changelog_follows_keep_a_changelog():
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each) for each in versions[1:])
    kinds = re.findall(r"^### (.*)$", text, re.MULTILINE)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_a_page_with_charts_contains_the_licences_of_its_libraries(tmp_path):
    page = cranfield.write_report("builtin:qrels", ["builtin:keywords"], tmp_path / "page.html", "AP")
    text = Path(page.path).read_text(encoding="utf-8")
    assert "University of Washington Interactive Data Lab" in text
    assert "Mike Bostock" in text
