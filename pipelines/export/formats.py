"""Writers of rows: JSON lines, CSV, XLSX, Parquet, Markdown, citations.

Each takes rows of database values page by page and writes them at once, so that memory holds no more than a page, or a
row group of Parquet.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

from db.records.article import LISTS, split_names, split_stories
from db.records.keys import read_day

from ..document.document import parse
from ..text_form.render import literal, markdown
from . import arrow
from .cells import harmless
from .citations import CITED, STYLES

Rows = Sequence[Sequence[Any]]

BOM: Final = "\ufeff".encode()
FRONT_MATTER: Final = (
    "title",
    "url",
    "site",
    "authors",
    "source",
    "published_at",
    "language",
    "section",
    "tags",
    "description",
    "classes",
    "keywords",
    "summary",
    "duplicate_of",
    "first_seen",
    "id",
    "number",
)
"""Columns before an article in Markdown, unless others are named."""
BODY: Final = ("title", "text", "html", "url", "site", "published_at", "id")
"""Columns needed for an article's Markdown, beside its front matter."""
SHORT: Final = (
    "title",
    "url",
    "site",
    "source",
    "authors",
    "published_at",
    "section",
    "language",
    "summary",
    "id",
)
"""Columns of a table of search results, unless others are named."""
_MOST_CELL: Final = 32_767
_MOST_SHEET_ROWS: Final = 1 << 20
_EXACT: Final = 10**15
"""Numbers from here on are rounded by spreadsheets, and are written as texts."""
_SPLITTERS: Final[Mapping[str, Callable[[str], Any]]] = {
    **dict.fromkeys((*LISTS, "labels"), split_names),
    "related": split_stories,
}
_GROUP_BYTES: Final = 16 << 20
_TITLE_CHARS: Final = 40
_UNNAMED = re.compile(r"[\W_]+")
# JSON is YAML but for these, which may stand in YAML's quotation marks only as escapes.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class RowWriter:
    """Base of all writers: a context, left when all is written or a write failed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the file, unless an error occurred."""

    def write(self, rows: Rows) -> None:
        raise NotImplementedError

    def remark(self, text: str) -> None:
        """Write a sentence on the rows above it, where the format has a place for one."""


