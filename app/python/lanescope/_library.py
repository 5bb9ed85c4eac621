# SPDX-License-Identifier: Apache-2.0
"""The compiled libraries of this package, loaded when they are first needed."""

import ctypes
from pathlib import Path

from lanescope._places import program


class Error(Exception):
    """What could not be done, as the sentence that the command line would print."""


def load(name: str, version_function: str, version: int) -> ctypes.CDLL:
    """The library liblanescope-`name`.so, which lies beside the agent.

    Raises FileNotFoundError if it is not there, and Error if it is of another version of this package.
    """
    root = program().parent.parent
    places = [folder / f"liblanescope-{name}.so" for folder in (root / "libexec" / "lanescope", root / "lib")]
    place = next((place for place in places if place.is_file()), None)
    if place is None:
        raise FileNotFoundError(f"{Path(places[0]).name} is not in {places[0].parent}: install the package again, with pip.")
    library = ctypes.CDLL(str(place))
    if getattr(library, version_function)() != version:
        raise Error(f"{place} is of another version than this package: install the package again, with pip.")
    return library
