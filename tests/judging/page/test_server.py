"""Requests of the judging page to its server, and which requests the server accepts."""

import json
import time
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from starlette.testclient import TestClient

from cranfield import open_store
from cranfield.io.corpus import Document
from cranfield.judging.page import STATIC, finding
from cranfield.judging.page import application as page_application
from cranfield.judging.page.application import LARGEST, VIEWS, PageView, application
from cranfield.judging.page.desk import Desk
from cranfield.judging.page.serving import _is_local, is_shared

HOST = "127.0.0.1"
PNG = b"\x89PNG\r\n\x1a\n and so on"


@pytest.fixture
def filled(store):
    store.add_queries([("q1", "cats and dogs", "Pets."), ("q2", "ships", "")])
    store.add_documents({f"d{n}": {"title": f"Title {n}", "text": f"Text {n}"} for n in range(4)})
    store.wait([("q1", "d0"), ("q1", "d1"), ("q2", "d2")], why="first 10 of secret_system")
    store.wait([("q2", "d3")], why="first 10 of secret_system", assessors=2)
    return store


class Browser:
    """A page of an assessor; it sends requests as the scripts do."""

    def __init__(self, store, assessor="ann", pictures=Path("/nowhere"), token=None, host=HOST, **how):
        app = application(Desk(store, **how), {HOST, "localhost"}, token, pictures)
        self.client = TestClient(app, base_url=f"http://{host}:8765", follow_redirects=False)
        self.assessor = assessor

    def post(self, name, headers=None, **body):
        origin = {"Origin": str(self.client.base_url).rstrip("/")}
        return self.client.post(f"/api/{name}", json=body, headers=origin if headers is None else headers)

    def ask(self, name, **body):
        answer = self.post(name, assessor=self.assessor, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def judge(self, task, grade, **body):
        named = {name: task[name] for name in ("query_id", "doc_id", "part", "text_sha256")}
        return self.ask("judge", **named, grade=grade, **body)


def test_a_pool_is_judged_to_its_end(filled):
    ann = Browser(filled)
    answer = ann.ask("next", count=10)
    assert answer["progress"] == {"documents": 4, "left": 4, "queries": 2, "queries_done": 0, "pace": None}
    assert {(task["query_id"], task["doc_id"]) for task in answer["tasks"]} == {
        *(("q1", "d0"), ("q1", "d1"), ("q2", "d2"), ("q2", "d3"))
    }
    queries = [task["query_id"] for task in answer["tasks"]]
    assert queries in (["q1", "q1", "q2", "q2"], ["q2", "q2", "q1", "q1"])
    for number, task in enumerate(answer["tasks"]):
        left = ann.judge(task, number % 4, seconds=float(number))["progress"]
    assert (left["left"], left["pace"]) == (1, 1.5)  # the document for two assessors waits for the other one
    assert ann.ask("next", count=10)["tasks"] == []
    [task] = Browser(filled, "bob").ask("next", count=10)["tasks"]
    assert task["doc_id"] == "d3"
    Browser(filled, "bob").judge(task, 3)
    assert filled.progress().left == 0
    assert filled.view().provenance.startswith("judges:2")


def test_no_response_reveals_which_system_returned_a_document(filled):
    ann = Browser(filled)
    answer = [ann.ask("start"), ann.ask("next", count=10), ann.ask("query", query_id="q1"), ann.ask("queries")]
    answer += [ann.ask("open", query_id="q1", doc_id="d1"), ann.ask("judged"), ann.ask("conflicts")]
    assert "secret_system" not in json.dumps(answer)


def test_a_grade_records_the_hash_of_the_text_shown(filled):
    ann = Browser(filled)
    [task] = ann.ask("next", count=1)["tasks"]
    filled.add_documents({task["doc_id"]: {"title": "New", "text": "New"}})
    ann.judge(task, 1, comment="short", seconds=2.5)
    [event] = filled.events()
    assert (event.text_sha256, event.comment, event.seconds, event.kind) == (
        task["text_sha256"],
        "short",
        2.5,
        "person",
    )


def test_a_part_is_shown_without_the_rest(store):
    store.add_documents({"d": {"title": "T", "text": "before 🐈 after"}})
    store.wait([("q", "d", (7, 8))])
    ann = Browser(store)
    [task] = ann.ask("next", count=1)["tasks"]
    assert (task["text"], task["part"]) == ("🐈", [7, 8])
    ann.judge(task, 2)
    assert [event.part for event in store.events()] == [(7, 8)]
    [listed] = ann.ask("query", query_id="q")["documents"]
    assert (listed["part"], listed["said"]) == ([7, 8], {"grade": 2.0, "comment": ""})


def test_undo_brings_the_document_back_with_its_previous_grade(filled):
    ann = Browser(filled)
    [task] = ann.ask("next", count=1)["tasks"]
    ann.judge(task, 1, comment="first")
    ann.judge(task, 3)
    answer = ann.ask("undo", key="k")
    assert answer == ann.ask("undo", key="k")  # the response was lost, and the request is sent again
    assert (answer["task"]["doc_id"], answer["said"]) == (task["doc_id"], {"grade": 1.0, "comment": "first"})
    assert ann.ask("undo")["said"] is None
    assert ann.ask("undo")["task"] is None
    assert ann.ask("next", count=1)["tasks"][0]["number"] == task["number"]


def test_a_grade_that_is_sent_again_is_saved_once(filled):
    ann = Browser(filled)
    [task] = ann.ask("next", count=1)["tasks"]
    first = ann.judge(task, 2, key="one")
    assert ann.judge(task, 2, key="one") == first
    assert len(list(filled.events())) == 1


def test_assessors_do_not_get_documents_that_others_have_open(filled):
    ann, bob, cid = (Browser(filled, name) for name in ("ann", "bob", "cid"))
    anns = {task["doc_id"] for task in ann.ask("next", count=10)["tasks"]}
    bobs = {task["doc_id"] for task in bob.ask("next", count=10)["tasks"]}
    assert (anns, bobs) == ({"d0", "d1", "d2", "d3"}, {"d3"})
    assert cid.ask("next", count=10)["tasks"] == []
    taken = cid.post("open", assessor="cid", query_id="q1", doc_id="d0")
    assert (taken.status_code, taken.json()["error"]) == (409, "someone else is judging this document.")
    listed = {each["doc_id"]: each["open"] for each in cid.ask("query", query_id="q1")["documents"]}
    assert listed == {"d0": False, "d1": False}
    ann.ask("leave")
    assert cid.ask("open", query_id="q1", doc_id="d0")["task"]["title"] == "Title 0"
    assert "d0" not in {task["doc_id"] for task in ann.ask("next", count=10)["tasks"]}


def test_skipped_documents_come_back_later(filled):
    ann = Browser(filled)
    first, *others = ann.ask("next", count=10)["tasks"]
    assert ann.ask("next", count=10, without=[first["number"]])["tasks"] == others
    other = next(task["query_id"] for task in others if task["query_id"] != first["query_id"])
    assert ann.ask("next", count=1, query_id=other)["tasks"][0]["query_id"] == other
    assert ann.ask("next", count=1)["tasks"] == [first]


def test_grades_of_others_are_hidden_until_the_assessor_has_judged(filled):
    filled.judge("q2", "d3", 3, assessor="bob")
    filled.judge("q1", "d0", 2, assessor="bob")
    ann = Browser(filled)
    assert [each["doc_id"] for each in ann.ask("judged")["judged"]] == ["d0"]
    assert all(each["said"] is None for each in ann.ask("query", query_id="q2")["documents"])
    ann.ask("judge", query_id="q2", doc_id="d3", grade=0)
    seen = [(each["doc_id"], each["assessor"], each["mine"]) for each in ann.ask("judged")["judged"]]
    assert seen == [("d3", "ann", True), ("d0", "bob", False), ("d3", "bob", False)]


def test_past_judgments_can_be_filtered(filled):
    for query, document, grade, who in [("q1", "d0", 2, "ann"), ("q1", "d1", None, "ann"), ("q2", "d2", 2, "bob")]:
        filled.judge(query, document, grade, assessor=who, comment="odd" if grade is None else "")
    filled.judge("q1", "d0", 1, assessor="ann")
    filled.undo("ann")
    ann = Browser(filled)

    def found(**filters):
        return [each["doc_id"] for each in ann.ask("judged", **filters)["judged"]]

    assert found() == ["d2", "d1", "d0"]
    assert found(grade=2) == ["d2", "d0"]
    assert found(grade=None) == ["d1"]
    assert found(by="ann", grade=2) == ["d0"]
    assert found(query_id="q2") == ["d2"]
    assert found(words="CATS title 0") == ["d0"]
    assert found(words="odd") == ["d1"]
    assert found(words="100%_") == []
    [last] = ann.ask("judged", query_id="q2")["judged"]
    assert found(before=last["number"]) == ["d1", "d0"]


def test_queries_are_found_by_their_words_and_by_those_of_their_documents(filled):
    ann = Browser(filled)

    def found(words):
        return sorted(each["query_id"] for each in ann.ask("queries", words=words)["queries"])

    assert found("") == ["q1", "q2"]
    filled.add_queries({"q0": "nothing was returned"})
    assert found("") == ["q0", "q1", "q2"]
    assert found("dogs") == ["q1"]
    assert found("title 2") == ["q2"]
    assert found("d3") == ["q2"]
    assert found("unheard of") == []
    filled.judge("q1", "d0", 1, assessor="bob")
    assert {each["query_id"]: (each["pooled"], each["left"]) for each in ann.ask("queries")["queries"]} == {
        "q1": (2, 1),
        "q2": (2, 2),
        "q0": (0, 0),
    }


def corpus():
    yield from (("000444", "Raincoat", "Yellow", "https://x", ""), ("000445", "Hat", "Blue", "", ""), ("d3", "", "New"))


def test_an_added_document_is_one_of_the_corpus_and_shows_its_text(filled):
    ann = Browser(filled, documents=corpus)
    task = ann.ask("add", query_id="q1", doc_id="000444")["task"]
    assert (task["title"], task["text"], task["url"]) == ("Raincoat", "Yellow", "https://x")
    assert ann.ask("add", query_id="q1", doc_id="d3")["task"]["text"] == "Text 3"  # which the store has already
    for typed, hint in [
        ("444", "did you mean 000444?"),
        ("0044", "did you mean 000444 or 000445?"),
        ("000454", "did you mean 000444?"),
        ("umbrella", "ids are written as in the corpus"),
        ("0", "ids are written as in the corpus"),
    ]:
        refused = ann.post("add", assessor="ann", query_id="q1", doc_id=typed)
        assert refused.status_code == 400
        assert refused.json()["error"].endswith(f"there is no document '{typed}'.")
        assert refused.json()["hint"] == hint
    assert filled.progress().documents == 6


def found(browser, **asked):
    return [(each["doc_id"], each["pooled"]) for each in browser.ask("find", query_id="q1", **asked)["documents"]]


def test_documents_to_add_are_found_by_words_and_ids_in_the_corpus(filled):
    ann = Browser(filled, documents=corpus)
    assert found(ann, words="yellow RAINCOAT") == [("000444", False)]
    assert found(ann, words="0004") == [("000444", False), ("000445", False)]
    assert found(ann, words="hat new nothing") == [("000445", False), ("d3", False)]  # a title says more than a text
    assert found(ann, words="") == found(ann, words="umbrella") == []
    ann.ask("add", query_id="q1", doc_id="000445")
    assert found(ann, words="hat") == [("000445", True)]
    [hat] = ann.ask("find", query_id="q1", words="hat")["documents"]
    assert hat == {"doc_id": "000445", "title": "Hat", "text": "Blue", "pooled": True}


def test_without_a_corpus_the_documents_of_the_store_are_found(filled):
    ann = Browser(filled)
    assert found(ann, words="title 2") == [("d2", False), *((f"d{n}", n < 2) for n in (0, 1, 3))]
    for typed, hint in [("D3", "did you mean d3?"), ("raincoat", "without a corpus")]:
        refused = ann.post("add", assessor="ann", query_id="q1", doc_id=typed)
        assert refused.status_code == 400
        assert refused.json()["error"].endswith(f"there is no document '{typed}'.")
        assert refused.json()["hint"].startswith(hint)


def test_chinese_words_are_found_in_titles_and_texts(filled):
    filled.add_documents({"猫": {"title": "养猫指南", "text": "每天喂猫两次。"}})
    assert found(Browser(filled), words="喂猫 指南") == [("猫", False)]


def test_without_a_corpus_a_live_system_is_searched_and_ids_are_those_it_returned(filled):
    asked = []

    def system(words, count):
        asked.append((words, count))
        if words == "s1":  # it searches texts, not ids
            return
        yield from (Document("s1", "Raincoat", "Yellow", "https://x"), Document("d0", "", ""))

    ann = Browser(filled, system=system)
    refused = ann.post("add", assessor="ann", query_id="q1", doc_id="s1")
    assert (refused.status_code, refused.json()["error"]) == (400, "the system: it has not returned a document 's1'.")
    assert "search" in refused.json()["hint"]
    assert found(ann, words="rain") == [("s1", False), ("d0", True)]
    assert asked[-1] == ("rain", 8)
    assert ann.ask("add", query_id="q1", doc_id="s1")["task"]["url"] == "https://x"
    before = len(asked)
    assert found(ann, words=" ") == []
    assert len(asked) == before


def test_a_search_in_a_large_corpus_ends_in_time_and_says_how_far_it_came(filled, monkeypatch):
    monkeypatch.setattr(finding, "PATIENCE", -1.0)
    ann = Browser(filled, documents=lambda: ((f"c{n}", "Cat", "") for n in count()))
    answer = ann.ask("find", query_id="q1", words="cat")
    assert (answer["read"], len(answer["documents"])) == (finding.STEP, 8)


def test_who_has_judged_and_who_is_judging_is_known_but_not_how(filled):
    filled.judge("q2", "d3", 2, assessor="bob", comment="secret")
    filled.judge("q2", "d3", 1, assessor="gpt", kind="model")
    filled.judge("q1", "d0", None, assessor="cid")
    Browser(filled, "dora").ask("open", query_id="q2", doc_id="d2")
    ann = Browser(filled)
    listed = {each["doc_id"]: each for each in ann.ask("query", query_id="q2")["documents"]}
    assert (listed["d3"]["judges"], listed["d3"]["said"], listed["d3"]["with"]) == (["bob"], None, [])
    assert (listed["d2"]["judges"], listed["d2"]["with"]) == ([], ["dora"])
    assert {each["query_id"]: each["judges"] for each in ann.ask("queries")["queries"]} == {"q1": {}, "q2": {"bob": 1}}
    assert "secret" not in json.dumps([ann.ask("query", query_id="q2"), ann.ask("queries")])
    filled.undo("bob")
    assert ann.ask("query", query_id="q2")["documents"][0]["judges"] == []


def test_a_flag_is_raised_listed_and_withdrawn(filled):
    ann, bob = Browser(filled), Browser(filled, "bob")
    raised = ann.ask("flag", query_id="q1", comment="both?", key="k")
    assert raised == ann.ask("flag", query_id="q1", comment="both?", key="k")  # sent again
    [flag] = raised["flags"]
    assert (flag["assessor"], flag["comment"]) == ("ann", "both?")
    assert bob.ask("query", query_id="q1")["flags"] == [flag]
    [query] = bob.ask("flags")["queries"]
    assert (query["query_id"], query["query"], query["narrative"], query["flags"]) == (
        *("q1", "cats and dogs", "Pets."),
        [flag],
    )
    assert {each["query_id"]: len(each["flags"]) for each in bob.ask("queries")["queries"]} == {"q1": 1, "q2": 0}
    assert bob.ask("flag", query_id="q1", withdrawn=True)["flags"] == [flag]  # bob takes back his own: there is none
    assert ann.ask("flag", query_id="q1", withdrawn=True)["flags"] == []
    assert bob.ask("flags")["queries"] == []
    refused = ann.post("flag", assessor="ann", query_id="q9")
    assert (refused.status_code, refused.json()["error"].endswith("there is no query 'q9'.")) == (400, True)


def test_a_document_that_no_system_returned_is_added(filled):
    ann = Browser(filled)
    answer = ann.ask("add", query_id="q1", doc_id="d3")
    assert (answer["task"]["title"], answer["progress"]["documents"]) == ("Title 3", 5)
    assert ann.ask("add", query_id="q1", doc_id="d3")["progress"]["documents"] == 5
    assert (
        ann.post("add", assessor="ann", query_id="q9", doc_id="d3").json()["error"].endswith("there is no query 'q9'.")
    )


def test_differences_are_settled(filled):
    for who, grade in (("ann", 3), ("bob", 0)):
        filled.judge("q2", "d3", grade, assessor=who, comment=f"says {who}")
    cid = Browser(filled, "cid")
    answer = cid.ask("conflicts")
    [conflict] = answer["conflicts"]
    assert (answer["count"], conflict["task"]["title"]) == (1, "Title 3")
    assert conflict["said"] == [
        {"assessor": "ann", "grade": 3.0, "comment": "says ann"},
        {"assessor": "bob", "grade": 0.0, "comment": "says bob"},
    ]
    cid.judge(conflict["task"], 2, adjudicates=True)
    assert cid.ask("conflicts") == {"conflicts": [], "count": 0}
    assert filled.view().by_query["q2"]["d3"] == 2.0
    cid.ask("undo", adjudicates=True)
    assert cid.ask("conflicts")["count"] == 1


def test_grades_must_be_on_the_scale_of_the_project(filled):
    filled.set_scale([(0, "No"), (0.5, "Half"), (1, "Yes", "It answers.")])
    ann = Browser(filled)
    assert [each["grade"] for each in ann.ask("start")["scale"]] == [0.0, 0.5, 1.0]
    [task] = ann.ask("next", count=1)["tasks"]
    ann.judge(task, 0.5)
    refused = ann.post("judge", assessor="ann", query_id="q1", doc_id="d0", grade=2)
    assert (refused.status_code, refused.json()["hint"]) == (400, "grades: 0, 0.5, 1")
    assert len(list(filled.events())) == 1


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("judge", {"assessor": "", "query_id": "q1", "doc_id": "d0", "grade": 1}, 400),
        ("judge", {"assessor": "ann", "query_id": "q1", "grade": 1}, 400),
        ("judge", {"assessor": "ann", "query_id": "q1", "doc_id": "d0", "grade": "high"}, 400),
        ("judge", {"assessor": "ann", "query_id": "q1", "doc_id": "d0", "grade": True}, 400),
        ("judge", {"assessor": "ann", "query_id": "q1", "doc_id": "d0", "grade": 1, "comment": 7}, 400),
        ("judge", {"assessor": "ann", "query_id": "q1", "doc_id": "d0", "grade": 1, "seconds": "long"}, 400),
        ("judge", {"assessor": "ann", "query_id": "q1", "doc_id": "d0", "grade": 1, "part": [3, 1]}, 400),
        ("judged", {"assessor": "ann", "grade": "all"}, 400),
        ("drop_all", {"assessor": "ann"}, 404),
        ("judge", {"assessor": "ann", "comment": "x" * LARGEST}, 413),
    ],
)
def test_invalid_requests_are_refused(filled, name, body, status):
    answer = Browser(filled).post(name, **body)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert list(filled.events()) == []


