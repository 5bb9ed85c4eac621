# SPDX-License-Identifier: Apache-2.0
"""`python -m lanescope` becomes the program `lanescope`; no Python is left in between."""

import os
import signal
import sys

from lanescope import program


def main() -> None:
    try:
        path = program()
    except FileNotFoundError as error:
        sys.exit(f"lanescope: {error}")
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python ignores them, and what is ignored stays so in a new program.
    os.execv(path, [str(path), *sys.argv[1:]])


if __name__ == "__main__":
    main()
