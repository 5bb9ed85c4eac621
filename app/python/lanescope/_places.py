# SPDX-License-Identifier: Apache-2.0
"""Where the program lies that was installed with this package."""

from pathlib import Path


def program() -> Path:
    """The program `lanescope` that was installed with this package.

    Raises FileNotFoundError if it is not there, as when only the folder of the package was copied.
    """
    from importlib import metadata  # Takes longer to import than all else here.

    # `pip install --target` writes down places that it then moves everything away from.
    places = [Path(__file__).parent.parent / "bin" / "lanescope"]
    installed = metadata.distribution("lanescope")
    places += [Path(installed.locate_file(file)) for file in installed.files or [] if file.parts[-2:] == ("bin", "lanescope")]
    for place in places:
        if place.is_file():
            return place.resolve()
    raise FileNotFoundError(
        f"The program lanescope is not in {' or '.join(str(place.parent) for place in places)}: "
        "install the package again, with pip.")