@pytest.mark.parametrize("body", [b"", b"[1]", b"{", b"\xff"])
def test_a_body_that_is_not_an_object_is_refused(filled, body):
    headers = {"Origin": f"http://{HOST}:8765", "Content-Type": "application/json"}
    answer = Browser(filled).client.post("/api/judge", content=body, headers=headers)
    assert answer.status_code == 400


@pytest.mark.fault("a database that is lost while the page reads", "The answer is 503, which blames no request.")
def test_a_database_that_is_lost_while_reading_is_not_the_fault_of_the_request(filled, monkeypatch):
    page = Browser(filled)

    def lost(*given, **named):
        raise sa.exc.OperationalError("SELECT 1", {}, OSError("server closed the connection unexpectedly"))

    monkeypatch.setattr(filled._database._engine, "connect", lost)
    answer = page.post("conflicts", assessor="ann")
    assert answer.status_code == 503
    assert "cannot be read" in answer.json()["error"]


def test_the_error_for_a_full_disk_names_the_unsaved_grade(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.wait([("q", "d")])
        with store._reading() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count=1")
        answer = Browser(store).post("judge", assessor="ann", query_id="q", doc_id="d", grade=1, comment="x" * 100_000)
        assert answer.status_code == 507
        assert "the grade of document 'd' for query 'q': not saved (database or disk is full)" in answer.json()["error"]


# Access.


@pytest.mark.fault("requests to the judging page from other sites", "They are refused.")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Origin": f"http://{HOST}:1234"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": f"http://{HOST}:8765"}, 200),
        ({"Origin": f"http://{HOST}:8765", "Content-Type": "text/plain"}, 403),
    ],
)
def test_only_the_page_itself_may_send_requests(filled, headers, status):
    assert Browser(filled).post("start", headers=headers).status_code == status


