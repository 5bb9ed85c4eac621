# SPDX-License-Identifier: Apache-2.0
"""The path of the program that was installed with this package."""

from pathlib import Path


def program() -> Path:
    """Returns the program `lanescope` that was installed with this package.

    Raises FileNotFoundError if it is missing, for example if only the folder of the package was copied.
    """
    from importlib import metadata  # Slower to import than everything else here.

    # `pip install --target` records paths from which it then moves all files away.
    places = [Path(__file__).parent.parent / "bin" / "lanescope"]
    installed = metadata.distribution("lanescope")
    places += [Path(installed.locate_file(file)) for file in installed.files or [] if file.parts[-2:] == ("bin", "lanescope")]
    for place in places:
        if place.is_file():
            return place.resolve()
    raise FileNotFoundError(
        f"The program lanescope is not in {' or '.join(str(place.parent) for place in places)}. "
        "Reinstall the package with pip.")
