"""The JSON API as a table.

Each row defines a route, the checks of its parameters and its part of the OpenAPI description. Answers are frozen
dataclasses: their annotations become the schema, and the `Attributes` of their docstrings the descriptions of the
fields, so the description always matches what is sent.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from starlette.responses import Response

from .visit import BadRequest, Visit

VERSION: Final = "3.1.0"
_PLAIN: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}
_FIELD = re.compile(r"^ {8}([a-z_]+(?:, [a-z_]+)*): (.+(?:\n {9,}.+)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an endpoint.

    Attributes:
        number: default, least and greatest value of a whole number; None for a text.
    """

    name: str
    help: str
    place: Literal["query", "path"] = "query"
    number: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A request that programs can make.

    Attributes:
        path: with its parameters in braces.
        media: types of a file that `make` answers with itself; none for JSON.
        form: fields of a form by which a POST to the path changes what it gives, and is answered likewise.
    """

    path: str
    name: str
    help: str
    make: Callable[[Visit], Any]
    answer: type
    parameters: Sequence[Parameter] = ()
    media: Sequence[str] = ()
    form: Sequence[Parameter] = ()

    def show(self, visit: Visit) -> Response:
        """Answer with JSON, or a file.

        Raises:
            BadRequest: a parameter is not of this endpoint.
        """
        allowed = {parameter.name for parameter in self.parameters if parameter.place == "query"}
        unknown = next((name for name in visit.request.query_params if name not in allowed), None)
        if unknown is not None:
            raise BadRequest(
                f"there is no parameter {unknown[:40]!r}; there are {', '.join(sorted(allowed)) or 'none'}"
            )
        made = self.make(visit)
        return made if isinstance(made, Response) else visit.json(plain(made))


def plain(value: Any) -> Any:
    """Convert a value to what JSON can hold; dataclasses become objects."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def schema_of(kind: Any, components: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a type; add those of dataclasses to `components`.

    Raises:
        TypeError: the type has no schema.
    """
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    origin, inside = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        schemas = [{"type": "null"} if each is type(None) else schema_of(each, components) for each in inside]
        if all(set(each) == {"type"} for each in schemas):
            return {"type": [each["type"] for each in schemas]}
        return {"anyOf": schemas}
    if origin in {Sequence, list, tuple}:
        return {"type": "array", "items": schema_of(inside[0], components)}
    if origin in {Mapping, dict}:
        return {"type": "object", "additionalProperties": schema_of(inside[1], components)}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if kind.__name__ not in components:
            components[kind.__name__] = {}  # a placeholder: a field may be of this very type
            components[kind.__name__] = _object(kind, components)
        return {"$ref": f"#/components/schemas/{kind.__name__}"}
    raise TypeError(f"{kind} has no schema")


def _object(kind: type, components: dict[str, Any]) -> dict[str, Any]:
    text = inspect.getdoc(kind) or ""
    hints = get_type_hints(kind)
    about = _said(kind.__doc__ or "")
    properties = {}
    for each in dataclasses.fields(kind):
        schema = schema_of(hints[each.name], components)
        properties[each.name] = {**schema, "description": about[each.name]} if each.name in about else schema
    return {
        "type": "object",
        "description": text.split("\n", 1)[0],
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _said(docstring: str) -> dict[str, str]:
    """Return the description of each attribute in a docstring."""
    _, _, attributes = docstring.partition("Attributes:\n")
    return {name: " ".join(text.split()) for names, text in _FIELD.findall(attributes) for name in names.split(", ")}


def describe(endpoints: Sequence[Endpoint], version: str) -> dict[str, Any]:
    """Return the OpenAPI description of the endpoints."""
    schemas: dict[str, Any] = {}
    paths = {
        endpoint.path: {"get": _operation(endpoint, schemas)}
        | ({"post": _change(endpoint, schemas)} if endpoint.form else {})
        for endpoint in endpoints
    }
    schemas["Problem"] = {
        "type": "object",
        "description": "An error.",
        "properties": {
            "error": {
                "type": "object",
                "properties": {"status": {"type": "integer"}, "message": {"type": "string"}},
                "required": ["status", "message"],
            }
        },
        "required": ["error"],
    }
    return {
        "openapi": VERSION,
        "info": {
            "title": "newscrawler",
            "version": version,
            "summary": "What was crawled, for programs: search, articles, stories, sites, the crawl itself.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    answers = {
        "200": {
            "description": endpoint.help,
            "content": {
                media: {"schema": schema_of(endpoint.answer, schemas)}
                for media in endpoint.media or ("application/json",)
            },
        },
        "400": {"description": "A parameter is wrong.", "content": problem},
        "503": {"description": "The database cannot be read at the moment.", "content": problem},
    }
    if "{" in endpoint.path:
        answers["404"] = {"description": "There is no such thing.", "content": problem}
    return {
        "operationId": endpoint.name,
        "summary": endpoint.help,
        "parameters": [_parameter(each) for each in endpoint.parameters],
        "responses": dict(sorted(answers.items())),
    }


def _change(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    fields = {each.name: {"type": "string", "description": each.help} for each in endpoint.form}
    form = {"schema": {"type": "object", "properties": fields, "required": [endpoint.form[0].name]}}
    return {
        **_operation(endpoint, schemas),
        "operationId": f"change_{endpoint.name}",
        "requestBody": {"required": True, "content": {"application/x-www-form-urlencoded": form}},
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if parameter.number is not None:
        default, least, most = parameter.number
        schema = {"type": "integer", "minimum": least, "maximum": most, "default": default}
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.help,
        "schema": schema,
    }