@pytest.mark.fault("requests to the judging page from other sites", "They are refused.")
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::2]"])
def test_requests_to_another_host_name_are_refused(filled, host):
    browser = Browser(filled, host=host)
    assert browser.client.get("/").status_code == 421
    assert browser.post("start").status_code == 421


def test_the_content_security_policy_allows_only_the_page_itself(filled):
    for path in ("/", "/queries", "/static/page.js", "/nothing"):
        headers = Browser(filled).client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_the_files_contain_no_inline_code_and_no_external_addresses():
    """Read from the files, because one inlined handler or `innerHTML` is enough to run what a document contains."""
    html = (STATIC / "page.html").read_text()
    assert "style=" not in html
    assert "onclick" not in html
    assert '<script type="module" src=' in html
    for path in STATIC.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text
        assert "https://" not in text
        assert "innerHTML" not in text


@pytest.mark.parametrize("name", ["..%2fdesk.py", "%2e%2e/desk.py", "../../desk.py", "page.py", "."])
def test_only_files_of_the_page(filled, name):
    assert Browser(filled).client.get(f"/static/{name}").status_code == 404


def test_a_shared_server_requires_its_token(filled):
    browser = Browser(filled, token="secret")
    assert browser.client.get("/").status_code == 401
    assert browser.client.get("/?token=wrong").status_code == 401
    assert browser.post("start").status_code == 401
    known = browser.client.get("/?token=secret&assessor=ann")
    assert (known.status_code, known.headers["location"]) == (303, "/?assessor=ann")
    assert "HttpOnly" in known.headers["set-cookie"]
    assert browser.client.get("/").status_code == 200
    assert browser.ask("start")["scale"]
    elsewhere = Browser(filled, token="secret").client.get(f"http://{HOST}:8765//evil.example/?token=secret")
    assert (elsewhere.status_code, elsewhere.headers["location"]) == (303, "/evil.example/")


