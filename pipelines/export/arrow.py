"""Arrow tables of records: a type for each field, batches of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from .records import StoredImage, StoredStory, annotations_of, readers

if TYPE_CHECKING:
    import pyarrow as pa


def _pyarrow() -> Any:
    """Import pyarrow, an extra that takes a fifth of a second."""
    try:
        import pyarrow  # noqa: PLC0415
    except ImportError:
        raise ValueError("Parquet and Arrow tables need pyarrow: uv sync --extra export") from None
    return pyarrow


@cache
def schema(record: type, columns: tuple[str, ...]) -> pa.Schema:
    pa = _pyarrow()
    types = {
        "str": pa.string(),
        "Category": pa.dictionary(pa.int32(), pa.string()),
        "bool": pa.bool_(),
        "int": pa.int64(),
        "float": pa.float64(),
        "datetime": pa.timestamp("us", tz="UTC"),
        "tuple[str, ...]": pa.list_(pa.string()),
        "tuple[StoredImage, ...]": pa.list_(pa.struct([(name, pa.string()) for name in StoredImage._fields])),
        "tuple[StoredStory, ...]": pa.list_(pa.struct([(name, pa.string()) for name in StoredStory._fields])),
    }
    kinds = {name: annotations_of(record)[name].partition(" | ")[0] for name in columns}
    return pa.schema([(name, types[kind]) for name, kind in kinds.items()])


def batch(record: type, columns: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> pa.RecordBatch:
    pa = _pyarrow()
    wanted = schema(record, columns)
    converters = readers(record)
    arrays = []
    for at, field in enumerate(wanted):
        values: Iterable[Any] = (row[at] for row in rows)
        if field.name in converters and field.name != "images":
            values = map(converters[field.name], values)
        if field.name == "related":
            values = ([story._asdict() for story in one] for one in values)
        arrays.append(pa.array(list(values), type=field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def table(record: Any, columns: tuple[str, ...], batches: Iterable[pa.RecordBatch]) -> pa.Table:
    pa = _pyarrow()
    return pa.Table.from_batches(batches, schema=schema(record, columns)).unify_dictionaries()
