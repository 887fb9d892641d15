"""`cranfield trec_eval`, also installed as `cranfield-trec_eval`: trec_eval's command line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from getopt import GetoptError, gnu_getopt

from cranfield.cli import output
from cranfield.errors import CranfieldError, DuplicateError, InputError, MeasureError, OptionNames, in_words
from cranfield.version import __version__

NAME = "cranfield-trec_eval"
USAGE = f"Usage: {NAME} [-h] [-q] {{-m measure}}* [options] QRELS RUN"
HELP = f"""{USAGE}

Evaluate RUN against the judgments in QRELS and print what trec_eval 10.0
prints. RUN may be - for standard input.

  -q            also print the values of each query
  -n            print no summary
  -m MEASURE    a measure or nickname, with parameters after a point; may be
                repeated (nicknames: official, the default; all_trec, set,
                all_prefs, prefs, qrels_jg)
  -c            count judged queries that are missing from the run
  -l N          the lowest grade that is relevant (1)
  -M N          keep the first N documents of each ranking
  -J            leave out documents that were not judged
  -N N          the number of documents in the collection, for utility
  -R FORMAT     of the judgments: qrels, qrels_jg, prefs or qrels_prefs
  -T FORMAT     of the run: trec_results
  -Z FILE       print z-scores; a line of FILE is: query measure mean deviation
  -D N[.QUERY]  evaluate only QUERY; the number is ignored
  -o            accepted, without effect
  -v            print the version
  --as 9        keep to the rules of trec_eval 9.0.7: scores have 32 bits,
                recall is rounded up, judged queries that the run lacks are
                left out, and -c counts them without listing them
  -h            print this help, and that of the measures named by -m
"""
SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
LONG = {
    "help": "-h",
    "version": "-v",
    "query_eval_wanted": "-q",
    "measure=": "-m",
    "complete_rel_info_wanted": "-c",
    "level_for_rel=": "-l",
    "nosummary": "-n",
    "Debug_level=": "-D",
    "Judged_docs_only": "-J",
    "Number_docs_in_coll=": "-N",
    "Max_retrieved_per_topic=": "-M",
    "Rel_info_format=": "-R",
    "Results_format=": "-T",
    "Output_old_results_format=": "-o",
    "Zscore=": "-Z",
    "as=": "--as",
}
MISSING_HINT = "-c counts such queries, and --as 9 leaves them out"
FORMATS = ("qrels", "qrels_jg", "prefs", "qrels_prefs")


class End(Exception):
    """The end of the program: an exit code and a text for standard output or, after a failure, standard error."""

    def __init__(self, code: int, text: str = "") -> None:
        self.code, self.text = code, text


@dataclass
class TrecEvalOptions:
    files: Sequence[str] = ()
    measures: list[str] = field(default_factory=list)
    per_query: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    rel: int = 1
    depth: int | None = None
    documents: int | None = None
    qrels_format: str = "qrels"
    run_format: str = "trec_results"
    zscores: str | None = None
    only: str | None = None
    help: bool = False
    version: int = 10


def main() -> None:
    from cranfield.cli import process

    process.start()
    process.run(NAME, lambda: run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Evaluate and print; returns the exit code."""
    options = TrecEvalOptions()
    try:
        _parse(arguments, options)
        _evaluate(options)
        return 0
    except End as end:
        if end.text:
            output.say(end.text if end.code == 0 else f"{NAME}: {end.text}", err=end.code != 0)
        return end.code
    except DuplicateError as error:
        at_reading = options.qrels_format == "qrels_jg" and error.source == options.files[0]
        return _fail(2 if at_reading else 4, error)
    except CranfieldError as error:
        return _fail(2, error)


def _fail(code: int, error: CranfieldError) -> int:
    fact, hint = in_words(error, OptionNames())  # trec_eval has none of the options that hints name
    output.say(f"{NAME}: {fact}" + (f"\nHint: {hint}" if hint else ""), err=True)
    return code


def _parse(arguments: Sequence[str], options: TrecEvalOptions) -> None:
    try:
        pairs, options.files = gnu_getopt(list(arguments), SHORT, list(LONG))
    except GetoptError as error:
        raise End(1, f"{error}.\n{USAGE}") from None
    for name, value in pairs:
        _set(options, LONG.get(name[2:], LONG.get(f"{name[2:]}=", name)), value)