def test_local_hosts_are_distinguished_from_shared_ones():
    assert [_is_local(host) for host in ("127.0.0.1", "localhost", "::1", "127.8.8.8")] == [True] * 4
    assert not is_shared("127.0.0.1", ["localhost"])
    assert is_shared("0.0.0.0", [])
    assert is_shared("127.0.0.1", ["judge.example.com"])  # a reverse proxy leads here
    assert [_is_local(host) for host in ("0.0.0.0", "192.168.1.7", "example.com", "")] == [False] * 4


# Pictures.


@pytest.mark.fault("paths out of the folder of pictures", "No file outside of it is served.")
def test_only_pictures_inside_their_folder_are_served(store, tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "cat.png").write_bytes(PNG)
    (tmp_path / "inside" / "page.png").write_bytes(b"<svg onload=alert(1)>")
    (tmp_path / "secret.png").write_bytes(PNG)
    images = {
        "good": "cat.png",
        "out": "../secret.png",
        "whole": str(tmp_path / "secret.png"),
        "no picture": "page.png",
        "missing": "dog.png",
        "odd": "a\x01b",
        "other server": "https://example.com/cat.png",
        "inside": "data:image/png;base64,AAAA",
        "script": "data:text/html,<script>",
    }
    store.add_documents({name: {"text": "t", "image": image} for name, image in images.items()})
    store.wait([("q", name) for name in images])
    browser = Browser(store, pictures=tmp_path / "inside")
    tasks = {task["doc_id"]: task["image"] for task in browser.ask("next", count=10)["tasks"]}
    assert tasks["other server"] == {"elsewhere": "https://example.com/cat.png"}
    assert tasks["inside"] == {"source": "data:image/png;base64,AAAA"}
    found = {
        name: browser.client.get(f"/{tasks[name]['source']}")
        for name in images
        if name not in ("other server", "inside")
    }
    assert {name for name, answer in found.items() if answer.status_code == 200} == {"good"}
    assert found["good"].headers["content-type"] == "image/png"
    assert found["good"].content == PNG


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "ftp://example.com", "http:/x", "//x", "http"]
)
def test_unsafe_urls_are_removed(store, url):
    store.add_documents({"d": {"text": "t", "url": url}})
    store.wait([("q", "d")])
    assert Browser(store).ask("next", count=1)["tasks"][0]["url"] == ""


