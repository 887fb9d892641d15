"""The card as a picture, Markdown and LaTeX: the words and numbers of the page, whatever the names contain."""

import struct
from xml.etree import ElementTree

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield.report.card import card, page_title
from cranfield.report.sharing import card_latex, card_markdown, card_svg, shared
from cranfield.show.pictures import drawn_svg
from tests.program import run
from tests.report.page import Page
from tests.report.test_card import gathered

SIGNS = "\x00\x07\x1b\n\t\x85\u202e\u2028\ufeff\uffff<>&\"'`|\\{}%$#^~[]* aé検"
names = st.text(st.sampled_from(SIGNS), min_size=1, max_size=60)
QRELS = {str(n): {"a": 1} for n in range(8)}
OLD = {str(n): list("bacde") for n in range(8)}
NEW = {str(n): list("abcde" if n < 7 else "bcade") for n in range(8)}
BAD = {str(n): list("bcdea" if n else "acdeb") for n in range(8)}


def content(runs, measure="RR", **options):
    found = gathered(QRELS, runs, measure, **options)
    return {
        "title": page_title(found),
        "card": card(found),
        "queries": len(QRELS),
        "judgments": len(QRELS),
        "day": "18 November 2026",
        "signature": "ties:doc_id|rel:1|qrels:0123|version:1",
    }


def made(*arguments, **options):
    return shared(content(*arguments, **options))


