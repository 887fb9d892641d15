"""Two processes ask one model about one store: the second is refused, so that nothing is paid for twice."""

from threading import Event, Thread

import pytest

from cranfield import ModelAssessor, OutputError, ask_model, open_store
from tests.program import printed

OTHER = """
import sys
from cranfield import CranfieldError, ModelAssessor, ask_model, open_store
with open_store(sys.argv[1]) as store:
    try:
        ask_model(store, ModelAssessor(name="small", call=lambda query, document: 1), canaries=0)
    except CranfieldError as error:
        print(error)
"""


@pytest.mark.fault("two processes ask one model for one store", "The second is refused, so nothing is paid for twice.")
def test_a_second_process_is_refused_while_the_first_is_asking(filled, where):
    """Another assessor is accepted, and so is the same one when the first process has finished."""
    store = filled(where=where)
    begun, go_on = Event(), Event()

    def slow(query, document):
        begun.set()
        assert go_on.wait(60)
        return 2

    first = ModelAssessor(name="small", call=slow)
    other = ModelAssessor(name="large", call=lambda query, document: 1)
    graded = []
    asking = Thread(target=lambda: graded.append(ask_model(store, first, canaries=0).graded))
    asking.start()
    try:
        assert begun.wait(60)
        assert printed(OTHER, where).startswith(f"{store.name}: another process is asking small.")
        with open_store(where) as again:
            with pytest.raises(OutputError, match="another process is asking small"):
                ask_model(again, first, canaries=0)
            assert ask_model(again, other, canaries=0).graded == 6
    finally:
        go_on.set()
        asking.join()
    assert graded == [6]
    assert ask_model(store, first, canaries=0).judged_before == 6


def test_nothing_is_left_beside_the_store(filled, tmp_path):
    store = filled()
    ask_model(store, ModelAssessor(name="small", call=lambda query, document: 1), canaries=0)
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["judgments.db"]
