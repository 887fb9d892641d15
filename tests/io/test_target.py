"""Output files are complete or absent, and devices, pipes and links stay what they are."""

import gzip
import json
import os
import stat
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import pytest

import cranfield
from cranfield import OutputError
from cranfield.cli import output
from cranfield.io.target import open_target, write_text

posix = pytest.mark.skipif(os.name == "nt", reason="specific to POSIX file systems")


def convert(path):
    cranfield.convert_file("builtin:keywords", path, target_format="csv", force=True)


def save(path):
    cranfield.evaluate("builtin:qrels", "builtin:keywords", "AP").save(path)


def lines(path):
    output.write(["one", "two"], os.fspath(path))


def report(path):
    cranfield.write_report("builtin:qrels", ["builtin:keywords"], path, "AP", charts=False)


# Every function that writes a file named by the user, and how its output begins.
WRITERS = {"convert": (convert, b"query_id,"), "save": (save, b"{\n"), "-o": (lines, b"one"), "report": (report, b"<!")}
writers = pytest.mark.parametrize(("write", "start"), WRITERS.values(), ids=WRITERS)


@writers
def test_a_new_file_has_the_usual_permissions(tmp_path, write, start):
    write(tmp_path / "out")
    assert (tmp_path / "out").read_bytes().startswith(start)
    (tmp_path / "usual").touch()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["out", "usual"]


@posix
@writers
def test_a_replaced_file_keeps_its_permissions(tmp_path, write, start):
    (tmp_path / "out").write_text("old")
    (tmp_path / "out").chmod(0o640)
    write(tmp_path / "out")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640
    assert (tmp_path / "out").read_bytes().startswith(start)


@posix
@writers
@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(tmp_path, write, start, there):
    (tmp_path / "folder").mkdir()
    if there:
        (tmp_path / "folder" / "real").write_text("old")
    (tmp_path / "link").symlink_to("folder/real")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "real").read_bytes().startswith(start)
    assert os.listdir(tmp_path / "folder") == ["real"]


