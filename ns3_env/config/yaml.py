# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads and writes YAML; errors name the file and the fault in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from ns3_env.config.collector import paused_collector
from ns3_env.config.files import read_text
from ns3_env.errors import ConfigError

#: Maximum depth of nested keys and lists.
MAX_DEPTH = 50
#: Keys that a file's merge keys (``<<``) bring into other mappings.
MAX_MERGED = 100_000
#: Maximum characters of a whole number.
MAX_DIGITS = 500

# LibYAML reads large files (flow lists, results) ten times faster; PyYAML has it if built with it.
_Base: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """Invalid values are errors with line and column; nesting and merging are limited."""

    _depth = 0
    _merged = 0

    def descend_resolver(self, node: Any, index: Any) -> None:
        """Called for each value on the way down, by both of PyYAML's parsers."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _fault(f"keys and lists more than {MAX_DEPTH} deep within each other", node)

    def ascend_resolver(self) -> None:
        """The way up."""
        self._depth -= 1

    def flatten_mapping(self, node: Any) -> None:
        """Merges the mappings that merge keys name into a mapping."""
        for key, value in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                for part in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    if isinstance(part, yaml.MappingNode):
                        self.flatten_mapping(part)
                        self._merged += len(part.value)
                    if self._merged > MAX_MERGED:
                        raise _fault(f"merge keys (<<) bring in more than {MAX_MERGED} keys", node)
        super().flatten_mapping(node)


def _fault(text: str, node: Any = None) -> yaml.YAMLError:
    """Makes the error on a fault, at the start of ``node``."""
    return yaml.MarkedYAMLError(problem=text, problem_mark=None if node is None else node.start_mark)


def fault_text(path: str | Path, error: yaml.YAMLError | UnicodeDecodeError) -> str:
    """``FILE:LINE:COLUMN: not YAML: FAULT``; without a place if it has none."""
    place, message = str(path), str(error).replace('"<unicode string>"', "the text")
    if isinstance(error, yaml.MarkedYAMLError):
        message = ", ".join(part for part in (error.context, error.problem) if part)
        if error.problem_mark is not None:
            place += f":{error.problem_mark.line + 1}:{error.problem_mark.column + 1}"
    return f"{place}: not YAML: {' '.join(message.split())[:300]}"


def _careful(kind: str, construct: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """PyYAML's constructors raise any of Python's errors for a text of another kind."""

    def constructed(loader: Any, node: Any) -> Any:
        text = node.value
        if kind == "int" and len(text) > MAX_DIGITS:
            raise _fault(f"a number of {len(text)} characters; none has more than {MAX_DIGITS}", node)
        try:
            return construct(loader, node)
        except yaml.YAMLError:
            raise
        except Exception:
            excerpt = text if isinstance(text, str) and len(text) <= 40 else f"{text[:40]}..."
            raise _fault(f"{excerpt!r} is no {kind}", node) from None

    return constructed


for _kind in ("int", "float", "bool", "null", "timestamp", "binary"):
    _tag = f"tag:yaml.org,2002:{_kind}"
    _Loader.add_constructor(_tag, _careful(_kind, _Base.yaml_constructors[_tag]))


def parse(text: str) -> Any:
    """The value that YAML text represents. Raises yaml.YAMLError."""
    loader = _Loader(text)
    try:
        with paused_collector():
            return loader.get_single_data()
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise yaml.YAMLError(str(error)) from None
    finally:
        loader.dispose()


def read_yaml(path: str | Path, raises: type[ValueError] = ConfigError) -> Any:
    """The value in a YAML file.

    Raises:
        ConfigError, or ``raises``: there is no such file, or it is not YAML.
    """
    try:
        return parse(read_text(path))
    except OSError as error:
        raise raises(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise raises(fault_text(path, error)) from error


def read_mapping(path: str | Path, raises: type[ValueError] = ConfigError) -> dict[str, Any]:
    """The keys and values in a YAML file.

    Args:
        path: the file.
        raises: class of the error.

    Raises:
        ConfigError, or ``raises``: there is no such file, it is not YAML, or is not a mapping.
    """
    data = read_yaml(path, raises)
    if not isinstance(data, dict):
        raise raises(f"{path}: expected keys and values, found {type(data).__name__}")
    return data


_Dumper: type[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def to_text(content: Mapping[str, Any]) -> str:
    """The content as YAML, its keys in their order, as PyYAML writes it with or without LibYAML."""
    text: str = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    if "\\" in text:  # both fold what they escape, each in its own way
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    return text


def put(data: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """``data`` with the value at ``key``; mappings on the way are copied, missing ones are made.

    Args:
        data: keys and values, as in a YAML file.
        key: names from the outermost to the innermost, joined by dots; ``0`` below a missing key is the first
            entry of a new list.
        value: the new value.

    Raises:
        ValueError: the key leads through something without keys, or to an entry that a list lacks.
    """
    result = dict(data)
    at: dict[str, Any] | list[Any] = result
    *parents, last = names = key.split(".")
    for depth, parent in enumerate(parents):
        there = at[_entry(at, parent)] if isinstance(at, list) else at.get(parent)
        inner = _new_container(names[depth + 1]) if there is None else there
        if not isinstance(inner, dict | list):
            raise ValueError(f"{'.'.join(parents[: depth + 1])!r} holds a value, not keys")
        copied = dict(inner) if isinstance(inner, dict) else list(inner)
        _set(at, parent, copied)
        at = copied
    _set(at, last, value)
    return result


def _new_container(name: str) -> dict[str, Any] | list[Any]:
    """Makes a container for an entry of this name."""
    if name == "0":
        return [None]
    if name.isascii() and name.isdecimal():
        raise ValueError(f"{name[:40]!r} is no entry of a list that is not there yet: it begins with 0")
    return {}


def _set(at: dict[str, Any] | list[Any], name: str, value: Any) -> None:
    if isinstance(at, list):
        at[_entry(at, name)] = value
    else:
        at[name] = value


def _entry(at: list[Any], name: str) -> int:
    """The place in a list that the name is. Raises ValueError."""
    if name.isascii() and name.isdecimal() and len(name) <= 9 and int(name) < len(at):
        return int(name)
    there = f"0 to {len(at) - 1}" if at else "there are none"
    raise ValueError(f"{name[:40]!r} is no entry of a list; its entries have numbers: {there}")
