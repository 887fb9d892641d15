"""What every engine can do. Each has a file and a class of its own, which says where it differs from the others.

The rest of this room uses an engine only through these methods, and its frames through narwhals.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from cranfield.errors import CranfieldError, InputError, need

if TYPE_CHECKING:
    import numpy.typing as npt

    from cranfield.engines.measuring import Measuring, Totals

VALUES = "per_query.parquet"  # the one file of a `FileEngine` that outlives the evaluation


def library(name: str) -> Any:
    """One of the libraries that all engines need, besides their own."""
    return need(name, extra="frames", purpose="evaluating a lazy frame")


class EngineSetting(NamedTuple):
    kind: str  # of its value, in a word: URL
    meaning: str


class Engine(ABC):
    """An engine with one frame: `native`, as its library has it, which errors call `source`."""

    # For users: command-line options, help, error messages and the page about engines are made from these.
    name: ClassVar[str]  # engine="duckdb", --engine duckdb
    title: ClassVar[str]  # as its makers write it
    takes: ClassVar[str]  # what kind of frame, in words
    memory: ClassVar[str]  # what it keeps in memory, a sentence or two
    package: ClassVar[str]  # what pip installs
    reads_parquet: ClassVar[bool] = True  # whether `scan` reads files that users name
    settings: ClassVar[Mapping[str, EngineSetting]] = {}  # the settings of `scan`; --NAME-SETTING on the command line

    # How it is recognised and imported.
    library: ClassVar[str]
    extra: ClassVar[str] = ""  # of cranfield, if one installs the library
    frames: ClassVar[frozenset[tuple[str, str]]]  # classes of its frames: (library, name of the class)

    sorts_on_disk: ClassVar[bool] = False  # whether it can sort more rows than fit into memory
    rows_at_once: ClassVar[int | None] = None  # how many rows it groups at once, where more would not fit into memory

    def __init__(self, native: Any, source: str) -> None:
        self.native, self.source = native, source

    @classmethod
    def imported(cls) -> ModuleType:
        """The library of the engine, or an error that says what to install."""
        return need(cls.library, extra=cls.extra, purpose=f"the engine {cls.name}")

    @classmethod
    def scan(cls, files: Sequence[str], partitions: Sequence[str], beside: Any, **settings: str) -> Any:
        """Parquet files as one frame of this engine.

        files: their paths or addresses.
        partitions: the names of folders such as `query_id=17`: columns of text, whatever they look like.
        beside: a frame of this engine to join the new one with, or None.
        settings: those of `settings` that the user gave.
        """
        fact = f"the engine {cls.name} cannot open files itself."
        raise CranfieldError(fact, hint=f"open them with it, and give {cls.takes}")

    @abstractmethod
    def from_arrow(self, table: Any) -> Any:
        """A small Arrow table as a frame of this engine."""

    @abstractmethod
    def keep(self, frame: Any, path: str) -> Any:
        """The frame, computed once; `path` is where a Parquet file may be written."""

    @abstractmethod
    def measured(self, table: Any, measuring: Measuring, folder: str) -> tuple[Totals, Any]:
        """The totals over all queries of a table of judged rows, and the values as a lazy frame."""

    @abstractmethod
    def release(self, kept: Iterable[Any], folder: str) -> None:
        """Release the memory or files of the kept frames; the measured values stay."""

    def stream(self, native: Any, rows: int) -> Generator[Any] | None:
        """The frame in pieces of about so many rows, in its order, as tables of Arrow or Polars; None from engines
        whose rows are not on this machine. Nothing else runs on its connection until the generator is closed."""
        return None

    def keyed(self, native: Any) -> Any | None:
        """The frame with a 64-bit hash of query and document, `key`, which is cheaper to group by; None without one."""
        return None

    def shared(self, keyed: Any) -> Any | None:
        """A frame of the keys that several rows have; None if no two rows share one."""
        raise NotImplementedError

    def surveyed(self, rows: Any, queries: Any, judged: Any) -> Any | None:
        """What is known of the rankings and of their judged documents, in one pass; None from engines that take three.

        rows: a run; besides query, document and value, `unusable` and `documents` are 1 where the row counts as one
        queries, judged: the judgments: query and number; query, document and row

        A row for each number, -1 for all queries without one: how many `queries`, `unusable` rows and `documents`;
        whether a document may be `repeated`; `hits`, a list of the `row` and `value` of judged documents.
        """
        return None

    def with_text(self, frame: Any, columns: Mapping[str, str]) -> Any:
        """The frame with more columns, NAME_as_text: ids that compare by bytes, null where they are empty."""
        nw = library("narwhals")
        texts = {name: nw.col(name).cast(nw.String()) for name in columns.values()}  # without a collation
        return frame.with_columns(
            nw.when(texts[name] != "").then(texts[name]).alias(f"{new}_as_text") for new, name in columns.items()
        )

    def collect(self, frame: Any) -> Any:
        return self.guarded(frame.collect)

    def failure(self, error: Exception) -> CranfieldError:
        return InputError(self.source, f"the engine {self.name} failed ({briefly(error)}).")

    # What follows is the same for all engines.

    def send(self, columns: Mapping[str, Any]) -> Any:
        return self.wrapped(self.from_arrow(library("pyarrow").table(dict(columns))))

    def wrapped(self, native: Any) -> Any:
        return library("narwhals").from_native(native)

    def with_key(self, frame: Any) -> Any | None:
        native = self.keyed(frame.to_native())
        return None if native is None else self.wrapped(native)

    def numbers(self, frame: Any) -> dict[str, npt.NDArray[Any]]:
        import numpy as np

        result = self.collect(frame)
        return {name: np.asarray(result[name].to_numpy()) for name in result.columns}

    def rows(self, frame: Any) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self.collect(frame).rows()
        return rows

    def text(self, ids: Sequence[str]) -> Any:
        arrow = library("pyarrow")
        return arrow.array(ids, arrow.string())

    def guarded(self, work: Callable[[], Any]) -> Any:
        """Do the work; failures of the engine become errors about the source."""
        try:
            return work()
        except CranfieldError:
            raise
        except Exception as error:  # each engine raises its own
            raise self.failure(error) from error


def briefly(error: Exception) -> str:
    """The first line of an engine's error, and the last if the first only announces it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    fact = f"{lines[0]} {lines[-1]}" if lines[0].endswith((":", "below.")) else lines[0]
    return f"{type(error).__name__}: {fact}"[:300]


