"""``python -m maylink`` is the command ``maylink``."""

import sys

from maylink.cli import main

if __name__ == "__main__":
    sys.exit(main())
