"""`python -m rl_diagnose` is the command `rl-diagnose`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