def test_two_servers_on_one_machine_have_separate_cookies(filled):
    first, second = Browser(filled, token="one"), Browser(filled, token="two")
    assert first.client.get("/?token=one").status_code == 303
    second.client.cookies.update(first.client.cookies)  # which apply to all ports of a machine
    assert second.client.get("/?token=two").status_code == 303
    first.client.cookies.update(second.client.cookies)
    assert [browser.client.get("/").status_code for browser in (first, second)] == [200, 200]


@pytest.mark.parametrize("address", ["/image?doc_id=%00", "/image?doc_id=%ed%a0%80", "/image?doc_id=loop", "/image"])
def test_a_picture_that_cannot_be_opened_is_not_found(store, tmp_path, address):
    (tmp_path / "loop").symlink_to("loop")
    store.add_documents({"loop": {"image": "loop"}})
    assert Browser(store, pictures=tmp_path).client.get(address).status_code == 404


def test_a_document_that_an_assessor_gives_up_goes_to_others_who_had_finished(store):
    store.wait([("q", "both")], assessors=2)
    store.wait([("q", "one")])
    ann, bob = Browser(store, "ann"), Browser(store, "bob")
    ann.ask("judge", query_id="q", doc_id="one", grade=2)
    bob.ask("judge", query_id="q", doc_id="both", grade=1)
    assert bob.ask("next", count=1)["tasks"] == []
    ann.ask("judge", query_id="q", doc_id="one", grade=None)
    assert [task["doc_id"] for task in bob.ask("next", count=1)["tasks"]] == ["one"]