def svg_texts(found):
    drawn = ElementTree.fromstring(drawn_svg(card_svg(found), "svg"))
    return ["".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")]


def test_two_runs_as_markdown():
    assert (
        card_markdown(made({"old_1": OLD, "new": NEW}))
        == r"""### Is new better than old\_1?

**Warning:** only 8 queries; with so few, interval and p-value are rough

**Better**: new vs old\_1, **+0.417** RR

0.500 → 0.917 · 95% interval +0.220 to +0.614 · p = 0.002 · 8 queries: ▲ 7 better, 0 the same, ▼ 1 worse

`ties:doc_id|…|qrels:0123|version:1`
"""
    )


def test_many_runs_as_markdown():
    found = made({"old": OLD, "new": NEW, "bad": BAD})
    lines = card_markdown(found._replace(warnings=())).split("\n\n")
    assert lines[0] == "### Which of 3 runs is best?"
    assert lines[1] == "**No single best**: new leads on RR; neither of the other 2 runs is significantly worse."
    assert lines[2].startswith("The best two that differ: new vs old, too close to call, **+0.417** RR")
    assert lines[3].endswith("3 runs, 8 queries: 1 leads, 2 undecided, 0 worse ▼")


def test_two_runs_as_a_row():
    title, warning, signature, needed, head, row = card_latex(made({"old_1": OLD, "new": NEW})).splitlines()
    assert title == "% Is new better than old_1?"
    assert warning == "% Warning: only 8 queries; with so few, interval and p-value are rough"
    assert (signature, needed) == ("% ties:doc_id|…|qrels:0123|version:1", r"% needs \usepackage{amssymb}")
    assert len(head.split(" & ")) == len(row.split(" & "))
    assert row == (
        r"new vs old\_1 & RR & +0.417 & 0.500 $\to$ 0.917 & 95\% interval +0.220 to +0.614 & p = 0.002 & Better \\"
    )


@pytest.mark.parametrize(
    "runs",
    [
        {"old": OLD},
        {"old": OLD, "new": OLD},
        {"old": OLD, "new": NEW},
        {"new": NEW, "old": OLD},
        {"old": OLD, "new": NEW, "bad": BAD},
    ],
    ids=["one", "the same", "better", "worse", "many"],
)
def test_every_form_says_what_the_card_says(runs):
    page, found = content(runs), made(runs)
    said = page["card"]
    wanted = [page["title"], said["number"], *said["numbers"], *filter(None, [said["badge"], said.get("headline")])]
    texts = " ".join(svg_texts(found))
    for part in wanted:
        assert part in texts
        assert part in card_markdown(found)
    for part in (said["number"], said["numbers"][0]):
        assert part.replace("→", r"$\to$").replace("−", "$-$").replace("%", r"\%") in card_latex(found)


def test_warnings_travel_with_the_verdict():
    found = made({"old": OLD, "new": NEW})._replace(warnings=("the runs are not alike",))
    assert "**Warning:** the runs are not alike" in card_markdown(found)
    assert "% Warning: the runs are not alike" in card_latex(found)
    assert "Warning: the runs are not alike" in svg_texts(found)


def test_numbers_of_many_comparisons_are_never_cut():
    name = "a-very-long-name-of-a-system-with-many-settings-and-more-{}"
    found = made({name.format(n): run for n, run in enumerate((OLD, NEW, BAD, OLD))})
    texts = " ".join(svg_texts(found))
    assert all(part in texts for part in found.numbers)
    assert name.format(1) not in texts


@settings(max_examples=60, deadline=None)
@given(st.lists(names, min_size=1, max_size=4, unique=True), names)
def test_hostile_names_stay_texts(hostile, title):
    found = made(dict(zip(hostile, (NEW, OLD, BAD, OLD), strict=False)), title=title)
    assert svg_texts(found)
    assert not any("\n" in line for line in card_markdown(found).split("\n\n")[:-1])
    *notes, row = card_latex(found).splitlines()
    assert all(note.startswith("% ") for note in notes)
    assert row.endswith(r" \\")


def test_letters_stay_inside_the_card():
    for old, new, size in (("bm25rm3plain", "bm25rm3tuned", 44), ("BM25RM3PLAIN", "BM25RM3TUNED", 30)):
        drawn = card_svg(made({old: OLD, new: NEW}))  # capitals take more room
        assert f'font-size="{size}" font-weight="700" fill="#16191d">Is {new} better than {old}?<' in drawn
    found = made({"old": OLD, "new": NEW}, "nDCG(judged_only=True)@3")
    assert "nDCG(judged_only=True)@3" in svg_texts(found)  # on a line of its own


def test_names_that_xml_forbids_can_be_drawn():
    found = made({"a\x00<&": OLD, "検\uffff" * 30: NEW}, title="</text>\x1b\ud800")
    assert drawn_svg(card_svg(found), "png").startswith(b"\x89PNG")


def test_the_command_writes_the_card(tmp_path):
    files = ["card.png", "card.svg", "card.md", "card.tex"]
    cards = [argument for file in files for argument in ("--card", file)]
    command = ("report", "builtin:ten", "builtin:keywords", "builtin:meaning", "--no-charts", "-o", "report.html")
    assert run(*command, *cards, cwd=tmp_path).returncode == 0
    png = (tmp_path / "card.png").read_bytes()
    assert struct.unpack(">II", png[16:24]) == (1200, 630)
    assert len(png) > 10_000
    assert ElementTree.parse(tmp_path / "card.svg").getroot().get("width") == "1200"
    share = Page(tmp_path / "report.html").data["share"]
    assert share["markdown"] == (tmp_path / "card.md").read_text(encoding="utf-8")
    assert share["latex"] == (tmp_path / "card.tex").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "fact"), [("card.gif", "cannot be written as '.gif'"), ("card", "has no extension")])
def test_other_formats_are_refused_before_anything_is_written(tmp_path, name, fact):
    done = run(
        "report", "builtin:ten", "builtin:keywords", "-o", "report.html", "--card", "a.md", "--card", name, cwd=tmp_path
    )
    assert done.returncode != 0
    assert fact in done.stderr
    assert "end it in .png, .svg, .md or .tex" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_no_measure_no_card(tmp_path):
    with pytest.raises(cranfield.CranfieldError, match="there is no card"):
        cranfield.write_report(QRELS, {"a": OLD}, tmp_path / "report.html", "NumRet", charts=False, cards=["card.md"])
