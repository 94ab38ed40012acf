"""The site of the docs has every page, and its pictures are of what the program shows now."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rl_diagnose import diagnose

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def named(part: object) -> set[str]:
    """The pages in a part of the navigation."""
    if isinstance(part, str):
        return {part}
    return set().union(*(named(inner) for inner in (part if isinstance(part, list) else dict(part).values())))  # type: ignore[call-overload]


def test_every_page_but_those_of_single_causes_is_in_the_navigation() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    single = {page for page in pages if page.startswith("causes/") and page != "causes/README.md"}
    assert named(config["nav"]) == pages - single


def test_the_picture_of_the_summary_shows_what_is_said_now() -> None:
    (run,) = diagnose(ROOT / "examples" / "collapsed-ppo").runs
    drawn = (DOCS / "pictures" / "summary.svg").read_text("utf-8").replace("&#160;", " ")
    assert run.top is not None
    for words in (run.top.title, run.verdict_reason, *(f"{plan.knob}" for plan in run.top.remedies)):
        assert words in drawn, "python docs/pictures/draw.py draws it anew"


@pytest.mark.parametrize("page", ["index.md", "read-the-summary.md"])
def test_pictures_are_there(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    for name in {part.partition(")")[0] for part in text.split("](pictures/")[1:]}:
        assert (DOCS / "pictures" / name).is_file()