def test_a_grade_is_saved_even_after_the_lease_went_to_someone_else(filled, monkeypatch):
    ann, bob = Browser(filled, "ann"), Browser(filled, "bob")
    [task] = ann.ask("next", count=1, query_id="q1")["tasks"]
    moment = time.time()
    monkeypatch.setattr(time, "time", lambda: moment + 3_600)  # ann went to lunch
    assert task in bob.ask("next", count=10, query_id="q1")["tasks"]
    bob.judge(task, 0)
    ann.judge(task, 3)
    assert filled.view(["ann"]).by_query == {"q1": {task["doc_id"]: 3.0}}
    assert ann.ask("next")["progress"]["left"] == 3
    monkeypatch.setattr(time, "time", lambda: moment - 86_400)  # the clock was wrong
    assert len(ann.ask("next", count=10)["tasks"]) + len(bob.ask("next", count=10)["tasks"]) >= 1


def test_undo_applies_to_grades_and_adjudications_separately(filled):
    ann, bob = Browser(filled, "ann"), Browser(filled, "bob")
    both = {"query_id": "q2", "doc_id": "d3"}
    ann.ask("judge", **both, grade=0)
    bob.ask("judge", **both, grade=3)
    ann.ask("judge", **both, grade=2, adjudicates=True)
    ann.ask("judge", query_id="q1", doc_id="d0", grade=1)
    assert ann.ask("undo", adjudicates=True)["task"]["doc_id"] == "d3"
    assert len(ann.ask("conflicts")["conflicts"]) == 1
    assert ann.ask("undo", adjudicates=True)["task"] is None
    assert ann.ask("undo")["task"]["doc_id"] == "d0"
    ann.ask("judge", **both, grade=2, adjudicates=True)
    assert ann.ask("undo")["said"] is None  # her own grade, not her adjudication
    assert ann.ask("conflicts")["conflicts"] == []


def test_a_view_is_declared_once(filled, monkeypatch):
    monkeypatch.setattr(page_application, "VIEWS", (*VIEWS, PageView("/extra", "Extra", "queries.js")))
    client = Browser(filled).client
    pages = {client.get(address).text for address in ("/", "/queries", "/extra")}
    assert len(pages) == 1
    script = client.get("/static/views.js")
    assert script.headers["content-type"].startswith("text/javascript")
    declared = json.loads(script.text.partition("VIEWS = ")[2].rstrip(";\n"))
    assert declared[-1] == {"address": "/extra", "name": "Extra", "script": "queries.js"}
    assert {view.script for view in VIEWS} <= {path.name for path in STATIC.iterdir()}


@pytest.mark.parametrize("name", ["page.js", "session.js"])
def test_the_frame_of_the_page_names_no_view(name):
    text = (STATIC / name).read_text(encoding="utf-8")
    assert not [view for view in VIEWS[1:] if view.address in text or view.script in text]