# The fields that options without a value switch, and those that take a text or a number as it is.
FLAGS = {"-h": ("help", True), "-q": ("per_query", True), "-n": ("summary", False), "-c": ("complete", True)}
FLAGS |= {"-J": ("judged_only", True)}
TEXTS = {"-R": "qrels_format", "-T": "run_format", "-Z": "zscores"}
NUMBERS = {"-l": "rel", "-M": "depth", "-N": "documents"}


def _set(options: TrecEvalOptions, name: str, value: str) -> None:
    if name in FLAGS:
        setattr(options, *FLAGS[name])
    elif name in TEXTS:
        setattr(options, TEXTS[name], value)
    elif name in NUMBERS:
        setattr(options, NUMBERS[name], _number(name, value))
    match name:
        case "-v":
            output.say(f"trec_eval version {options.version}.0 (cranfield {__version__})", err=True)
            raise End(0)
        case "-m":
            _check_measure(value)
            options.measures.append(value)
        case "-D":
            options.only = value.partition(".")[2] or None
        case "--as":
            if value not in ("9", "10"):
                raise End(1, f"--as {value}: must be 9 or 10.\n{USAGE}")
            options.version = int(value)


def _check_measure(word: str) -> None:
    from cranfield.measures.trec_eval_names import requested

    try:
        requested([word])
    except MeasureError as error:
        raise End(1, str(error)) from None


def _number(name: str, value: str) -> int:
    from cranfield.measures.trec_eval_names import whole_part

    try:
        number = whole_part(value)
    except MeasureError as error:
        raise End(1, f"{name} {value}: {error}\n{USAGE}") from None
    if number < 0:
        raise End(1, f"{name} {value}: must not be negative.\n{USAGE}")
    return number


def _evaluate(options: TrecEvalOptions) -> None:
    if options.help:
        raise End(0, _help(options.measures))
    if len(options.files) != 2:
        raise End(1, f"give two files, the judgments and the run.\n{USAGE}")
    if options.qrels_format not in FORMATS:
        raise End(2, f"there is no format '{options.qrels_format}' of judgments.\nHint: it may be {', '.join(FORMATS)}")
    if options.run_format != "trec_results":
        raise End(2, f"there is no format '{options.run_format}' of runs.\nHint: it may be trec_results")
    if options.files[0] == "-":
        raise End(2, "judgments cannot be read from standard input.\nHint: only the run may be -")

    from cranfield.io.streams import Stream

    run = Stream(options.files[1], hashed=False)

    from cranfield.measures.trec_eval_names import lines, requested, unfit
    from cranfield.trec_eval import reading
    from cranfield.trec_eval.printing import PrintedColumns, read_zscores, select, with_dummies

    old = options.version == 9
    judgments = reading.read_judgments(options.files[0], options.qrels_format)
    judged, run_id = reading.scan(judgments, run, options.qrels_format, single=old)
    try:
        zscores = None if options.zscores is None else read_zscores(options.zscores)
    except InputError as error:
        raise End(255, str(error)) from None
    names = requested(options.measures or ["official"])
    wanted = lines(names, rel=options.rel, documents=options.documents or None, rule="trec9" if old else "trec10")
    places, lacking = select(judged, complete=options.complete, skip=old, only=options.only)
    if lacking is None and not len(places):
        raise End(7, "no query is both judged and in the run.")
    for line in wanted:
        if fault := unfit(line, options.qrels_format):
            raise End(4, fault)
    if options.complete and not old:
        judged = with_dummies(judged)
    try:
        tables = reading.tables(judgments, judged, options.qrels_format, options.depth, options.judged_only)
    except InputError as error:  # preferences that contradict one another
        raise End(4, str(error)) from None
    columns = PrintedColumns.of(wanted, tables, zscores)
    if options.per_query:
        _write(columns.by_query(places))
    if lacking is not None:
        raise End(4, f"the query '{lacking}' is judged, but missing from the run.\nHint: {MISSING_HINT}")
    if options.summary:
        _write(columns.for_all(places, run_id, complete=options.complete))


def _write(lines: Iterable[str]) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write("".join(lines).encode(errors="surrogateescape"))
    sys.stdout.buffer.flush()


def _help(words: Sequence[str]) -> str:
    from cranfield.measures.trec_eval_names import requested
    from cranfield.show.layout import wrapped
    from cranfield.trec_eval.known_differences import DIFFERENCES
    from cranfield.trec_eval.printing import about

    different = [
        line for one in DIFFERENCES for line in (*wrapped(one.trec_eval, "- "), *wrapped(f"Here: {one.here}", "  "))
    ]
    return "\n".join(
        (HELP, "Where this differs from trec_eval 10.0 on purpose:", *different, *about(list(requested(words))))
    )
