"""Files of queries as tables: CSV and its kin, JSON, JSON lines, TREC topics, XML, Parquet, lines of text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.io.formats import extension_of
from cranfield.io.formats.json import parse_json
from cranfield.io.query_columns import (
    MOST_READ,
    Column,
    Roles,
    Unclear,
    cell_text,
    is_header,
    is_number,
    roles_by_cells,
    roles_by_name,
    text_tier,
)
from cranfield.io.streams import Stream
from cranfield.words import count, cut

SEPARATORS = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar"}
FIELDS = "call the id of a query query_id, and its text text"
HINT = "name the columns on the first line, such as query_id,text or query,count"
_ENCODINGS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
TABLES = (".csv", ".tsv", ".tab")
_SEARCHED = {"search", "searches", "term", "terms", "phrase"}  # headers that people also look for
_SHOWN = 40  # letters of a cell in a message
_DIRECTIVE = re.compile(r"sep=(.)\n", re.IGNORECASE)  # Excel's line that names the separator
_JUDGED = re.compile(r"\S+\s+(0|Q0)\s+\S+\s+-?\d+\b")


class QueryRow(NamedTuple):
    """Cells, and the line that they begin on; 0 where a format has no lines."""

    line: int
    cells: Sequence[Any]


@dataclass(frozen=True, slots=True)
class QueryTable:
    """A file of queries as it was understood.

    separator: of cells; empty for formats that have none; header: whether names are the file's own
    """

    name: str
    format: str
    separator: str
    header: bool
    names: tuple[str, ...]
    roles: Roles
    rows: tuple[QueryRow, ...]

    @property
    def separated_by(self) -> str:
        return SEPARATORS.get(self.separator, self.separator)

    @property
    def further(self) -> list[int]:
        """The places of the columns that are neither id nor text."""
        return [at for at in range(len(self.names)) if at not in self.roles]


def read_query_table(source: Any) -> QueryTable:
    """Read a file of queries; an error that shows the first rows if it is not clear which column is what."""
    stream = source if isinstance(source, Stream) else Stream(source)
    data = bytes(stream.content())
    name = stream.name
    if data.startswith(b"PAR1"):
        from cranfield.io.formats.parquet import all_rows

        names, rows = all_rows(stream)
        return _by_names(name, "Parquet", names, [QueryRow(0, row) for row in rows])
    if data.startswith(b"PK\x03\x04"):
        raise InputError(name, "this is a spreadsheet or an archive, not text.", hint="save it as CSV")
    text = _decoded(data, name).replace("\r\n", "\n").replace("\r", "\n")
    begin = text.lstrip()[:1]
    if not begin:
        raise InputError(name, "it contains no queries.")
    extension = extension_of(name)
    if "json" in extension:
        return _from_json(name, text, lines_only=extension != ".json")
    if begin in "{[":
        try:
            return _from_json(name, text)
        except InputError:
            if re.match(r'\s*\{\s*"', text):  # otherwise it is a text that begins with a bracket
                raise
    if begin == "<" and re.match(r"\s*<(\?xml|!|[a-z]+[\s>])", text, re.IGNORECASE):
        return _from_topics(name, text) if re.search(r"<top\b", text, re.IGNORECASE) else _from_xml(name, text)
    return _from_lines(name, text, extension)


def _decoded(data: bytes, name: str) -> str:
    encoding = next((encoding for mark, encoding in _ENCODINGS.items() if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = None if encoding == "utf-16" else data.count(b"\n", 0, error.start) + 1
        hint = "save it as UTF-8; Excel calls this 'CSV UTF-8'"
        fact = "this is not UTF-16 text." if encoding == "utf-16" else "this is not UTF-8 text."
        raise InputError(name, fact, line=line, hint=hint) from None
    if "\0" in text:
        raise InputError(name, "it contains zero characters, so it is no text.", hint="save it as UTF-8")
    return text


def _columns(rows: Sequence[QueryRow], width: int) -> list[Column]:
    looked = rows[:MOST_READ]
    return [Column([cell_text(row.cells[at]) if at < len(row.cells) else "" for row in looked]) for at in range(width)]


def _by_names(
    name: str, format: str, names: Sequence[str], rows: Sequence[QueryRow], separator: str = ""
) -> QueryTable:
    if not rows:
        raise InputError(name, "it contains no queries.")
    try:
        roles = roles_by_name(names, _columns(rows, len(names)))
    except Unclear as reason:
        raise _unclear(name, str(reason), names, rows, HINT if separator or format == "lines" else FIELDS) from None
    return QueryTable(name, format, separator, True, tuple(names), roles, tuple(rows))


def _unclear(name: str, reason: str, names: Sequence[str], rows: Sequence[QueryRow], hint: str = HINT) -> InputError:
    read = [f"columns {', '.join(map(repr, names))}"] if names else []
    for at, row in enumerate(rows[:2], 1):
        cells = " | ".join(cut(str(cell), _SHOWN) for cell in row.cells)
        read.append(f"{f'line {row.line}' if row.line else f'row {at}'} [{cells}]")
    return InputError(name, f"{reason} It was read as: {'; '.join(read)}.", hint=hint)


# ---- JSON


def _from_json(name: str, text: str, *, lines_only: bool = False) -> QueryTable:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    begins = lines[0][1].strip()
    if lines_only or (len(lines) > 1 and (begins[:1] in '{["' and begins[-1:] in '}]"')):  # each line is complete
        items = [(number, parse_json(line.encode(), name, line=number, hint=FIELDS)) for number, line in lines]
        return _of_items(name, "JSON lines", items)
    content = parse_json(text.encode(), name, hint=FIELDS)
    if isinstance(content, dict):
        lists = [value for value in content.values() if isinstance(value, list) and value]
        if any(text_tier(key) >= 2 and isinstance(value, str) for key, value in content.items()):
            return _of_items(name, "JSON lines", [(lines[0][0], content)])
        if len(lists) == 1 and not any(isinstance(value, dict) for value in content.values()):
            content = lists[0]  # such as {"queries": […]}
        else:
            return _of_mapping(name, content)
    if not isinstance(content, list):
        raise InputError(name, "this JSON is neither an object nor an array.", hint=FIELDS)
    return _of_items(name, "JSON", [(0, item) for item in content])


def _of_mapping(name: str, content: dict[str, Any]) -> QueryTable:
    """An object of ids and texts, or of ids and objects."""
    values = list(content.values())
    if values and all(isinstance(value, dict) for value in values):
        return _of_items(name, "JSON", [(0, {"query_id": key, **value}) for key, value in content.items()])
    rows = [QueryRow(0, item) for item in content.items()]
    if not values or not all(isinstance(value, str) for value in values):
        raise _unclear(name, "a JSON object of queries has an id and a text for each.", (), rows, FIELDS)
    key, text = _columns(rows, 2)
    if key.blanks or not text.texts:
        raise _unclear(name, "the keys of a JSON object are ids, and its values texts.", (), rows, FIELDS)
    return QueryTable(name, "JSON", "", False, ("id", "text"), Roles(0, 1), tuple(rows))


def _of_items(name: str, format: str, items: Sequence[tuple[int, Any]]) -> QueryTable:
    """Objects, or texts alone."""
    if items and all(isinstance(item, str) for _, item in items):
        rows = tuple(QueryRow(line, (item,)) for line, item in items)
        return QueryTable(name, format, "", False, ("text",), _only_text(name, rows), rows)
    for line, item in items:
        if not isinstance(item, dict):
            raise InputError(name, f"{item!r:.60} is not a JSON object.", line=line or None, hint=FIELDS)
        if not item:
            raise InputError(name, "an empty object.", line=line or None, hint=FIELDS)
        nested = next((key for key in item if text_tier(key) == 3 and isinstance(item[key], list | dict)), None)
        if nested is not None:
            raise InputError(name, f"the field '{nested}' is not a text.", line=line or None, hint=FIELDS)
    names = list(dict.fromkeys(key for _, item in items for key in item))
    return _by_names(name, format, names, [QueryRow(line, [item.get(key) for key in names]) for line, item in items])


def _only_text(name: str, rows: Sequence[QueryRow]) -> Roles:
    if not _columns(rows, 1)[0].texts:
        raise _unclear(name, "there are only numbers, no texts of queries.", (), rows, HINT if rows[0].line else FIELDS)
    return Roles(None, 0)


# ---- TREC topics and XML

_LABELS = re.compile(r"\s*(number|topic|title|description|narrative|summary|domain|concepts?)\s*:", re.IGNORECASE)


def _from_topics(name: str, text: str) -> QueryTable:
    """Topics between <top> tags, whose fields need no end: <num> Number: 301 <title> polio."""
    items: list[tuple[int, Any]] = []
    for topic in re.finditer(r"<top\b[^>]*>(.*?)(?=</top>|<top\b|\Z)", text, re.IGNORECASE | re.DOTALL):
        fields = re.findall(r"<([\w-]+)[^>]*>([^<]*)", topic[1])
        item: dict[str, str] = {}
        for tag, content in fields:
            words = " ".join(_LABELS.sub("", content, count=1).split())
            key = re.sub(r"^[A-Za-z]{2}-", "", tag).lower()  # CLEF's EN-title
            item[key] = f"{item[key]}\n{words}" if key in item else words
        items.append((text.count("\n", 0, topic.start()) + 1, item))
    return _of_items(name, "TREC topics", items)


def _from_xml(name: str, text: str) -> QueryTable:
    from xml.etree import ElementTree

    if "<!ENTITY" in text:
        raise InputError(name, "this XML declares entities, which are not read.")
    body = re.sub(r"\A\s*(<\?xml[^>]*\?>)?\s*(<!DOCTYPE[^>]*>)?", lambda head: "\n" * head[0].count("\n"), text)
    try:
        node = ElementTree.fromstring(f"<all>{body}</all>")
    except ElementTree.ParseError as error:
        raise InputError(name, f"this is not XML ({error.msg.partition(':')[0]}).", line=error.position[0]) from None
    while True:  # down to where elements of one kind repeat, or to the only one
        children = list(node)
        deeper = len(children) == 1 and (len(children[0]) or children[0].attrib) and not node.attrib
        if not deeper or (len(children[0]) and not any(map(len, children[0])) and not _alike(children[0])):
            break
        node = children[0]
    items = []
    for element in node if len(node) else [node]:
        item: dict[str, str] = {_local(key): value for key, value in element.attrib.items()}
        for child in element:
            words = " ".join("".join(child.itertext()).split())
            key = _local(child.tag)
            item[key] = f"{item[key]}\n{words}" if key in item else words
        if not len(element) and (element.text or "").strip():
            item["text"] = " ".join((element.text or "").split())
        items.append((0, item))
    return _of_items(name, "XML", items)


def _alike(node: Any) -> bool:
    return len(node) > 1 and len({child.tag for child in node}) == 1


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


# ---- Lines


def _from_lines(name: str, text: str, extension: str) -> QueryTable:
    directive = _DIRECTIVE.match(text)
    skipped = 0
    if directive:
        text, skipped = text[directive.end() :], 1
    else:
        text, skipped = _without_comments(text)
    candidates = [directive[1]] if directive else [mark for mark in SEPARATORS if mark in text]
    first = text.lstrip("\n").partition("\n")[0]
    for mark in candidates:  # a header says it best
        if mark in first:
            read = _split(text, mark, name, skipped, strict=False)
            if read and len(read[0].cells) > 1 and _has_header(read):
                return _headed(name, mark, _split(text, mark, name, skipped) or read)
    if "\t" in first and (read := _split(text, "\t", name, skipped)) and _is_even(read):
        return _unheaded(name, "\t", read)  # texts have commas and semicolons, but no tabs
    tables = [(mark, read) for mark in candidates if (read := _split(text, mark, name, skipped, strict=False))]
    even = [(mark, read) for mark, read in tables if _is_even(read)]
    alone = text_tier(first.strip().strip('"')) >= 2 and not any(mark in first for mark in candidates)
    if even and not alone:
        if len(even) > 1:
            clear = [pair for pair in even if pair[0] != "|" and _is_clear(*pair)]
            if len(clear) != 1:
                both = " and ".join(SEPARATORS.get(mark, mark) for mark, _ in even)
                raise _unclear(name, f"columns could be separated by {both}.", (), even[0][1])
            even = clear
        mark, read = even[0]
        if mark == "|" and not directive:
            raise _unclear(name, "it is not clear whether bars separate columns.", (), read)
        return _unheaded(name, mark, read)
    uneven = {mark: read for mark, read in tables if len({len(row.cells) for row in read}) > 1}
    if "\t" in uneven or (uneven and extension in TABLES):
        mark = "\t" if "\t" in uneven else max(uneven, key=text.count)
        raise _uneven(name, mark, uneven[mark])
    return _plain(name, text, extension, skipped)


def _without_comments(text: str) -> tuple[str, int]:
    """The text without lines that begin with # above its header, and how many they are; GA4 writes some."""
    lines = text.split("\n")
    comments = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    if not comments or not lines[0].startswith("#"):
        return text, 0
    header = re.split(r"[\t;,|]", lines[comments])
    if max(map(text_tier, header)) < 2:
        return text, 0
    return "\n".join(lines[comments:]), comments


