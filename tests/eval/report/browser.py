# SPDX-License-Identifier: GPL-2.0-or-later
"""A page in a headless Chromium, driven over its debugging pipe."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Path of an installed Chromium, None without one."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


class Browser:
    """One tab: commands of the DevTools protocol, and the events that came meanwhile."""

    def __init__(self, write_fd: int, read_fd: int) -> None:
        self._write, self._read = write_fd, read_fd
        self._buffer, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The command's result. Raises RuntimeError where the browser refuses it."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser has gone")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def open(self, page: Path, width: int, height: int = 900, dark: bool = False) -> None:
        """Loads a file at a viewport of ``width`` pixels and waits until it and its pictures are there."""
        self.events.clear()
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Page.navigate", url=page.absolute().as_uri())
        ready = "document.readyState == 'complete' && [...document.images].every(x => x.complete)"
        end = time.monotonic() + 30
        while not self.evaluate(ready):
            if time.monotonic() > end:
                raise RuntimeError(f"{page} was not loaded within 30 s")
            time.sleep(0.02)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        return self.send("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def requests(self) -> list[str]:
        """Addresses asked for since the page was opened, but for those that hold their content."""
        urls = [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]
        return [url for url in urls if not url.startswith("data:")]

    def failures(self) -> list[str]:
        """Requests that failed and exceptions that were thrown since the page was opened."""
        bad = ("Network.loadingFailed", "Runtime.exceptionThrown")
        return [json.dumps(event["params"]) for event in self.events if event.get("method") in bad]

    def screenshot(self) -> bytes:
        """The viewport as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])


@contextmanager
def browser(executable: str) -> Iterator[Browser]:
    """A browser of its own, without the network, for as long as the block runs."""
    to_browser, write_fd = os.pipe()
    read_fd, from_browser = os.pipe()

    def pipes() -> None:
        """Chromium reads commands on descriptor 3 and answers on 4."""
        ends = [os.dup(to_browser), os.dup(from_browser)]
        for number, end in enumerate(ends, start=3):
            os.dup2(end, number)

    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                executable,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
                f"--user-data-dir={profile}",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=pipes,
            close_fds=False,
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Browser(write_fd, read_fd)
        finally:
            process.kill()
            process.wait()
            os.close(write_fd)
            os.close(read_fd)
