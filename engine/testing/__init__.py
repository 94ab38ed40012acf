"""Tests of rulebooks, written in YAML beside them; `docs/rulebook-tests.md` explains the format."""
