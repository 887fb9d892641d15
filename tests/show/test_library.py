"""The library that draws a page's charts is put together once."""

from types import SimpleNamespace

import pytest

from cranfield.show.report import library as module


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