def _split(text: str, mark: str, name: str, skipped: int, *, strict: bool = True) -> list[QueryRow] | None:
    """The rows of a table; None if its quoting is broken, and with `strict` an error."""
    if '"' not in text:
        return _unquoted(text, mark, skipped)
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=mark, strict=True, skipinitialspace=True)
    try:
        rows = list(_numbered(reader, skipped))
    except csv.Error as error:
        if mark != "\t":
            if not strict:
                return None
            line = reader.line_num + skipped
            hint = "put a cell in quotes as a whole, and double the quotes in it"
            raise InputError(name, f"invalid quoting ({error}).", line=line, hint=hint) from None
        rows = []
    # Quotes in lines with tabs belong to the text, unless the whole file is quoted as spreadsheets do it.
    if mark == "\t" and not (rows and (text.startswith('"') or '""' in text or _has_breaks(rows))):
        return _unquoted(text, mark, skipped)
    return rows


def _unquoted(text: str, mark: str, skipped: int) -> list[QueryRow]:
    lines = enumerate(text.split("\n"), 1 + skipped)
    rows = (QueryRow(number, [cell.strip() for cell in line.split(mark)]) for number, line in lines if line.strip())
    return [row for row in rows if any(row.cells)]


def _has_breaks(rows: Iterable[QueryRow]) -> bool:
    return any("\n" in cell or "\t" in cell for row in rows for cell in row.cells)


