"""Fills the tables of pages from the registries: what stands between `<!-- table: NAME -->` and `<!-- end -->`.

`python -m docs.site.tables FOLDER` writes every page of docs that has such a table into the folder. With docs itself,
it also fills SECURITY.md; with any other folder, it fails if that is stale.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from cranfield.comparison.limits import EXPECT
from cranfield.comparison.significance import TESTS
from cranfield.dialects.tools import known_dialects
from cranfield.engines.registry import ENGINES
from cranfield.evaluation.collection_presets import PRESETS as COLLECTIONS
from cranfield.io import column_names
from cranfield.io import settings as declared
from cranfield.io.formats import FORMATS
from cranfield.judging.pool import ORDERS
from cranfield.judging.store import KINDS as ASSESSORS
from cranfield.judging.store import RULES
from cranfield.measures.other_tools import RAG_NAMES
from cranfield.ranks.policy import Policy, Setting, settings_of
from cranfield.show.charts import CHARTS
from cranfield.systems import project
from cranfield.systems.opening import KINDS
from cranfield.systems.presets import PRESETS

DOCS = Path(__file__).resolve().parent.parent
ROOT = DOCS.parent
DECIDING, EXPLAINING, LIMITS, RESULTS, CLICKS = (
    ROOT / "bench" / f"{name}.json" for name in ("deciding", "explaining", "limits", "results", "clicks")
)
QUERY_SAMPLES, INTERLEAVING = (ROOT / "bench" / f"{name}.json" for name in ("query_samples", "interleaving"))
ROOT_PAGES = (ROOT / "SECURITY.md",)
Row = tuple[str, ...]


def formats() -> Iterator[Row]:
    """Every format of files."""
    yield "format", "what it is", "extensions", "read", "written"
    for format in FORMATS.values():
        extensions = ", ".join(f"`{each}`" for each in format.extensions)
        yield f"`{format.name}`", format.meaning, extensions, _roles(format.reads), _roles(format.writes)


def memory() -> Iterator[Row]:
    """What reading a format takes, and what is refused."""
    yield "format", "held in memory", "refused"
    alike: dict[Row, list[str]] = {}
    for format in FORMATS.values():
        alike.setdefault((format.held, format.refused), []).append(f"`{format.name}`")
    yield from ((", ".join(names), *promise) for promise, names in alike.items())


def tests() -> Iterator[Row]:
    """Every significance test."""
    yield "test", "what it is", "interval of", "effect size", "in a gate"
    for test in TESTS.values():
        usable = "no" if test.all_at_once else "yes"
        yield f"`{test.name}`", f"{test.title}: {test.meaning}", test.of, test.effect, usable


def rag_names() -> Iterator[Row]:
    """What tools for retrieval-augmented generation call measures."""
    yield "name", "is", "how it is defined"
    for each in RAG_NAMES.values():
        at = "@k" if "@" not in each.ours else ""
        uncut = f", without a cutoff `{each.uncut}`" if each.uncut and each.uncut != each.ours else ""
        yield f"`{each.name}`", f"`{each.ours}{at}`{uncut}", each.explanation


def charts() -> Iterator[Row]:
    """Every kind of chart."""
    yield "chart", "what it shows", "of"
    for chart in CHARTS.values():
        shown = "" if chart.of == "nothing" else ", ".join(f"`{each}`" for each in chart.usual)
        yield f"`{chart.name}`", chart.meaning.replace(" (without QRELS and RUN)", ""), shown


def policies(policy: type[Policy] = Policy) -> Iterator[Row]:
    """Every setting of a policy; the default is bold."""
    yield "setting", "option", "about", "may be", "in cranfield.toml"
    for name, known in settings_of(policy).items():
        live = "yes" if known.live else "no"
        yield f"`{name}`", f"`--{name.replace('_', '-')}`", known.meaning, _values(known), live


def _values(known: Setting) -> str:
    if known.choices:
        words = ((f"`{word}`", told) for word, told in known.choices.items())
        bold = ((f"**{word}**" if at == 0 else word, told) for at, (word, told) in enumerate(words))
        return "; ".join(f"{word} {told}" for word, told in bold)
    if known.kind is float:
        return f"a number above 0, up to 1; **`{known.default:g}`**"
    return "**`None`** (all), or a whole number from 1" if known.kind is int else "**`False`** or `True`"


def engines() -> Iterator[Row]:
    """Every engine."""
    yield "engine", "takes", "`engine=`", "install", "memory"
    for engine in ENGINES.values():
        install = f"'cranfield[{engine.extra}]'" if engine.extra else f"'cranfield[frames]' {engine.package}"
        chosen = f"`{engine.name}`" if engine.reads_parquet else ""
        yield engine.title, engine.takes, chosen, f"`pip install {install}`", engine.memory


def systems() -> Iterator[Row]:
    """Every kind of system."""
    yield "type", "what it is", "without settings"
    for name, kind in KINDS.items():
        yield f"`{name}`", kind.meaning, ", ".join(f"`{short}`" for short in kind.short)


def presets() -> Iterator[Row]:
    """What each well-known server is asked, and how its answer is read."""
    yield "type", "request", "answer"
    for name, preset in ((name, each.settings) for name, each in PRESETS.items()):
        sent = [
            f"`{preset['method']}`",
            *(f"`{each} = {_toml(preset[each])}`" for each in ("params", "body") if each in preset),
        ]
        read = [f"`{each} = {_toml(preset[each])}`" for each in preset if each not in ("method", "params", "body")]
        yield f"`{name}`", ", ".join(sent), ", ".join(read)


def collections() -> Iterator[Row]:
    """Every known collection, with its official measures."""
    yield "preset", "collection", "measures", "policy", "about", "source"
    for each in COLLECTIONS.values():
        policy = ", ".join(f"`{name}={value}`" for name, value in each.settings.items())
        measures = ", ".join(f"`{measure.name}`" for measure in each.measures)
        yield f"`{each.name}`", each.title, measures, policy, each.note, each.source


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_toml(each)}" for name, each in value.items()) + " }"
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, list) else json.dumps(value).replace("|", "\\|")


def settings(known: Mapping[str, declared.TomlSetting]) -> Iterator[Row]:
    """Settings of a file in TOML."""
    yield "setting", "value", "meaning", "default"
    for name, setting in known.items():
        yield f"`{name}`", setting.wanted, setting.meaning, setting.usual


def settings_of_systems() -> dict[str, Mapping[str, declared.TomlSetting]]:
    """The settings of every kind of system, by the module that holds the kind."""
    return {kind.home: import_module(f"cranfield.systems.{kind.home}").SETTINGS for kind in KINDS.values()}


def orders() -> Iterator[Row]:
    """Every order of judging."""
    yield "order", "what comes first", "follows grades", "use it when"
    for order in ORDERS.values():
        yield f"`{order.name}`", order.meaning, "yes" if order.follows_grades else "no", order.advice


def merging() -> Iterator[Row]:
    """Every rule to merge grades."""
    yield "`--merge`", "what counts"
    for name, rule in RULES.items():
        yield f"`{name}`", rule.meaning


def kinds() -> Iterator[Row]:
    """Every kind of assessor."""
    yield "`--kind`", "what it is", "counts by itself"
    for name, kind in ASSESSORS.items():
        yield f"`{name}`", kind.meaning, "yes" if kind.people else "no"


def deciding() -> Iterator[Row]:
    """What judging until decided took, as bench/run.py recorded it."""
    yield "replayed", "pairs", "judged, mean", "median", "9 of 10", "same verdict", "wrong (expected)", "covered"
    kept = json.loads(DECIDING.read_text(encoding="utf-8")) if DECIDING.exists() else {}
    for name, case in kept.items():
        found = case["figures"]
        shares = (f"{found[f'judged, {each}']:.0%}" for each in ("mean", "median", "p90"))
        wrong = f"{found['false significant'] + found['missed']} ({found['expected errors']:.0f})"
        yield name, f"{found['pairs']:,}", *shares, f"{found['same verdict']:.1%}", wrong, f"{found['covered']:.0%}"


def explaining() -> Iterator[Row]:
    """How often the right explanation was found, as bench/explaining.py recorded it."""
    yield "given", "first", "among the first three", "explanations that fit", "said to be decided", "wrongly"
    kept = json.loads(EXPLAINING.read_text(encoding="utf-8")) if EXPLAINING.exists() else {}
    for name in ("one number", "two numbers", "by query"):
        if name in kept:
            its = kept[name]
            shares = (f"{its[share]:.1%}" for share in ("first", "among three"))
            decided = (f"{its['said to be decided']:.0%}", f"{its['wrong where decided']} of {kept['cases']:,}")
            yield name.replace("by", "values by"), *shares, f"{its['explanations that fit']:.1f}", *decided


def dialects() -> Iterator[Row]:
    """The tools whose numbers can be printed and explained."""
    yield "tool", "version", "names", "note"
    for known in known_dialects().values():
        names = ", ".join(f"`{name.usual}`" for name in known.names[:3])
        yield known.name, known.version, f"{names}{', …' if len(known.names) > 3 else ''}", known.note


def speed() -> Iterator[Row]:
    """How long a large run takes, as bench/run.py recorded it."""
    files, dicts = (_recorded(title) for title in ("A file of 6,980 queries", "The same from dicts in memory"))
    yield "", "from a file of 255 MB", "memory", "from dicts in memory"
    for name, took in files.items():
        other = f"{dicts[name]['seconds']:.2f} s" if name in dicts else ""
        yield name, f"{took['seconds']:.2f} s", f"{took['peak_mb']:,.0f} MB", other


def engine_speed() -> Iterator[Row]:
    """How long a Parquet file takes in each engine, as bench/run.py recorded it."""
    sizes = {rows: _recorded(f"A Parquet file of {rows} rows") for rows in ("7,000,000", "70,000,000", "1,000,000,000")}
    yield "", *(f"{rows} rows" for rows in sizes)
    for name in sizes["70,000,000"]:
        yield name, *(_took(size[name]) if name in size else "" for size in sizes.values())


def _took(row: Mapping[str, Any]) -> str:
    return f"{row['seconds']:.1f} s, {row['peak_mb']:,.0f} MB"


def limits() -> Iterator[Row]:
    """How often limits of a gate stop harmless changes, as bench/limits.py simulated it."""
    yield "limit", "slight change, 50 queries", "200", "large change, 50 queries", "200"
    stopped: dict[str, list[float]] = {}
    for row in json.loads(LIMITS.read_text(encoding="utf-8")):
        of_measure = f", {row['measure']}" if row["measure"] else ""
        stopped.setdefault(f"`{row['limit']}`{of_measure}", []).append(row["stopped"])
    for limit, shares in stopped.items():
        yield limit, *(f"{share:.1%}" for share in (shares if len(shares) == 4 else shares * 2))


def query_samples() -> Iterator[Row]:
    """How often intervals of sampled queries hold, as bench/query_samples.py simulated it."""
    held: dict[str, dict[str, str]] = {}
    for row in json.loads(QUERY_SAMPLES.read_text(encoding="utf-8")):
        held.setdefault(row["values"], {})[f"{row['log']}, {row['of']}"] = f"{row['held']:.1%}"
    yield "values", *next(iter(held.values()))
    for values, by_log in held.items():
        yield values, *by_log.values()


def interleaving() -> Iterator[Row]:
    """How often an interleaving names a ranking, as bench/interleaving.py simulated it."""
    yield (
        "people ask",
        "b is",
        "preference",
        "verdicts by units",
        "by impressions",
        "units foretold",
        "power with these",
    )
    for row in json.loads(INTERLEAVING.read_text(encoding="utf-8")):
        shares = f"{row['verdicts']:.1%}", f"{row['verdicts_binomial']:.1%}"
        foretold = (f"{row['units_needed']:,}", f"{row['power']:.0%}") if "power" in row else ("", "")
        yield row["searches"], row["b"], f"{row['preference'] or row['mean']:+.3f}", *shares, *foretold


def clicks() -> Iterator[Row]:
    """How well attraction and grades are found again from simulated clicks, as bench/clicks.py recorded it."""
    yield "people", "ranker", "documents", "by impressions", "by the rate of the rank", "corrected", "grades right"
    for name, its in json.loads(CLICKS.read_text(encoding="utf-8"))["found"]["cases"].items():
        taus = (f"{its[what]:.2f}" for what in ("raw", "by_rank", "corrected"))
        right = f"{its['right_raw']:.0%} → {its['right']:.0%}" if its["identified"] else f"{its['right_raw']:.0%}"
        yield *name.split(", "), *taus, right


def corrected_clicks() -> Iterator[Row]:
    """How often intervals of clicks that people correct hold, as bench/clicks.py recorded it."""
    yield "people, ranker and documents", "difference", "by clicks", "sampled", "correlation", "held", "length"
    for row in json.loads(CLICKS.read_text(encoding="utf-8"))["corrected"]["rows"]:
        sampled = f"{row['sampled']} of {row['queries']}"
        found = f"{row['correlation']:.2f}", f"{row['held']:.1%}", f"{row['length']:.2f}"
        yield row["case"], f"{row['by people']:+.3f}", f"{row['by clicks alone']:+.3f}", sampled, *found


def _recorded(title: str) -> dict[str, Any]:
    """The rows of the benchmark whose title begins like this, by name."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))
    [rows] = [case["rows"] for name, case in kept.items() if name.startswith(title)]
    return {row["name"]: row for row in rows}


