"""The library that draws a page's charts is built once and cached."""

import os
from types import SimpleNamespace

import pytest

from cranfield.report import rendering as module


@pytest.fixture
def builds(monkeypatch, tmp_path):
    """One entry for each time the library was built."""
    calls = []

    def bundle():
        calls.append(1)
        return "vegaEmbed = '</script>'"

    converter = SimpleNamespace(__version__="1.2.3", get_vega_version=lambda: "6.0", javascript_bundle=bundle)
    monkeypatch.setattr(module, "need", lambda *_, **__: converter)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return calls


def test_the_library_is_cached_under_its_version(builds, tmp_path):
    assert module.library() == module.library()
    assert module.library().endswith(r"vegaEmbed = '<\/script>'")
    assert module.library().startswith("/*\nThe charts of this page are drawn by")  # with their licences
    assert len(builds) == 1
    assert [each.name for each in (tmp_path / "cache" / "cranfield").iterdir()] == ["charts-1.2.3-6.0.js"]


def test_the_library_works_without_a_cache(builds, tmp_path):
    (tmp_path / "cache").write_text("a file, not a folder")
    assert module.library() == module.library()
    assert len(builds) == 2


@pytest.fixture
def cached(builds, tmp_path):
    """The cache file, after the library was built once."""
    module.library()
    assert len(builds) == 1
    return tmp_path / "cache" / "cranfield" / "charts-1.2.3-6.0.js"


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])


def empty(path):
    path.write_bytes(b"")


def alter(path):
    path.write_bytes(path.read_bytes().replace(b"vegaEmbed", b"vegaembed"))


def alter_the_hash(path):
    path.write_bytes(path.read_bytes().replace(b"sha256 ", b"sha256 0"))


def remove_the_hash(path):
    path.write_bytes(path.read_bytes().partition(b"\n")[2])


def append(path):
    path.write_bytes(path.read_bytes() + b"\nalert(1)")


def let_the_group_write(path):
    path.chmod(0o660)


def let_everybody_write(path):
    path.chmod(0o606)


def replace_by_a_link(path):
    path.rename(path.with_name("elsewhere.js"))
    path.symlink_to("elsewhere.js")


def check_it_is_rebuilt(builds, harm):
    good = module.library()
    harm()
    assert module.library() == good
    assert len(builds) == 2
    assert module.library() == good
    assert len(builds) == 2


@pytest.mark.fault("a cached chart library that is damaged, or that others can write", "It is put together again.")
@pytest.mark.parametrize("harm", [truncate, empty, alter, alter_the_hash, remove_the_hash, append])
def test_a_damaged_cache_file_is_rebuilt(builds, cached, harm):
    check_it_is_rebuilt(builds, lambda: harm(cached))


@pytest.mark.fault("a cached chart library that is damaged, or that others can write", "It is put together again.")
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
@pytest.mark.parametrize("harm", [let_the_group_write, let_everybody_write, replace_by_a_link])
def test_a_cache_file_that_others_could_have_written_is_rebuilt(builds, cached, harm):
    check_it_is_rebuilt(builds, lambda: harm(cached))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such owners")
def test_a_cache_file_of_another_user_is_rebuilt(builds, cached, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    module.library()
    assert len(builds) == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such mask")
def test_the_library_is_cached_with_a_umask_for_the_group(builds):
    before = os.umask(0o002)
    try:
        assert module.library() == module.library()
    finally:
        os.umask(before)
    assert len(builds) == 1
