# SPDX-License-Identifier: Apache-2.0
"""The profiler Lanescope: where its program is, and of which version it is."""

from importlib import metadata
from pathlib import Path

__all__ = ["__version__", "program"]


def __getattr__(name: str) -> str:
    # Only when somebody asks, as pip imports the package where it is not installed.
    if name == "__version__":
        return metadata.version("lanescope")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def program() -> Path:
    """The program `lanescope` that was installed with this package.

    Raises FileNotFoundError if it is not there, as when only the folder of the package was copied.
    """
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
