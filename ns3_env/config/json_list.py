# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of objects in JSON, read one object at a time."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

from ns3_env.config.model import shown

_SPACE = re.compile(r"\s*")
_CHUNK = 1 << 16


class JsonList:
    """The objects of a list, of which one is in memory at a time.

    Args:
        text: text that starts with the list.
        line: line on which the text starts.
        most: characters that an object may have.

    Attributes:
        line: line on which the object read last ends, or a fault is; the first one is 1.
    """

    def __init__(self, text: TextIO, line: int = 1, most: int = 1 << 20) -> None:
        self.line = line
        self._text = text
        self._most = most
        self._buffer = ""
        self._place = 0
        self._decoder = json.JSONDecoder()

    def objects(self, *, is_all: bool = True) -> Iterator[dict[str, Any]]:
        """Yields each object. Raises ValueError at anything but a list of objects, its line in ``line``.

        Args:
            is_all: nothing may follow the list.
        """
        self._expect("[")
        if self._sign() == "]":
            self._expect("]")
        else:
            yield self._object()
            while self._expect(",]") == ",":
                yield self._object()
        if is_all and self._sign():
            raise ValueError(f"{self._rest()} behind the end of the list")

    def _sign(self) -> str:
        """The next character that is no space, which stays; "" at the end."""
        while True:
            space = _SPACE.match(self._buffer, self._place)
            self._pass(self._place if space is None else space.end())
            if self._place < len(self._buffer) or not self._read():
                return self._buffer[self._place : self._place + 1]

    def _expect(self, signs: str) -> str:
        sign = self._sign()
        if not sign or sign not in signs:
            where = " or ".join(signs)
            raise ValueError(f"{self._rest()} where {where} should stand" if sign else "the list has no end")
        self._place += 1
        return sign

    def _object(self) -> dict[str, Any]:
        if self._sign() != "{":
            raise ValueError(f"{self._rest()} where an object should stand")
        while True:
            try:
                content, end = self._decoder.raw_decode(self._buffer, self._place)
            except (ValueError, RecursionError) as error:
                if len(self._buffer) - self._place > self._most:
                    raise ValueError(f"no object ends within {self._most} characters") from None
                if not self._read():
                    raise ValueError(f"no JSON: {getattr(error, 'msg', error)}") from None
                continue
            self._pass(end)
            return dict(content)

    def _pass(self, place: int) -> None:
        self.line += self._buffer.count("\n", self._place, place)
        self._place = place

    def _read(self) -> bool:
        """Reads more of the text, all that is available; returns whether there was any."""
        self._buffer = self._buffer[self._place :]
        self._place = 0
        more = self._text.read(max(_CHUNK, len(self._buffer)))
        self._buffer += more
        return bool(more)

    def _rest(self) -> str:
        return shown(self._buffer[self._place : self._place + 200].partition("\n")[0])


def open_list(data: bytes, begin: int, most: int = 1 << 26) -> JsonList:
    """The list that starts at a place of a file in memory; lines are those of the file."""
    file = io.BytesIO(data)
    file.seek(begin)
    return JsonList(io.TextIOWrapper(file, encoding="utf-8"), 1 + data.count(b"\n", 0, begin), most)