def _numbered(reader: Any, skipped: int) -> Iterator[QueryRow]:
    line = 1 + skipped
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield QueryRow(line, [cell.strip() for cell in cells])
        line = reader.line_num + 1 + skipped


def _has_header(rows: Sequence[QueryRow]) -> bool:
    first, *below = rows
    return is_header(first.cells, _columns(below, len(first.cells)))


def _headed(name: str, mark: str, rows: Sequence[QueryRow]) -> QueryTable:
    first, *below = rows
    names = [str(cell) for cell in first.cells]
    while not names[-1] and not any(any(row.cells[len(names) - 1 :]) for row in below):
        names.pop()  # spreadsheets write empty columns
    wrong = next((row for row in below if any(row.cells[len(names) :])), None)
    if wrong:
        fact = f"{count(len(wrong.cells), 'cell')}, but the first line names {count(len(names), 'column')}."
        hint = f"put a cell that contains a {SEPARATORS.get(mark, mark)} in quotes"
        raise InputError(name, fact, line=wrong.line, hint=hint)
    cells = [QueryRow(row.line, [*row.cells[: len(names)], *[""] * (len(names) - len(row.cells))]) for row in below]
    if len({name.lower() for name in names}) < len(names):
        raise InputError(name, "two columns have the same name.", line=first.line, hint=HINT)
    return _by_names(name, "CSV" if mark != "\t" else "TSV", names, cells, mark)