class FileEngine(Engine):
    """An engine on this machine, which keeps results in Parquet files of a temporary folder."""

    def shared(self, keyed: Any) -> Any | None:
        """Sorting the keys here is several times faster than grouping them there, and they are 8 bytes each."""
        import numpy as np

        keys = np.sort(self.numbers(keyed.select("key"))["key"])
        again = np.unique(keys[1:][keys[1:] == keys[:-1]])
        return self.send({"key": again}) if len(again) else None

    @abstractmethod
    def write(self, path: str, native: Any) -> None: ...

    @abstractmethod
    def read(self, path: str) -> Any: ...

    def keep(self, frame: Any, path: str) -> Any:
        self.guarded(lambda: self.write(path, frame.to_native()))
        return self.wrapped(self.read(path))

    def release(self, kept: Iterable[Any], folder: str) -> None:
        for name in os.listdir(folder):
            if name != VALUES:
                with suppress(OSError):  # an engine may still have it open
                    os.remove(os.path.join(folder, name))

    def measured(self, table: Any, measuring: Measuring, folder: str) -> tuple[Totals, Any]:
        """The judged rows sorted into a file and measured in batches; the values are a file, too."""
        from cranfield.engines.measuring import Totals

        parquet = library("pyarrow.parquet")
        judged, values = (os.path.join(folder, name) for name in ("judged.parquet", VALUES))
        self.guarded(lambda: self.write(judged, table.sort("query", "document").to_native()))
        totals, writer = Totals.none(len(measuring.measures)), None
        with parquet.ParquetFile(judged) as file:
            for batch in measuring.values(file.iter_batches()):
                totals += measuring.total(batch)
                for rows in measuring.per_query([batch]):
                    writer = writer or parquet.ParquetWriter(values, rows.schema)
                    writer.write_batch(rows)
        assert writer is not None
        writer.close()
        return totals, self.wrapped(self.read(values))
