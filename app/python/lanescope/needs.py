# SPDX-License-Identifier: Apache-2.0
"""The platforms of the program. The wheel's name gives them to pip, this text to people."""

import os
import platform
import sys

__all__ = ["why_not_here"]

GLIBC = (2, 28)
MACHINES = ("x86_64", "aarch64")


def why_not_here() -> str:
    """Returns why the program cannot start on this machine, in a sentence; empty if it can."""
    if sys.platform != "linux":
        found = {"darwin": "macOS", "win32": "Windows"}.get(sys.platform, sys.platform)
    elif platform.machine() not in MACHINES:
        found = f"Linux on {platform.machine()}"
    else:
        try:
            library = os.confstr("CS_GNU_LIBC_VERSION") or ""
        except (ValueError, OSError):
            library = ""
        name, _, version = library.partition(" ")
        if name != "glibc":
            found = "Linux with another C library (Alpine?)"
        elif tuple(int(part) for part in version.split(".")[:2]) < GLIBC:
            found = f"Linux with {library}"
        else:
            return ""
    return (f"lanescope needs Linux with glibc {GLIBC[0]}.{GLIBC[1]} or newer on {' or '.join(MACHINES)}; this is {found}. "
            "Record on such a machine. lanescope-viewer also needs Linux.")
