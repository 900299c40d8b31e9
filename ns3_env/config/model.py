# SPDX-License-Identifier: GPL-2.0-or-later
"""Strict typed models whose errors name file, key and the nearest known key."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from ns3_env.config.gone import current
from ns3_env.config.imports import is_code, made_by
from ns3_env.errors import ConfigError

M = TypeVar("M", bound=BaseModel)

_FALSE = {form for word in ("off", "false") for form in (word, word.title(), word.upper())}
#: Words that users write for none.
MEANS_NONE = _FALSE | {form for word in ("none", "null") for form in (word, word.title(), word.upper())}
_NONE_MEANT = "none_meant"


def _members(annotation: Any) -> Iterator[Any]:
    """The types that a union is of, or the type itself; of literals the values."""
    if get_origin(annotation) is Annotated:
        yield from _members(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for member in get_args(annotation):
            yield from _members(member)
    elif get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        yield annotation


def _means_null(value: object, annotation: Any) -> bool:
    """Returns whether a value is a word for none if the key accepts null and no such word."""
    members = list(_members(annotation))
    is_false = value is False or value in _FALSE
    return bool({None, NoneType} & {*members}) and value not in members and not (is_false and bool in members)


class Strict(BaseModel):
    """Base of everything a user may write: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    #: Keys that read words for none themselves.
    none_keys: ClassVar[Collection[str]] = ()

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            data = current(cls.__name__, data)
            unknown = [str(key) for key in data if key not in cls.model_fields]
            if unknown:
                keys = list(cls.model_fields)
                lines = [f"unknown key {shown(key)}" + nearest(key, keys) for key in unknown[:MAX_FAULTS]]
                if len(unknown) > MAX_FAULTS:
                    lines.append(f"{len(unknown) - MAX_FAULTS} more unknown keys")
                raise PydanticCustomError("unknown_key", "{text}", {"text": "\n".join(lines)})
            if lines := [
                f"{key}: is {shown(value)}; write null for none"
                for key, value in data.items()
                if (value is False or (type(value) is str and value in MEANS_NONE))
                and key not in cls.none_keys
                and _means_null(value, cls.model_fields[key].annotation)
            ]:
                raise PydanticCustomError(_NONE_MEANT, "{text}", {"text": "\n".join(lines)})
        return data


def named_by(key: str, kinds: object) -> Callable[[Any], Any]:
    """A validator's function that explains what to write if ``key`` names none of these kinds.

    ``pkg.module:name`` is the user's own function: called with the other keys, it returns one of these.

    Args:
        key: key of each kind's name, pydantic's discriminator.
        kinds: a union of models, whose defaults of ``key`` are their names.
    """
    models = tuple(get_args(kinds))

    def checked(value: Any) -> Any:
        if isinstance(value, models):
            return value
        names = [model.model_fields[key].default for model in models]
        choices = ", ".join(map(repr, names))
        if isinstance(value, str):
            near = get_close_matches(value[:_MAX_TEXT], names, n=1, cutoff=0.0)[0]
            text = f"is {shown(value)}: write {{{key}: {near}, ...}}"
        elif not isinstance(value, Mapping):
            text = f"is {shown(value)}: write {{{key}: {names[0]}, ...}}"
        elif key not in value:
            text = f"has no {key!r}: one of {choices}"
        elif isinstance(value[key], str) and is_code(value[key]):
            settings = {str(name): setting for name, setting in value.items() if name != key}
            return made_by(
                value[key], settings, lambda model: isinstance(model, models), f"a {key} of {choices}"
            )
        elif value[key] not in names:
            text = f"there is no {key} {shown(value[key])}{nearest(str(value[key]), names)} of {choices}"
        else:
            return value
        raise PydanticCustomError("unknown_kind", "{text}", {"text": text})

    return checked


def auto_none_or_given(value: Any) -> str:
    """Returns which of its three a setting is: "auto", "none" or "given", for pydantic's discriminator."""
    if value is None:
        return "none"
    return "auto" if isinstance(value, str) else "given"


