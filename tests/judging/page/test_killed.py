"""The server is killed while people judge: no grade is lost, and none is saved twice."""

import random
import threading
import time
from functools import partial

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")

import httpx

from cranfield import open_store
from tests.judging.page.servers import running
from tests.waiting import until

__all__ = ["running"]


class Assessor(threading.Thread):
    """Judges as the page does: unanswered requests are sent again, with the same key."""

    def __init__(self, address, name):
        super().__init__(daemon=True)
        self.address, self.assessor = address, name
        self.random = random.Random(name)
        self.saved = {}
        self.stop = threading.Event()
        self.error = None

    def run(self):
        try:
            with httpx.Client(base_url=self.address, headers={"Origin": self.address}, timeout=20) as self.client:
                while not self.stop.is_set() and (tasks := self.ask("next", count=2)["tasks"]):
                    task, grade = tasks[0], self.random.randrange(4)
                    named = {name: task[name] for name in ("query_id", "doc_id", "part")}
                    answer = self.ask("judge", **named, grade=grade, key=f"{self.assessor}{len(self.saved)}")
                    self.saved[answer["event"]] = (task["doc_id"], self.assessor, grade)
        except BaseException as error:
            self.error = error

    def ask(self, name, **body):
        while True:
            try:
                answer = self.client.post(f"/api/{name}", json={"assessor": self.assessor, **body})
            except httpx.TransportError:
                time.sleep(0.005)
                continue
            assert answer.status_code == 200, answer.text
            return answer.json()


def judged_more(people, before):
    return sum(len(each.saved) for each in people) > before or any(each.error for each in people)


@pytest.mark.fault(
    "a judging server is killed while people judge", "No grade is lost, and none is saved twice.", tries=80
)
def test_no_grade_is_lost_or_saved_twice_when_the_server_is_killed(running, tmp_path, examples, tries):
    where = tmp_path / "judgments.db"
    chosen = random.Random(1)
    with open_store(where, create=True) as store:
        store.wait([(f"q{number % 7}", f"d{number}") for number in range(20_000)])
    address = running.start(where)
    people = [Assessor(address, name) for name in ("ann", "bob")]
    for each in people:
        each.start()
    between = []
    for _ in range(examples(tries)):  # if one moment in ten loses a grade, 20 kills hit it in 88% of all runs
        before = sum(len(each.saved) for each in people)
        until(partial(judged_more, people, before), "no assessor could judge any more")
        time.sleep(chosen.uniform(0, 0.02))
        running.kill(address)
        between.append(sum(len(each.saved) for each in people) - before)
        running.start(where, int(address.rpartition(":")[2]))
    for each in people:
        each.stop.set()
    for each in people:
        each.join()
    running.kill(address)
    assert [each.error for each in people] == [None, None]
    assert min(between) >= 1  # there was a grade between any two kills
    saved = {number: said for each in people for number, said in each.saved.items()}
    with open_store(where) as store:
        events = {event.number: (event.doc_id, event.assessor, event.grade) for event in store.events()}
        assert events == saved
        assert len({document for document, _, _ in events.values()}) == len(events)
        assert store.progress().left == 20_000 - len(events)
