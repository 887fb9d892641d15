"""Releases: a wheel that works without a compiler, the source archive, and their metadata."""

import os
import re
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

LICENCES = ("LICENSE", "licenses/nanobind.txt", "licenses/robin-map.txt")  # ours, and those of compiled-in libraries


def package_files():
    """Every file of the package, Python or not."""
    folder = ROOT / "src" / "cranfield"
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return [path.as_posix() for path in files if "__pycache__" not in path.parts and path.suffix != ".so"]


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
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    info = f"cranfield-{cranfield.__version__}.dist-info"
    # Nothing but the package: no tests, examples or compiled files.
    assert {name.partition("/")[0] for name in names} == {"cranfield", info}
    assert not [name for name in names if name.endswith(".so")]
    assert set(names) >= {f"cranfield/{path}" for path in package_files()}
    assert {f"{info}/licenses/{path}" for path in LICENCES} <= set(names)
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