@posix
@writers
def test_a_pipe_receives_the_output(tmp_path, write, start):
    os.mkfifo(tmp_path / "pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_bytes()), daemon=True)
    reader.start()
    write(tmp_path / "pipe")
    reader.join(20)
    assert received
    assert received[0].startswith(start)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def device(path, minor):
    """Create a character device: 1, 3 discards everything, 1, 7 is always full."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, minor))
        with open(path, "wb"):
            pass
    except (AttributeError, OSError):
        pytest.skip("devices cannot be made here")


@posix
@writers
def test_a_device_stays_a_device(tmp_path, write, start):
    device(tmp_path / "null", 3)
    write(tmp_path / "null")
    assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)
    assert os.listdir(tmp_path) == ["null"]


@posix
@writers
def test_a_full_device_is_an_error(tmp_path, write, start):
    device(tmp_path / "full", 7)
    with pytest.raises(OutputError, match=r"full: cannot be written: no space left on device\.$"):
        write(tmp_path / "full")
    assert stat.S_ISCHR((tmp_path / "full").stat().st_mode)


@pytest.fixture
def full_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.fault("a full disk while a file is written", "An error; an earlier file stays.")
@posix
@writers
def test_a_full_disk_is_an_error(full_disk, write, start):
    (full_disk / "out").write_bytes(b"precious" * 512)
    with pytest.raises(OutputError, match=r"out: cannot be written: no space left on device\.$"):
        write(full_disk / "out")
    assert os.listdir(full_disk) == ["out"]
    assert (full_disk / "out").read_bytes() == b"precious" * 512


@writers
def test_unwritable_places_are_an_error(tmp_path, write, start):
    folder, missing = "this is a folder", "no such file or directory"
    for place, reason in ((tmp_path, folder), (f"{tmp_path}/new/", folder), (tmp_path / "none" / "out", missing)):
        with pytest.raises(OutputError, match=reason) as error:
            write(place)
        assert error.value.target == str(place)
    assert os.listdir(tmp_path) == []


@posix
@writers
def test_file_names_that_are_not_utf8_are_written(tmp_path, write, start):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    write(name)
    assert Path(name).read_bytes().startswith(start)
    assert os.listdir(os.fsencode(tmp_path)) == [b"\xff"]
    Path(name).unlink()
    Path(name).mkdir()
    with pytest.raises(OutputError) as error:
        write(name)
    assert str(error.value).encode().startswith(os.fsencode(tmp_path) + rb"/\udcff: this is a folder")


@writers
def test_impossible_file_names_are_an_error(tmp_path, write, start):
    for name in ("\0", "\ud800", "x" * 300):
        with pytest.raises(OutputError, match="cannot be written"):
            write(tmp_path / name)
    assert os.listdir(tmp_path) == []


@posix
@writers
def test_the_longest_file_name_is_written(tmp_path, write, start):
    write(tmp_path / ("x" * 255))
    assert os.listdir(tmp_path) == ["x" * 255]


@posix
def test_a_read_only_file_is_not_replaced(tmp_path):
    (tmp_path / "out").write_text("precious")
    (tmp_path / "out").chmod(0o400)
    if os.access(tmp_path / "out", os.W_OK):
        pytest.skip("this user may write everything")
    with pytest.raises(OutputError, match="permission denied"):
        write_text(tmp_path / "out", "new", force=True)
    assert (tmp_path / "out").read_text() == "precious"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, ValueError])
def test_a_failure_leaves_only_the_old_file(tmp_path, failure):
    def pieces():
        yield "a piece"
        raise failure

    (tmp_path / "out.gz").write_text("precious")
    with pytest.raises(failure):
        write_text(tmp_path / "out.gz", pieces(), force=True)
    assert os.listdir(tmp_path) == ["out.gz"]
    assert (tmp_path / "out.gz").read_text() == "precious"


def test_only_force_replaces(tmp_path):
    assert write_text(tmp_path / "out", "é\n") == 3
    with pytest.raises(OutputError, match=r"this file already exists\.\nHint: force=True replaces it"):
        write_text(tmp_path / "out", "new")
    assert (tmp_path / "out").read_text(encoding="utf-8") == "é\n"


def test_output_is_compressed_by_its_extension(tmp_path):
    output.write(["one", "two"], str(tmp_path / "out.txt.gz"))
    assert gzip.decompress((tmp_path / "out.txt.gz").read_bytes()) == b"one\ntwo\n"
    save(tmp_path / "saved.json.gz")
    saved = cranfield.Evaluation.load(tmp_path / "saved.json.gz")
    assert dict(saved) == dict(cranfield.evaluate("builtin:qrels", "builtin:keywords", "AP"))
    assert cranfield.gate("builtin:qrels", tmp_path / "saved.json.gz", "builtin:keywords", "AP").passed


def test_what_a_killed_process_left_is_removed(tmp_path):
    """Not what another process is still writing, however slowly, nor what belongs to another file."""
    code = (
        "import os, signal, sys; from cranfield.io.target import open_target\n"
        "with open_target(sys.argv[1]) as target, target.opened() as file: os.kill(os.getpid(), signal.SIGKILL)"
    )
    for name in ("a.txt", "b.txt"):
        subprocess.run([sys.executable, "-c", code, tmp_path / name])
    left, other = (next(tmp_path.glob(f".cranfield-{zlib.crc32(name):08x}-*.part")) for name in (b"a.txt", b"b.txt"))
    with open_target(tmp_path / "a.txt") as slow:
        assert left.exists()  # it may be one that is just being made
        [mine] = {*tmp_path.glob("*.part")} - {left, other}
        for path in (left, other, mine):
            os.utime(path, (0, 0))
        write_text(tmp_path / "a.txt", "fast")
        assert {*tmp_path.glob("*.part")} == {other, mine}
        with slow.opened() as file:
            file.write(b"slow")
    assert (tmp_path / "a.txt").read_text() == "slow"


def test_two_writers_of_the_same_file_do_not_mix(tmp_path):
    out = tmp_path / "out"
    with open_target(out) as one, open_target(out) as other, one.opened() as first, other.opened() as second:
        first.write(b"first " * 1000)
        second.write(b"second")
        first.write(b"end")
    assert (tmp_path / "out").read_bytes() == b"first " * 1000 + b"end"  # the last to finish
    assert os.listdir(tmp_path) == ["out"]
    script = (
        "import sys\nfrom cranfield.io.target import write_text\n"
        "for _ in range(100):\n    write_text(sys.argv[1], sys.argv[2] * 50_000, force=True)"
    )
    both = [subprocess.Popen([sys.executable, "-c", script, tmp_path / "out", each]) for each in "ab"]
    assert [each.wait() for each in both] == [0, 0]
    assert (tmp_path / "out").read_text() in ("a" * 50_000, "b" * 50_000)
    assert os.listdir(tmp_path) == ["out"]


@posix
@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_can_be_named_as_a_file(place):
    if not os.path.exists(place):
        pytest.skip(f"there is no {place} here")
    script = "import sys; from cranfield.io.target import write_text; write_text(sys.argv[1], 'hello', force=True)"
    assert subprocess.check_output([sys.executable, "-c", script, place]) == b"hello"


def test_lone_surrogates_are_escaped_in_output(tmp_path):
    (tmp_path / "\udcff.run").write_bytes(b"1 Q0 a 1 1 t\n")
    evaluation = cranfield.evaluate({"1": {"a": 1}}, tmp_path / "\udcff.run", "RR")
    evaluation.save(tmp_path / "saved.json")
    assert cranfield.Evaluation.load(tmp_path / "saved.json").run == evaluation.run == "\\udcff"
    output.write([evaluation.run], str(tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == b"\\udcff\n"
    cranfield.write_report({"1": {"a": 1}}, [tmp_path / "\udcff.run"], tmp_path / "page", "RR", charts=False)
    assert b"\\udcff" in (tmp_path / "page").read_bytes()
    chart = cranfield.draw_chart("distribution", {"1": {"a": 1}}, [tmp_path / "\udcff.run"], "RR")
    cranfield.save_chart(chart, tmp_path / "chart.json")
    assert "\\\\udcff" in json.dumps(json.loads((tmp_path / "chart.json").read_bytes()), ensure_ascii=False)
    pytest.importorskip("vl_convert")
    for ending in ("svg", "png", "pdf"):
        cranfield.save_chart(chart, tmp_path / f"chart.{ending}")
        assert (tmp_path / f"chart.{ending}").stat().st_size > 1000