def columns() -> Iterator[Row]:
    """The names under which a column is found."""
    yield "column", "names"
    spelled = {
        "query": column_names.QUERY,
        "document": column_names.DOCUMENT,
        "grade": column_names.GRADE,
        "score": column_names.SCORE,
        "rank": column_names.RANK,
        "group of a judgment": column_names.GROUP,
        "subgroup": column_names.SUBGROUP,
        "task, of several searches": column_names.TASK,
        "search of a task": column_names.STEP,
        "time of an interaction": column_names.TIME,
    }
    for column, spellings in spelled.items():
        yield column, ", ".join(f"`{each}`" for each in spellings)


def faults() -> Iterator[Row]:
    """What the tests attack."""
    from tests.faults import rows  # imports those tests

    yield "what is attacked", "tries", "what is promised", "tests"
    yield from rows()


def _roles(roles: tuple[str, ...]) -> str:
    return " and ".join({"qrels": "judgments", "run": "runs"}[role] for role in roles) or "not"


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    each.__name__: each
    for each in (
        formats,
        memory,
        columns,
        tests,
        charts,
        rag_names,
        policies,
        engines,
        systems,
        presets,
        collections,
        orders,
        merging,
        kinds,
        deciding,
        dialects,
        explaining,
        limits,
        query_samples,
        interleaving,
        speed,
        engine_speed,
        clicks,
        corrected_clicks,
        faults,
    )
} | {
    f"{name}_settings": partial(settings, known)
    for name, known in {
        **settings_of_systems(),
        "project": project.PROJECT,
        "gate": project.GATE,
        "expect": EXPECT,
        "judgments": project.JUDGMENTS,
        "history": project.HISTORY,
    }.items()
}


def filled(page: str) -> str:
    """A page with its tables as they are now."""
    return re.sub(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", _table, page, flags=re.DOTALL)


def _table(found: re.Match[str]) -> str:
    head, *rows = TABLES[found[2]]()
    lines = ["| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows)]
    return f"{found[1]}\n" + "\n".join(lines) + f"\n\n{found[3]}"


if __name__ == "__main__":
    for path in DOCS.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        if "<!-- table: " in text:
            target = Path(sys.argv[1]) / path.relative_to(DOCS)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(filled(text), encoding="utf-8")
    for path in ROOT_PAGES:
        text = filled(was := path.read_text(encoding="utf-8"))
        if Path(sys.argv[1]).resolve() == DOCS:
            path.write_text(text, encoding="utf-8")
        elif text != was:
            sys.exit(f"{path.name} is stale: make pages")