#: Number of faults that an error names; the rest is counted.
MAX_FAULTS = 20
_MAX_TEXT = 200
_MAX_LINE = 1000

_short = reprlib.Repr()
_short.maxlevel, _short.maxdict, _short.maxlist, _short.maxtuple = 2, 3, 4, 4
_short.maxstring = _short.maxother = 100
_short.maxlong = 50


def shown(value: object) -> str:
    """A value as an error shows it: in a few words, whatever its size."""
    try:
        return _short.repr(value)
    except ValueError:
        return "a number of thousands of digits"


def cut(line: str) -> str:
    """An error's line, or the beginning of one that is too long to be read."""
    return line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]}..."


def _printable(line: str) -> str:
    """With escapes for line ends and invisible characters."""
    return line if line.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


#: Least likeness of a name that is suggested as an alternative: of files and controllers.
LIKE = 0.6


def nearest(key: str, candidates: Sequence[str], least: float = 0.0) -> str:
    """``; the nearest known one is 'x'``, whatever its case, or nothing if none is known or alike.

    ``least``: how alike it has to be, 1 being equal.
    """
    by_text = {name.casefold(): name for name in reversed(candidates)}
    near = get_close_matches(key[:_MAX_TEXT].casefold(), by_text, n=1, cutoff=least)
    return f"; the nearest known one is {by_text[near[0]]!r}" if near else ""


def validate(
    data: object,
    model: type[M],
    source: str,
    *,
    raises: type[ValueError] = ConfigError,
    context: Mapping[str, Any] | None = None,
) -> M:
    """``data`` as ``model``.

    Args:
        data: keys and values, as in a YAML file.
        model: model that describes them.
        source: name of the file, for errors.
        raises: class of the error.
        context: context for the model's validators.

    Raises:
        ConfigError, or ``raises``: a line for each fault, with ``source`` and the key.
    """
    try:
        return model.model_validate(dict(data) if isinstance(data, Mapping) else data, context=context)
    except ValidationError as error:
        lines = [f"{source}: {line}" for line in describe(error, data)]
        raise raises("\n".join(lines)) from None


@contextmanager
def refused_at(place: str) -> Iterator[None]:
    """A name or a setting that is refused in the block is a ConfigError, which starts with ``place``."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{place}: {error.args[0]}") from error


#: Kinds of faults whose text already includes the value.
_COMPLETE = (
    _NONE_MEANT,
    "unknown_key",
    "unknown_kind",
    "value_error",
    "missing",
    "union_tag_not_found",
    "wrong_unit",
)


def describe(error: ValidationError, data: object) -> list[str]:
    """A fault a line: ``key: FAULT``.

    Args:
        error: error raised by pydantic's validation.
        data: the validated data. pydantic names the tag of a union's member among the keys; a key that
            ``data`` lacks is omitted, unless it is the missing one.
    """
    lines: list[str] = []
    faults = error.errors(include_url=False)
    for fault in faults[:MAX_FAULTS]:
        place, at = [], data
        for part in fault["loc"]:
            if isinstance(at, Mapping) and part in at:
                at = at[part]
            elif isinstance(part, int) and isinstance(at, Sequence) and not isinstance(at, str):
                at = at[part] if part < len(at) else None
            elif fault["type"] != "missing" or part != fault["loc"][-1]:
                continue
            place.append(str(part))
        text = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "union_tag_invalid":
            text = text.replace(str(fault["ctx"]["tag"]), shown(fault["ctx"]["tag"])[1:-1])
        if fault["type"] not in _COMPLETE:
            text += f" (it is {shown(fault['input'])})"
        link = "." if fault["type"] == _NONE_MEANT else ": "
        lines += [f"{'.'.join(place)}{link}{line}" if place else line for line in text.split("\n")]
    lines = [_printable(cut(line)) for line in lines]
    if len(faults) > MAX_FAULTS:
        lines.append(f"{len(faults) - MAX_FAULTS} more faults")
    return list(dict.fromkeys(lines))