class JsonLines(RowWriter):
    """JSON lines: an object a row, named by the columns; lists are lists."""

    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        self._file = file
        self._columns = columns
        self._splitters = {name: _SPLITTERS[name] for name in columns if name in _SPLITTERS}

    def write(self, rows: Rows) -> None:
        for row in rows:
            values = dict(zip(self._columns, row, strict=True))
            values |= {name: split(values[name]) for name, split in self._splitters.items()}
            self._line(values)

    def remark(self, text: str) -> None:
        self._line({"remark": text})

    def _line(self, values: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


class Csv(RowWriter):
    """CSV for spreadsheets: no cell is a formula, names are joined by "、"."""

    def __init__(self, file: BinaryIO, columns: Sequence[str], begin: bytes, *, header: bool) -> None:
        self._file = file
        self._images = [at for at, name in enumerate(columns) if name == "images"]
        file.write(begin)
        if header:
            self._write([columns])

    def write(self, rows: Rows) -> None:
        self._write(_cells(rows, self._images))

    def remark(self, text: str) -> None:
        self._write([[text]])

    def _write(self, rows: Sequence[Any]) -> None:
        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        self._file.write(text.getvalue().encode("utf-8", "replace"))


def _cells(rows: Rows, images: Sequence[int]) -> list[list[Any]]:
    """Return rows of a spreadsheet, without formulas; `images` become URLs."""
    cells = [list(row) for row in rows]
    for row in cells:
        for at in images:
            row[at] = " ".join(image["url"] for image in row[at])
    return [list(map(harmless, row)) for row in cells]


class Xlsx(RowWriter):
    """A workbook of one sheet; texts too long for a cell end with "…".

    Rows wait in a temporary file, and the workbook is written when all are there.
    """

    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        try:
            import xlsxwriter  # noqa: PLC0415 - an extra
        except ImportError:
            raise ValueError("XLSX files need XlsxWriter: uv sync --extra xlsx") from None
        self._folder = tempfile.TemporaryDirectory(prefix="xlsx")
        self._book = xlsxwriter.Workbook(file, {"constant_memory": True, "tmpdir": self._folder.name})
        self._sheet = self._book.add_worksheet("articles" if "title" in columns else "rows")
        self._images = [at for at, name in enumerate(columns) if name == "images"]
        self._row = 0
        self._sheet.freeze_panes(1, 0)
        self._write([list(columns)], self._book.add_format({"bold": True}))

    def write(self, rows: Rows) -> None:
        self._write(_cells(rows, self._images))

    def remark(self, text: str) -> None:
        self._write([[text]])

    def _write(self, rows: Sequence[Sequence[Any]], form: Any = None) -> None:
        if self._row + len(rows) > _MOST_SHEET_ROWS:
            raise ValueError(f"a sheet of XLSX has {_MOST_SHEET_ROWS:,} rows; export fewer, or to CSV")
        for row in rows:
            for at, value in enumerate(row):
                if isinstance(value, int | float) and abs(value) < _EXACT:
                    self._sheet.write_number(self._row, at, value, form)
                elif value is not None and value != "":
                    text = str(value).encode("utf-8", "replace").decode()
                    shown = text if len(text) <= _MOST_CELL else f"{text[: _MOST_CELL - 1]}…"
                    self._sheet.write_string(self._row, at, shown, form)
            self._row += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if error is None:
                self._book.close()
            else:
                self._sheet.row_data_fh.close()
                self._book.fileclosed = True  # else it would complain that it was not closed
        finally:
            self._folder.cleanup()


class Parquet(RowWriter):
    """Parquet: typed columns, compressed, in row groups of some 16 MB."""

    def __init__(self, file: BinaryIO, record: Any, columns: tuple[str, ...]) -> None:
        schema = arrow.schema(record, columns)  # says so if pyarrow is missing
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

        self._record = record
        self._columns = columns
        self._batches: list[Any] = []
        self._writer = pq.ParquetWriter(file, schema, compression="zstd")

    def write(self, rows: Rows) -> None:
        self._batches.append(arrow.batch(self._record, self._columns, rows))
        if sum(batch.nbytes for batch in self._batches) > _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._batches:
            self._writer.write_table(arrow.table(self._record, self._columns, self._batches), row_group_size=1 << 30)
            self._batches = []

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if error is None:
                self._flush()
                self._writer.close()
        finally:
            self._writer.is_open = False  # else it would try to write the footer once more, into a closed file


class MarkdownStream(RowWriter):
    def __init__(self, file: BinaryIO, columns: Sequence[str], shown: Sequence[str]) -> None:
        self._file = file
        self._columns = columns
        self._shown = shown

    def write(self, rows: Rows) -> None:
        for row in rows:
            text = article_markdown(dict(zip(self._columns, row, strict=True)), self._shown)
            self._file.write(f"{text}\n".encode("utf-8", "replace"))

    def remark(self, text: str) -> None:
        self._file.write(f"---\n\n{text}\n".encode("utf-8", "replace"))


class MarkdownFolder(RowWriter):
    """Articles as Markdown, a file each: `SITE/DAY-TITLE-ID.md`, in a folder.

    `shown` are columns of the front matter; `save` writes a file whole or not at all.
    """

    def __init__(
        self, folder: Path, columns: Sequence[str], shown: Sequence[str], save: Callable[[Path, bytes], None]
    ) -> None:
        self._folder = folder
        self._columns = columns
        self._shown = shown
        self._save = save

    def write(self, rows: Rows) -> None:
        for row in rows:
            values = dict(zip(self._columns, row, strict=True))
            text = article_markdown(values, self._shown)
            self._save(self._folder / file_name(values), text.encode("utf-8", "replace"))


class MarkdownTable(RowWriter):
    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        self._file = file
        self._line(columns)
        self._line(["---"] * len(columns))

    def write(self, rows: Rows) -> None:
        for row in rows:
            self._line(["" if value is None else literal(str(value)) for value in row])

    def _line(self, cells: Sequence[str]) -> None:
        shown = " | ".join(" ".join(cell.split()) for cell in cells)
        self._file.write(f"| {shown} |\n".encode("utf-8", "replace"))


class Citations(RowWriter):
    """Citations in one of `STYLES`; rows have the columns `CITED`."""

    def __init__(self, file: BinaryIO, style: str) -> None:
        self._file = file
        self._style = STYLES[style]

    def write(self, rows: Rows) -> None:
        for row in rows:
            self._file.write(self._style.cite(dict(zip(CITED, row, strict=True))).encode("utf-8", "replace"))

    def remark(self, text: str) -> None:
        self._file.write(self._style.remark(text).encode("utf-8", "replace"))


def columns_read(form: str, columns: Sequence[str], *, are_articles: bool) -> tuple[str, ...]:
    """Return the columns that a file of a form is made of, where these are shown."""
    if form in STYLES:
        return CITED
    return tuple(dict.fromkeys((*columns, *BODY))) if form == "markdown" and are_articles else tuple(columns)


def row_writer(
    form: str, file: BinaryIO, record: Any, columns: tuple[str, ...], read: tuple[str, ...], *, begin: bytes = b""
) -> RowWriter:
    """Make the writer of a new file.

    Its rows have the columns `read`, see `columns_read`; CSV has `begin` before it.

    Raises:
        ValueError: the form needs a library that is not there.
    """
    if form in STYLES:
        return Citations(file, form)
    makers: Mapping[str, Callable[[], RowWriter]] = {
        "jsonl": lambda: JsonLines(file, columns),
        "csv": lambda: Csv(file, columns, begin, header=True),
        "xlsx": lambda: Xlsx(file, columns),
        "parquet": lambda: Parquet(file, record, columns),
        "markdown": lambda: MarkdownTable(file, columns) if read == columns else MarkdownStream(file, read, columns),
    }
    return makers[form]()


def article_markdown(values: Mapping[str, Any], shown: Sequence[str]) -> str:
    """Render an article as Markdown behind a front matter in YAML.

    Empty columns are left out of the front matter. Cost: 0.5 milliseconds for a text of 1,000 characters.
    """
    lines = ["---"]
    for name in shown:
        value = _SPLITTERS[name](values[name]) if name in _SPLITTERS else values[name]
        if value not in (None, "", []):
            text = json.dumps(value, ensure_ascii=False)
            lines.append(f"{name}: {_UNPRINTABLE.sub(_escape, text)}")
    lines += ["---", ""]
    if values["title"]:
        lines += [f"# {literal(values['title'])}", ""]
    # a copy in the database may have a text alone
    html = values["html"] or "".join(f"<p>{escape(line)}</p>" for line in values["text"].splitlines())
    document = parse(html.encode("utf-8", "replace"), values["url"] or "", "text/html; charset=utf-8")
    lines += [markdown(document, range(len(document.blocks))), ""]
    return "\n".join(lines)


def file_name(values: Mapping[str, Any]) -> Path:
    """Return the path of an article below a folder: site, day, title, identifier.

    >>> file_name({"site": "a.example", "published_at": "2024-05-01T08:00+08:00", "title": "A/B: ../x", "id": "-7"})
    PosixPath('a.example/2024-05-01-A-B-x--7.md')
    """
    site = re.sub(r"[^\w.-]+", "-", values["site"] or "").strip(".") or "unknown"
    day = str(read_day(values["published_at"]) or "undated")
    title = _UNNAMED.sub("-", values["title"]).strip("-")[:_TITLE_CHARS]
    return Path(site) / f"{'-'.join(filter(None, (day, title, values['id'])))}.md"


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


# ---------------------------------------------------------------- files that go on


def json_end(file: BinaryIO, key: str) -> tuple[int, str]:
    """Return where the last whole line of JSON ends, and its key; raises `ValueError`."""
    end, last = 0, b""
    for line in file:
        if line.endswith(b"\n"):
            end, last = end + len(line), line
    if not last:
        return end, ""
    try:
        return end, str(json.loads(last)[key])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"its last line has no {key!r}, by which an export goes on") from None


def csv_end(file: BinaryIO, key: str, columns: Sequence[str]) -> tuple[int, str]:
    """Return where the last whole record of a CSV file ends, and its key.

    Raises:
        ValueError: it has other columns, or lacks the one with the key.
    """
    csv.field_size_limit(1 << 30)
    read = whole = end = 0

    def lines() -> Any:
        nonlocal read, whole
        for line in file:
            read += len(line)
            whole = read if line.endswith(b"\n") else -1
            yield line.decode("utf-8-sig" if read == len(line) else "utf-8", "replace")

    last: Sequence[str] = ()
    header: Sequence[str] | None = None
    try:
        for row in csv.reader(lines(), strict=True):
            if whole < 0:
                break
            header, last, end = header or row, row, whole
    except csv.Error:  # cut off inside a cell
        pass
    if header is None:
        return 0, ""
    if list(header) != list(columns):
        raise ValueError(f"it has other columns: {','.join(header)}")
    if key not in columns:
        raise ValueError(f"it has no column {key!r}, by which an export goes on")
    return end, "" if last is header else last[list(columns).index(key)]
