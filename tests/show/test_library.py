"""The library that draws a page's charts is put together once."""

import os
from types import SimpleNamespace

import pytest

from cranfield.report import library as module


@pytest.fixture
def made(monkeypatch, tmp_path):
    """How often the library was put together."""
    calls = []

    def bundle():
        calls.append(1)
        return "vegaEmbed = '</script>'"

    converter = SimpleNamespace(__version__="1.2.3", get_vega_version=lambda: "6.0", javascript_bundle=bundle)
    monkeypatch.setattr(module, "need", lambda *_, **__: converter)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return calls


def test_it_is_kept_under_its_version(made, tmp_path):
    assert module.library() == module.library()
    assert module.library().endswith(r"vegaEmbed = '<\/script>'")
    assert module.library().startswith("/*\nThe charts of this page are drawn by")  # with their licences
    assert len(made) == 1
    assert [each.name for each in (tmp_path / "cache" / "cranfield").iterdir()] == ["charts-1.2.3-6.0.js"]


def test_it_needs_no_place_to_be_kept(made, tmp_path):
    (tmp_path / "cache").write_text("a file, not a folder")
    assert module.library() == module.library()
    assert len(made) == 2


@pytest.fixture
def kept(made, tmp_path):
    """The file, and that the library was put together once for it."""
    module.library()
    assert len(made) == 1
    return tmp_path / "cache" / "cranfield" / "charts-1.2.3-6.0.js"


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-1])


def empty(path):
    path.write_bytes(b"")


def alter(path):
    path.write_bytes(path.read_bytes().replace(b"vegaEmbed", b"vegaembed"))


def alter_the_hash(path):
    path.write_bytes(path.read_bytes().replace(b"sha256 ", b"sha256 0"))


def leave_the_hash_out(path):
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


def check_it_is_made_again(made, harm):
    good = module.library()
    harm()
    assert module.library() == good
    assert len(made) == 2
    assert module.library() == good
    assert len(made) == 2


@pytest.mark.parametrize("harm", [cut_off, empty, alter, alter_the_hash, leave_the_hash_out, append])
def test_what_is_not_whole_is_made_again(made, kept, harm):
    check_it_is_made_again(made, lambda: harm(kept))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
@pytest.mark.parametrize("harm", [let_the_group_write, let_everybody_write, replace_by_a_link])
def test_what_others_could_have_written_is_made_again(made, kept, harm):
    check_it_is_made_again(made, lambda: harm(kept))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such owners")
def test_what_belongs_to_others_is_made_again(made, kept, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    module.library()
    assert len(made) == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such mask")
def test_it_is_kept_where_files_are_for_the_group(made):
    before = os.umask(0o002)
    try:
        assert module.library() == module.library()
    finally:
        os.umask(before)
    assert len(made) == 1
