"""Work in threads: results and errors come in the order of the pieces, regardless of which finishes first."""

import threading

import pytest

from cranfield.ranks.scan.parallel import in_parallel


def work_that_fails(*bad):
    """Work in which piece 0 is done only after piece 1, and some pieces fail."""
    done = threading.Event()

    def work(piece):
        if piece == 0:
            assert done.wait(10)
        if piece == 1:
            done.set()
        if piece in bad:
            raise ValueError(f"piece {piece}")
        return piece

    return work


def test_an_error_waits_for_the_results_before_it():
    results = in_parallel(work_that_fails(1), range(5), 2)
    assert next(results) == 0
    with pytest.raises(ValueError, match="piece 1"):
        next(results)


def test_the_first_of_two_errors_is_raised():
    with pytest.raises(ValueError, match="piece 0"):
        list(in_parallel(work_that_fails(0, 1), range(5), 2))


def test_a_read_error_is_raised_after_the_pieces_before_it():
    tried = threading.Event()

    def pieces():
        yield 0
        yield 1
        yield 2
        tried.set()
        raise OSError("the disk is gone")

    def work(piece):
        assert piece or tried.wait(10)
        return piece

    results = in_parallel(work, pieces(), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(OSError, match="the disk is gone"):
        next(results)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 100])
def test_results_are_in_order(count, threads):
    assert list(in_parallel(lambda piece: piece * 2, range(count), threads)) == [2 * piece for piece in range(count)]
