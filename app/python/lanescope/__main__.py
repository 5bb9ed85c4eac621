# SPDX-License-Identifier: Apache-2.0
"""`python -m lanescope` becomes the program `lanescope`; no Python process remains."""

import os
import signal
import sys

from lanescope import program
from lanescope.needs import why_not_here


def main() -> None:
    reason = why_not_here()
    if reason:
        sys.exit(reason)
    try:
        path = program()
    except FileNotFoundError as error:
        sys.exit(f"lanescope: {error}")
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python ignores them, and ignored signals stay ignored in a new program.
    try:
        os.execv(path, [str(path), *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"lanescope: {path} cannot start: {error.strerror}. Reinstall the package with pip (built for another machine?).")


if __name__ == "__main__":
    main()
