# SPDX-License-Identifier: Apache-2.0
"""The path of the program that was installed with this package."""

from pathlib import Path


class Error(Exception):
    """An error with the sentence that the command line would print."""


class MissingProgramError(Error, FileNotFoundError):
    """The program that belongs to this package is not there."""


def program() -> Path:
    """Returns the program `lanescope` that was installed with this package.

    Without an installed package, as for a copy of its folder, this is the program of PATH. Raises MissingProgramError
    if there is none.
    """
    import shutil  # Both are slower to import than everything else here.
    from importlib import metadata

    # `pip install --target` records paths from which it then moves all files away.
    places = [Path(__file__).parent.parent / "bin" / "lanescope"]
    try:
        installed = metadata.distribution("lanescope")
        files = installed.files or []
        places += [Path(installed.locate_file(file)) for file in files if file.parts[-2:] == ("bin", "lanescope")]
    except metadata.PackageNotFoundError:
        if found := shutil.which("lanescope"):
            places.append(Path(found))
    for place in places:
        if place.is_file():
            return place.resolve()
    raise MissingProgramError(
        f"The program lanescope is not in {' or '.join(str(place.parent) for place in places)}. "
        "Install the package with pip, or add the program's folder to PATH.")
