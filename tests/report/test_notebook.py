"""What a notebook shows: self-contained, escaped, and made by the diagnosis itself."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

from rich.console import Console

from .made import BROKEN, CAUSE, PLAN, QUIET, RUN, SHORT, diagnosis

EVIL = "<script>alert(1)</script>\"'"


class Tags(HTMLParser):
    """Collects tags and attributes, and holds that every tag is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += attrs
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_fragment_is_well_formed_and_needs_nothing_from_elsewhere() -> None:
    for runs in ((RUN,), (QUIET,), (SHORT,), (BROKEN,), (RUN, QUIET, SHORT, BROKEN)):
        tags = Tags(diagnosis(*runs)._repr_html_())
        assert tags.open == []
        assert not tags.names & {"script", "link", "img", "iframe", "style"}
        assert not [a for a in tags.attributes if a[0] in {"src", "href"} or a[0].startswith("on")]


def test_it_shows_the_finding_the_curves_and_the_fix() -> None:
    html = diagnosis()._repr_html_()
    for words in ("Entropy bonus too weak", "<svg", "Policy entropy collapsed", "92 %", "+ model.ent_coef = 0.03"):
        assert words in html


def test_text_from_a_log_is_escaped() -> None:
    plan = replace(PLAN, summary=EVIL, after=EVIL, relative=EVIL, note=EVIL)
    run = replace(RUN, path=EVIL, id=EVIL, env=EVIL, verdict_reason=EVIL, remarks=(EVIL,))
    run = replace(run, causes=(replace(CAUSE, title=EVIL, remedies=(plan,)),))
    for runs in ((run,), (run, QUIET)):
        assert "script" not in Tags(diagnosis(*runs)._repr_html_()).names


def test_a_diagnosis_prints_itself_as_text_and_through_rich() -> None:
    assert "FINDING" in str(diagnosis())
    console = Console(width=90, record=True, file=None, quiet=False)
    with console.capture() as capture:
        console.print(diagnosis())
    assert "FINDING" in capture.get()
