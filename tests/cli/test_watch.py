"""`watch` from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from .conftest import Done

Command = Callable[..., Done]


def test_it_stops_when_a_cause_reaches_the_limit_and_says_what_changed(command: Command, example: Path) -> None:
    done = command("watch", example, "--fail-at", "0.5")
    assert done.code == 1
    assert "Learning rate jumped" in done.out
    assert "reached --fail-at 0.5" in done.err


def test_a_command_is_told_the_news(command: Command, example: Path, tmp_path: Path) -> None:
    script = tmp_path / "tell.py"
    script.write_text(f"import sys; open({str(tmp_path / 'news.txt')!r}, 'w').write(sys.argv[-1])", "utf-8")
    command("watch", example, "--fail-at", "0.5", "--command", f'"{sys.executable}" "{script}"', "--bell")
    assert "Learning rate jumped" in (tmp_path / "news.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("absent",), "no such file or folder"),
        ((".", "--every", "0"), "is not a number of seconds"),
        ((".", "--fail-at", "2"), "is not a probability"),
        ((".", "--webhook", "file:///etc/passwd"), "is no address of the web"),
        ((".", "--webhook", "https://"), "is no address of the web"),
        ((".", "--webhook", "http://[x"), "is no address of the web"),
    ],
)
def test_what_cannot_be_meant_is_refused(command: Command, words: tuple[str, ...], fact: str) -> None:
    done = command("watch", *words)
    assert done.code == 2
    assert fact in done.err


@pytest.fixture
def hook() -> Iterator[tuple[str, list[dict[str, Any]], list[int]]]:
    """A web server on this machine: its address, what was posted there, and the status it answers with."""
    posted: list[dict[str, Any]] = []
    status = [200]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status[0])
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/hook", posted, status
        server.shutdown()
        thread.join()


def test_a_webhook_is_told_the_news(
    command: Command, example: Path, hook: tuple[str, list[dict[str, Any]], list[int]]
) -> None:
    address, posted, _ = hook
    assert command("watch", example, "--fail-at", "0.5", "--webhook", address).code == 1
    (news,) = posted
    assert "Learning rate jumped" in news["text"]
    assert news["path"] == str(example)
    assert news["news"] == [news["text"]]


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_webhook_that_fails_is_said_and_nothing_else_ends(
    command: Command, example: Path, hook: tuple[str, list[dict[str, Any]], list[int]], status: int
) -> None:
    address, posted, answers = hook
    answers[0] = status
    done = command("watch", example, "--fail-at", "0.5", "--webhook", address)
    assert done.code == 1
    assert "could not be posted" in done.err
    assert len(posted) == 1, "a redirection is not followed"


def test_nobody_at_the_address_is_said(command: Command, example: Path) -> None:
    done = command("watch", example, "--fail-at", "0.5", "--webhook", "http://127.0.0.1:1/")
    assert done.code == 1
    assert "could not be posted" in done.err
