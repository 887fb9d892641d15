"""Two columns: weights, segments, lengths."""

import json

import pytest

from cranfield import InputError, evaluate
from cranfield.io.pairs import read_numbers, read_words


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "1 short\n2 rather long\n"),
        ("a.tsv", "query_id\tsegment\n1\tshort\n2\trather long\n"),
        ("a.csv", '# note\nqid,segment\n1,short\n\n2,"rather long"\n'),
        ("a.json", json.dumps({"1": "short", "2": "rather long"})),
    ],
)
def test_words(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_words(tmp_path / name, "segment") == {"1": "short", "2": "rather long"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n1 3\n", ":2: '1' appears twice."),
        ("1\n", ":1: 1 column where an id and its weight are needed."),
        ("1 x\n", "weight 'x' of '1' is not a number from 0."),
        ("1 -2\n", "weight '-2' of '1' is not a number from 0."),
        ("1 nan\n", "weight 'nan' of '1' is not a number from 0."),
        ("# nothing\n", "it contains no weights."),
        ("{", ":1: this is not JSON"),
        ('{"1": [2]}', "the weight of '1' is [2]."),
        ('{"1": null}', "the weight of '1' is None."),
        ('{"1": 1, "1": 2}', "the key '1' appears twice in one object."),
        ('{"a": ' * 100_000, "this JSON is nested too deep."),
        ('{"1": ' + "9" * 5000 + "}", "this is not JSON (Exceeds the limit"),
        ('{"1\\ud800": 1}', "an id: the id '1\\ud800' contains half of a surrogate pair"),
        ("[" * 100_000, ":1: 1 column where an id and its weight are needed."),
        ('1\t"2\n', ":1: invalid quoting"),
        ('1,"' + "2" * 200_000 + '"\n', ":1: invalid quoting"),
    ],
)
def test_bad_numbers(tmp_path, text, message):
    path = tmp_path / "weights"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_numbers(path, "weight")
    assert message in str(error.value)


def test_unicode_blanks_belong_to_ids(tmp_path):
    (tmp_path / "words").write_text("a\x85b x\xa0y\r\n\u2028 z\r\n", encoding="utf-8", newline="")
    assert read_words(tmp_path / "words", "segment") == {"a\x85b": "x\xa0y", "\u2028": "z"}


def test_weights_must_be_a_mapping_or_a_path():
    with pytest.raises(InputError, match="the weights: 3 is neither a mapping nor a path"):
        read_numbers(3, "weight")


QRELS = {"1": {"a": 1, "b": 0, "c": 1}}
RUN = {"1": ["b", "a", "x", "c"]}
LENGTHS = {"a": 10, "b": 100, "c": 20, "x": 50}


def test_tbg_and_u_follow_their_papers():
    # Smucker & Clarke (2012): a gain counts by the time spent before it. Sakai & Dou (2013): by where its text ends.
    result = evaluate(QRELS, RUN, "TBG TBG(h=50) U U(L=200)", lengths=LENGTHS)
    assert result["TBG(h=50)"] == pytest.approx(2 ** (-100 / 50) + 2 ** (-160 / 50))
    assert result["TBG"] == pytest.approx(2 ** (-100 / 224) + 2 ** (-160 / 224))
    assert result["U(L=200)"] == pytest.approx((1 - 110 / 200) + (1 - 180 / 200))
    assert result["U"] == pytest.approx((1 - 110 / 132000) + (1 - 180 / 132000))
    assert evaluate(QRELS, RUN, "U(L=150)", lengths=LENGTHS)["U(L=150)"] == pytest.approx(1 - 110 / 150)
    assert evaluate(QRELS, {"2": ["a"]}, "TBG U", lengths=LENGTHS, check_ids=False)["TBG"] == 0


def test_documents_below_a_long_document_count_less():
    names = {
        "TBG(h=50, view=utility)": lambda at: 2 ** (-at / 50),
        "U(L=200, view=utility)": lambda at: max(0, 1 - at / 200),
    }
    result = evaluate(QRELS, RUN, list(names), lengths=LENGTHS)
    spent = [0, 100, 110, 160]
    # A rank below the end is as long as the longest document.
    spent += [180 + 100 * place for place in range(996)]
    for measure, weight in names.items():
        weights = [weight(at) for at in spent]
        assert result[measure] == pytest.approx((weights[1] + weights[3]) / sum(weights))


def test_tbg_and_u_count_documents_below_rank_1000():
    run = {"1": [*(f"x{n}" for n in range(1500)), "a"]}
    result = evaluate(QRELS, run, "TBG U")
    assert result["TBG"] == pytest.approx(2 ** (-1500 / 224))
    assert result["U"] == pytest.approx(1 - 1501 / 132000)


def test_lengths_follow_the_ranking(tmp_path):
    path = tmp_path / "lengths"
    path.write_text("".join(f"{document} {length}\n" for document, length in LENGTHS.items()))
    scores = {"1": {"a": 3, "b": 4, "c": 1, "x": 2}}
    ours = evaluate(QRELS, scores, "TBG TBG(judged_only=True)", lengths=path)
    assert ours["TBG"] == evaluate(QRELS, RUN, "TBG", lengths=LENGTHS)["TBG"]
    condensed = evaluate(QRELS, {"1": ["b", "a", "c"]}, "TBG", lengths=LENGTHS)
    assert ours["TBG(judged_only=True)"] == pytest.approx(condensed["TBG"])


def test_a_document_without_a_length_is_an_error():
    with pytest.raises(InputError, match="document 'x' has no length"):
        evaluate(QRELS, RUN, "TBG", lengths={"a": 1, "b": 1, "c": 1})