def _is_even(rows: Sequence[QueryRow]) -> bool:
    widths = {len(row.cells) for row in rows}
    return len(widths) == 1 and widths != {1}


def _unheaded(name: str, mark: str, rows: Sequence[QueryRow]) -> QueryTable:
    columns = _columns(rows, len(rows[0].cells))
    if all(_JUDGED.match("\t".join(row.cells)) for row in rows):
        raise InputError(name, "these are judgments or a run, not queries.", line=rows[0].line)
    try:
        roles = roles_by_cells(columns, id_first=mark == "\t")
    except Unclear as reason:
        raise _unclear(name, str(reason), (), rows) from None
    names = {roles.text: "text", **({} if roles.id is None else {roles.id: "id"})}
    named = tuple(names.get(at, f"column {at + 1}") for at in range(len(columns)))
    return QueryTable(name, "CSV" if mark != "\t" else "TSV", mark, False, named, roles, tuple(rows))


def _is_clear(mark: str, rows: Sequence[QueryRow]) -> bool:
    try:
        return bool(_unheaded("", mark, rows))
    except InputError:
        return False


def _uneven(name: str, mark: str, rows: Sequence[QueryRow]) -> InputError:
    other = next((row for row in rows if len(row.cells) != len(rows[0].cells)), rows[0])
    fact = f"{count(len(other.cells), 'cell')}, but line {rows[0].line} has {len(rows[0].cells)}."
    word = SEPARATORS.get(mark, mark)
    hint = f"a line is: id <{word}> text, a text with a {word} in quotes; or in a .txt file without tabs the text alone"
    if len(rows[0].cells) == 1:
        hint += ". What is above a header must be removed"
    return InputError(name, fact, line=other.line, hint=hint)


