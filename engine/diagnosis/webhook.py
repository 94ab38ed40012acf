"""Telling an address on the web what has changed: a POST of JSON, in the form that chat services take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_address", "post"]

TIMEOUT_S = 10.0


def check_address(address: str) -> str:
    """`address` if news can be posted to it; raises `UsageError` otherwise."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host or any(c.isspace() for c in address):
        raise UsageError(f"'{address}' is no address of the web", hint="it begins with https:// or http://")
    return address


def post(address: str, path: str, news: Sequence[str]) -> str | None:
    """Send ``{"text": …, "path": …, "news": […]}``; None when it was taken, else what went wrong.

    `text` is the news in one piece, as Slack, Mattermost and their like show it. Redirections are not followed: what
    was meant for one address goes to no other.
    """
    body = json.dumps({"text": "\n".join(news), "path": path, "news": list(news)}).encode("utf-8")
    request = Request(address, body, {"Content-Type": "application/json", "User-Agent": "rl-diagnose"})  # noqa: S310 - http(s) only, see check_address
    try:
        with build_opener(_NoRedirection).open(request, timeout=TIMEOUT_S):
            return None
    except (URLError, OSError, ValueError) as error:
        return str(getattr(error, "reason", None) or error)


class _NoRedirection(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """No request to another place: urllib then raises an error for the redirection itself."""
