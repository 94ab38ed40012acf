"""Draws the pictures of the docs anew from the example: the summary as SVG, the report as PNG where Chromium is.

python docs/pictures/draw.py
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console

from rl_diagnose import diagnose
from rl_diagnose.report.html import to_html
from rl_diagnose.report.terminal import renderable

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "collapsed-ppo"


def main() -> None:
    """Write both pictures beside this file."""
    diagnosis = diagnose(EXAMPLE)
    console = Console(file=io.StringIO(), record=True, width=96, force_terminal=True)
    console.print(renderable(diagnosis))
    drawn = console.export_svg(title="rl-diagnose examples/collapsed-ppo")
    fontless = re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL)  # nothing is fetched from elsewhere
    (HERE / "summary.svg").write_text("\n".join(line.rstrip() for line in fontless.splitlines()) + "\n", "utf-8")
    browser = shutil.which("chromium")
    if browser is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(to_html(diagnosis), "utf-8")
        picture = f"--screenshot={HERE / 'report.png'}"
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,1250"]
        subprocess.run([browser, *flags, picture, page.as_uri()], check=True, capture_output=True)  # noqa: S603 - our own page


if __name__ == "__main__":
    main()
