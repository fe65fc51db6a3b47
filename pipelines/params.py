"""Look up methods and parameters that a user gives by name, and check them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import StrEnum
from functools import partial
from importlib import import_module
from inspect import iscoroutinefunction, signature
from math import isfinite
from typing import Any


def fill_params(kind: type, params: Mapping[str, object] | None, owner: str) -> Any:
    """Build an object of a class of parameters, which has a default for every field.

    `owner` names whose they are in the message.

    Raises:
        ValueError: unknown name or impossible value; the message says what is allowed.
    """
    defaults = {item.name: item.default for item in fields(kind)}
    for key in params or {}:
        if key not in defaults:
            raise ValueError(f"{owner} has no parameter {key!r}; known: {', '.join(defaults)}")
    return kind(**{key: _value(owner, key, value, defaults[key]) for key, value in (params or {}).items()})


def _value(owner: str, key: str, value: object, default: object) -> object:
    where = f"parameter {key!r} of {owner} is {value!r}; it takes"
    if isinstance(default, StrEnum):
        names = [str(each) for each in type(default)]
        if value not in names:
            raise ValueError(f"{where} one of {', '.join(names)}")
        return type(default)(value)
    if isinstance(default, str):
        if not isinstance(value, str):
            raise ValueError(f"{where} text")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{where} a number, {default}")
    if isinstance(default, int) and value != int(value):
        raise ValueError(f"{where} a whole number, {default}")
    return int(value) if isinstance(default, int) else float(value)


def is_import_path(name: str) -> bool:
    """Tell whether a method is given by its import path.

    >>> is_import_path("mypackage.mine:extract"), is_import_path("combined")
    (True, False)
    """
    return ":" in name


def plug_in(path: str, params: Mapping[str, object] | None, owner: str, *, takes: str = "") -> Callable[..., Any]:
    """Return a function or class from outside the project, with `params` filled in.

    It is looked for as Python does, and in the current folder last. A function gets the parameters with each call; a
    class gets them when it is made, once in each process, and its instance is called.

    Args:
        path: `module:name`.
        owner: its purpose, for the message: "extractor".
        takes: the one argument of a call in a word or two, empty when there is none.

    Raises:
        ValueError: there is no such module or name, it cannot be called so, or does not take these parameters.
    """
    where, given = f"{owner} {path!r}", dict(params or {})
    target = _imported(path, where)
    method = target
    if isinstance(target, type):
        _check_call(target, 0, given, f"{where} cannot be made with the parameters {given!r}")
        try:
            method, given = target(**given), {}
        except Exception as error:
            raise ValueError(f"{where} cannot be made with {given!r} ({type(error).__name__}: {error})") from error
    if not callable(method):
        what = f"instances of {where}" if method is not target else where
        raise ValueError(f"{what} cannot be called; it takes a function, or a class with __call__")
    if iscoroutinefunction(method) or iscoroutinefunction(getattr(method, "__call__", None)):  # noqa: B004
        raise ValueError(f"{where} is asynchronous; it takes a plain function")
    wanted = " and ".join(filter(None, (takes, f"the parameters {given!r}" if given else "")))
    _check_call(method, bool(takes), given, f"{where} cannot be called with {wanted or 'no arguments'}")
    return partial(method, **given) if given else method


def _imported(path: str, where: str) -> Any:
    module_name, _, name = path.partition(":")
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    try:
        named: Any = import_module(module_name)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{module_name}.".startswith(f"{missing}."):
            raise ValueError(f"{where}: no module {missing!r} in the current folder or on PYTHONPATH") from None
        raise ValueError(f"{where}: importing it failed ({type(error).__name__}: {error})") from error
    for part in name.split("."):
        try:
            named = getattr(named, part)
        except AttributeError:
            raise ValueError(f"{where}: the module {module_name!r} has no {name!r}") from None
    return named


def _check_call(function: Callable[..., Any], leading: int, given: Mapping[str, object], problem: str) -> None:
    try:
        expected = signature(function)
    except ValueError:  # of some functions in C
        return
    try:
        expected.bind(*[None] * leading, **given)
    except TypeError as error:
        raise ValueError(f"{problem}: {error}") from None
