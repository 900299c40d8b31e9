# SPDX-License-Identifier: GPL-2.0-or-later
"""Serves the dashboard to this machine: the page, and what is new in the runs since it last asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from typing_extensions import Self

from ns3_env.errors import ConfigError
from ns3_env.eval.dashboard.page import render
from ns3_env.eval.dashboard.runs import Follower

HOST = "127.0.0.1"


class Dashboard:
    """A server in a thread, from ``with`` to its end; it answers this machine alone and writes nothing."""

    def __init__(self, runs: Callable[[], Sequence[Path]], port: int = 0) -> None:
        """
        Args:
            runs: the folders to be shown, asked for anew each time.
            port: 0: a free one.

        Raises:
            ConfigError: the port is taken.
        """
        self._page = render().encode()
        self._runs = runs
        self._follower = Follower()
        self._found: Sequence[Path] = ()
        try:
            self._server = ThreadingHTTPServer((HOST, port), _handler(self))
        except (OSError, OverflowError) as error:
            raise ConfigError(
                f"--port: {port} cannot be had: {error}; without it a free one is taken"
            ) from None
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.2,), daemon=True)

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://{HOST}:{self._server.server_port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self) -> None:
        """Serves until the main thread is interrupted."""
        while self._thread.is_alive():
            self._thread.join(1.0)

    def answer(self, request: str) -> tuple[str, bytes] | None:
        """(type, content) of a path with its query; None: there is none."""
        parts = urlsplit(request)
        if parts.path == "/":
            return "text/html; charset=utf-8", self._page
        if parts.path == "/data":
            with suppress(ConfigError):  # a folder is gone: what was found before
                self._found = self._runs()
            content = {"runs": self._follower.state(self._found, _known(parts.query))}
            return "application/json", json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
        return None


def _known(query: str) -> dict[str, tuple[int, int]]:
    """NAME=ROWS.EDITION of each run; what is of another form is as if it were not there."""
    found = {}
    for name, value in parse_qsl(query):
        rows, _, edition = value.partition(".")
        if rows.isdecimal() and edition.isdecimal():
            found[name] = int(rows), int(edition)
    return found


def _handler(dashboard: Dashboard) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            # Another page in the browser, whose name leads here, gets nothing.
            host = self.headers.get("Host", "").rpartition(":")[0]
            answer = dashboard.answer(self.path) if host in (HOST, "localhost") else None
            kind, content = answer or ("text/plain", b"there is nothing here\n")
            try:
                self.send_response(404 if answer is None else 200)
                for name, value in (
                    ("Content-Type", kind),
                    ("Content-Length", str(len(content))),
                    ("Cache-Control", "no-store"),
                    ("X-Content-Type-Options", "nosniff"),
                ):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)
            except ConnectionError:  # the page was closed meanwhile
                self.close_connection = True

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing: the terminal belongs to the training."""

    return Handler
