"""Completion scripts, made from the parsers so that they cannot lag behind them."""

from __future__ import annotations

import sys

from . import rules
from .parser import COMMANDS, Parser, parsers

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse

__all__ = ["SHELLS", "parser", "run", "script"]

SHELLS = ("bash", "zsh", "fish")

_BASH = """\
_rl_diagnose() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" words
  case "$previous" in
{values}
  esac
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}" in
{options}
  esac
  if [[ $current != -* ]]; then
    words=""
    [[ $COMP_CWORD -eq 1 ]] && words="{commands}"
    [[ $COMP_CWORD -eq 2 && ${{COMP_WORDS[1]}} == completion ]] && words="{shells}"
    [[ $COMP_CWORD -eq 2 && ${{COMP_WORDS[1]}} == rules ]] && words="{rules}"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
}}
complete -o filenames -F _rl_diagnose rl-diagnose
"""


def parser() -> Parser:
    """Options of `rl-diagnose completion`."""
    options = Parser(
        prog="rl-diagnose completion",
        description="Print a completion script.",
        epilog='examples:\n  eval "$(rl-diagnose completion bash)"\n  rl-diagnose completion fish | source\n',
    )
    options.add_argument("shell", choices=SHELLS)
    return options


def run(options: argparse.Namespace) -> int:
    """Print the script for the shell that is asked for."""
    sys.stdout.write(script(options.shell))
    return 0


def script(shell: str) -> str:
    """The completion script of `bash`, `zsh` or `fish`."""
    if shell == "fish":
        return _fish()
    bash = _bash()
    return f"autoload -U +X bashcompinit && bashcompinit\n{bash}" if shell == "zsh" else bash


def _actions(parser: Parser) -> list[tuple[list[str], str, list[str]]]:
    """(option strings, help, choices) of every argument; no option strings for a positional one."""
    return [
        (list(a.option_strings), a.help or "", [str(c) for c in a.choices or ()])
        for a in parser._actions  # noqa: SLF001 - argparse has no public list of its actions
    ]


def _bash() -> str:
    values: dict[str, list[str]] = {}
    options = []
    for name, made in parsers().items():
        words = []
        for strings, _, choices in _actions(made):
            words += strings
            if choices and strings:
                known = values.setdefault("|".join(strings), [])
                known += [c for c in choices if c not in known]
        # The first pattern that fits counts: a command of a group before the group, the default command last.
        rank, pattern = (2, "*") if name == "diagnose" else (0, f'"{name}"*') if " " in name else (1, f'"{name} "*')
        options.append((rank, f'    {pattern}) words="{" ".join(words)}" ;;'))
    return _BASH.format(
        values="\n".join(
            f'    {strings}) COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$current")); return ;;'
            for strings, choices in values.items()
        ),
        options="\n".join(line for _, line in sorted(options)),
        commands=" ".join(COMMANDS),
        shells=" ".join(SHELLS),
        rules=" ".join(rules.COMMANDS),
    )


def _fish() -> str:
    lines = [
        f"complete -c rl-diagnose -n __fish_is_first_token -a {name} -d {_quoted(text)}"
        for name, text in COMMANDS.items()
    ]
    others = " ".join(name for name in COMMANDS if name != "diagnose")
    known = " ".join(rules.COMMANDS)
    lines += [
        f"complete -c rl-diagnose -n '__fish_seen_subcommand_from rules; and not __fish_seen_subcommand_from {known}'"
        f" -a {name} -d {_quoted(text)}"
        for name, (_, text) in rules.COMMANDS.items()
    ]
    for name, made in parsers().items():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in name.split())
        when = seen if name != "diagnose" else f"not __fish_seen_subcommand_from {others}"
        for strings, text, choices in _actions(made):
            flags = "".join(f" -l {s[2:]}" if s.startswith("--") else f" -s {s[1:]}" for s in strings)
            words = f" -xa {_quoted(' '.join(choices))}" if choices else ""
            if flags or words:
                lines.append(f"complete -c rl-diagnose -n {_quoted(when)}{flags}{words} -d {_quoted(text)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