def _plain(name: str, text: str, extension: str, skipped: int) -> QueryTable:
    """A query on each line. Lines that may be something else are refused."""
    rows = [QueryRow(at, [line.strip()]) for at, line in enumerate(text.split("\n"), 1 + skipped) if line.strip()]
    if all(_JUDGED.match(row.cells[0]) for row in rows):
        raise InputError(name, "these are judgments or a run, not queries.", line=rows[0].line)
    quoted = _split(text, ",", name, skipped, strict=False)
    if extension in TABLES or text_tier(rows[0].cells[0].strip('"')) >= 2:
        if quoted and all(len(row.cells) == 1 for row in quoted):
            rows = quoted
        elif any('"' in row.cells[0] for row in rows):
            _split(text, ",", name, skipped)
            raise _uneven(name, ",", quoted or rows)
    first = rows[0].cells[0]
    if text_tier(first) >= 2 and len(rows) > 1:
        if extension not in TABLES and (text_tier(first) == 2 or first.lower() in _SEARCHED):
            fact = f"the first line, '{cut(first, _SHOWN)}', may be a header or a query."
            raise InputError(name, fact, line=rows[0].line, hint="write query on a line above the first query")
        return _by_names(name, "lines", [first], rows[1:])
    texts = [row.cells[0] for row in rows]
    starts = [text.split()[0] for text in texts]
    numbered = all(map(str.isdecimal, starts)) and len(set(starts)) == len(starts) and not all(map(is_number, texts))
    if numbered and (len(rows) > 1 or extension in TABLES):
        hint = "put a tab after each id; or, if these are the texts, write query on a line above them"
        raise InputError(name, "every line begins with a number: are these ids?", line=rows[0].line, hint=hint)
    return QueryTable(name, "lines", "", False, ("text",), _only_text(name, rows), tuple(rows))
