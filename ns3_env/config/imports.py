# SPDX-License-Identifier: GPL-2.0-or-later
"""Imports of the user's own code as ``pkg.module:name``, if the command line has named it.

Files (configurations, curricula, run folders) are data, no matter who wrote them: a name in one of them is
imported only if the command line names it too, or allows all of the file's (``--allow-imports``).
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ns3_env.errors import ConfigError

#: Names that may be imported, one a line: in the environment, so that worker processes also know it.
_VARIABLE = "NS3_ENV_NAMED_CODE"
_EVERYTHING = ":"
_NAME_OF_CODE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def is_code(name: str) -> bool:
    """Returns whether a name refers to custom code: it has a colon."""
    return ":" in name


def trust(names: Iterable[str]) -> None:
    """Allows imports of these names from now on, in this process and those that it starts."""
    os.environ[_VARIABLE] = "\n".join(sorted(trusted() | {name for name in names if is_code(name)}))


def trust_all() -> None:
    """Allows imports of any name from now on, in this process and those that it starts."""
    trust([_EVERYTHING])


def trust_named_in(texts: Iterable[str]) -> None:
    """Allows imports of the names of code in these arguments of the command line."""
    trust(name for text in texts for name in _NAME_OF_CODE.findall(text))


def trusted() -> set[str]:
    """Returns the names that may be imported so far."""
    return set(os.environ.get(_VARIABLE, "").split("\n"))


def named_code(name: str) -> object:
    """Returns the object that ``pkg.module:name`` refers to.

    Raises:
        ConfigError: only a file has named it, there is no such thing, or its module does not import.
    """
    if not trusted() & {name, _EVERYTHING}:
        raise ConfigError(
            f"would run the code of {name!r}; if you trust it, name it on the command line (key=value) or "
            "allow all that the files name: --allow-imports"
        )
    return import_named(name)


def import_named(name: str) -> object:
    """Imports the object that ``pkg.module:name`` refers to, no matter who named it. The working directory is
    also searched.

    Raises:
        ConfigError: it has another form, does not exist, or its module does not import.
    """
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute.isidentifier()):
        raise ConfigError(f"expected pkg.module:name, found {name!r}")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever the user's module does
        raise ConfigError(
            f"cannot import {module_name!r}: {type(error).__name__}: {error}; it must be installed, "
            "or lie below the working directory or PYTHONPATH"
        ) from error
    value: object = getattr(module, attribute, None)
    if value is None:
        names = [key for key in vars(module) if not key.startswith("_")]
        raise ConfigError(f"{module_name} has no {attribute!r}; it has {', '.join(names)}")
    return value


def made_by(
    name: str, settings: Mapping[str, Any], fits: type | Callable[[object], bool], expected: str
) -> Any:  # the type that fits() checks
    """Calls ``pkg.module:name`` with the settings.

    Args:
        name: name of a class or a function, ``pkg.module:name``.
        settings: keyword arguments of the call.
        fits: required type of the result, or a predicate that accepts it.
        expected: description of the required result, for the error.

    Raises:
        ConfigError: see ``named_code``; or the call is impossible, failed, or returned something else.
    """
    maker = named_code(name)
    if not callable(maker):
        raise ConfigError(f"{name} is a {type(maker).__name__}: expected what gives {expected} when called")
    try:
        value = maker(**settings)
    except Exception as error:  # whatever the user's code does
        raise ConfigError(f"{name}() raised {type(error).__name__}: {error}") from error
    if not (isinstance(value, fits) if isinstance(fits, type) else fits(value)):
        raise ConfigError(f"{name}() gave a {type(value).__name__}: expected {expected}")
    return value
