# SPDX-License-Identifier: Apache-2.0
"""The compiled libraries of this package, loaded on first use."""

import ctypes
from pathlib import Path

from lanescope._places import Error, MissingProgramError, program


def load(name: str, version_function: str, version: int) -> ctypes.CDLL:
    """Loads the library liblanescope-`name`.so, which is next to the agent.

    Raises MissingProgramError if it is missing, and Error if it belongs to another version of this package.
    """
    root = program().parent.parent
    places = [folder / f"liblanescope-{name}.so" for folder in (root / "libexec" / "lanescope", root / "lib")]
    place = next((place for place in places if place.is_file()), None)
    if place is None:
        raise MissingProgramError(f"{Path(places[0]).name} is not in {places[0].parent}. Reinstall the package with pip.")
    library = ctypes.CDLL(str(place))
    if getattr(library, version_function)() != version:
        raise Error(f"{place}: another version than this package. Reinstall the package with pip.")
    return library
