"""Adapters are found by entry point; one that is broken does not take the others with it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from rl_diagnose.logs import registry
from rl_diagnose.logs.adapter import Adapter


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    registry._load.cache_clear()  # noqa: SLF001 - adapters are looked up once per process
    yield
    registry._load.cache_clear()  # noqa: SLF001


class Third:
    """A third-party adapter."""

    def __init__(self, name: str = "third") -> None:
        self.name = name
        self.title = "a third party's logs"

    def sniff(self, folder: Any) -> Any:
        raise NotImplementedError

    def read(self, source: Any, options: Any) -> Any:
        raise NotImplementedError


THIRD = Third()
ANOTHER = Third()
NO_ADAPTER = object()
SEVERAL = (THIRD, Third("fourth"), ANOTHER)


def install(monkeypatch: pytest.MonkeyPatch, **targets: str) -> None:
    points = [EntryPoint(name, target, registry.GROUP) for name, target in targets.items()]
    monkeypatch.setattr(registry, "entry_points", lambda *, group: points if group == registry.GROUP else [])


def load_from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``here:NAME`` an entry point's target that is this module's NAME."""
    original = EntryPoint.load

    def load(point: EntryPoint) -> Any:
        module, _, name = point.value.partition(":")
        return globals()[name] if module == "here" else original(point)

    monkeypatch.setattr(EntryPoint, "load", load)


def test_the_built_in_adapter_of_sb3_is_found_by_entry_point() -> None:
    found = {adapter.name: adapter for adapter in registry.adapters()}
    assert "sb3" in found
    assert all(isinstance(adapter, Adapter) for adapter in found.values())


def test_adapters_are_loaded_once() -> None:
    assert registry.adapters() is registry.adapters()


def test_one_entry_point_may_give_several_adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    load_from_here(monkeypatch)
    install(monkeypatch, several="here:SEVERAL")
    assert [adapter.name for adapter in registry.adapters()] == ["fourth", "third"]
    assert [problem.fact for problem in registry.plugin_problems()] == ["there is an adapter named 'third' already"]


def test_a_third_party_adapter_joins_the_others_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    load_from_here(monkeypatch)
    install(monkeypatch, third="here:THIRD", sb3="rl_diagnose.adapters.sb3:ADAPTER")
    assert [adapter.name for adapter in registry.adapters()] == ["sb3", "third"]
    assert registry.plugin_problems() == ()


@pytest.mark.parametrize(
    ("target", "fact"),
    [
        ("no_such_module_anywhere:X", "ModuleNotFoundError"),
        ("rl_diagnose.errors:Nope", "AttributeError"),
        ("here:NO_ADAPTER", "is no adapter"),
    ],
)
def test_a_broken_plug_in_is_named_and_the_others_work(monkeypatch: pytest.MonkeyPatch, target: str, fact: str) -> None:
    load_from_here(monkeypatch)
    install(monkeypatch, broken=target, sb3="rl_diagnose.adapters.sb3:ADAPTER")
    assert [adapter.name for adapter in registry.adapters()] == ["sb3"]
    (problem,) = registry.plugin_problems()
    assert (problem.name, problem.target) == ("broken", target)
    assert fact in str(problem)
    assert "'broken'" in str(problem)


def test_of_two_adapters_with_one_name_the_second_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    load_from_here(monkeypatch)
    install(monkeypatch, a="here:THIRD", b="here:ANOTHER")
    assert registry.adapters() == (THIRD,)
    assert [problem.name for problem in registry.plugin_problems()] == ["b"]
