# SPDX-License-Identifier: GPL-2.0-or-later
"""How do configuration errors read? A typed model that names the nearest known key."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError


class Strict(BaseModel):
    """Base of everything a user may write: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = [str(key) for key in data if key not in cls.model_fields]
            if unknown:
                raise PydanticCustomError(
                    "unknown_key", "{text}", {"text": "; ".join(cls._unknown(key) for key in unknown)}
                )
        return data

    @classmethod
    def _unknown(cls, key: str) -> str:
        near = difflib.get_close_matches(key, cls.model_fields, n=1, cutoff=0.0)
        return f"unknown key {key!r}" + (f"; the nearest known one is {near[0]!r}" if near else "")


#: Keys whose value is one of several models: pydantic puts the model's tag, which is no key, into an error's
#: place.
UNION_KEYS: frozenset[str] = frozenset({"topology", "traffic", "clock", "parts", "ecn"})


class Describe:
    """Turns pydantic's errors into lines a person can act on."""

    tags: ClassVar[frozenset[str]] = UNION_KEYS

    @classmethod
    def lines(cls, error: ValidationError) -> list[str]:
        """One "key: what is wrong" per fault."""
        return [
            cls._line(item["loc"], item["msg"], item.get("input"), item["type"]) for item in error.errors()
        ]

    @classmethod
    def _line(cls, loc: tuple[int | str, ...], text: str, value: Any, kind: str) -> str:
        keys: list[str] = []
        for i, part in enumerate(loc):
            before = loc[i - 1] if i else None
            if isinstance(before, int) and i > 1:
                before = loc[i - 2]
                tagged = before == "parts"
            else:
                tagged = before in cls.tags and before != "parts"
            if not (tagged and isinstance(part, str)):
                keys.append(str(part))
        text = text.removeprefix("Value error, ")
        if kind not in ("unknown_key", "value_error", "missing", "union_tag_not_found"):
            text += f" (it is {value!r})"
        return f"{'.'.join(keys)}: {text}" if keys else text
