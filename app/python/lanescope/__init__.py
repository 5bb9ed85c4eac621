# SPDX-License-Identifier: Apache-2.0
"""The profiler Lanescope: reads traces, and marks what a training does.

    trace = lanescope.open("run.sqlite")
    pandas.DataFrame(trace.kernels())       # also polars, pyarrow, duckdb: whatever takes Arrow
    trace.compare("other.sqlite")           # shows itself in a notebook

    with lanescope.step(number), lanescope.range("forward"):
        ...
"""

from lanescope._places import program
from lanescope.marks import mark, range, step

# `open` and `range` are omitted: `from lanescope import *` would hide Python's own.
__all__ = ["Error", "Trace", "mark", "program", "step"]


def open(path):
    """Opens a trace, or a file of Nsight Systems (SQLite), torch.profiler or nvprof, also with gzip.

    A large trace is read once and gets an index next to it, with which it opens at once from then on. Raises
    lanescope.Error if it is not a trace or is corrupt.
    """
    from lanescope.trace import Trace  # Not needed in a training.

    return Trace(path)


def __getattr__(name):
    # Modules that a training does not need are not imported with the package.
    if name == "__version__":
        from importlib import metadata

        try:
            return metadata.version("lanescope")
        except metadata.PackageNotFoundError:  # A copy of the folder: the version of its program.
            import subprocess

            words = subprocess.run([program(), "--version"], capture_output=True, text=True, check=True).stdout.split()
            return words[1] if len(words) > 1 else ""
    if name == "Error":  # Also if the program or its library is missing.
        from lanescope._places import Error

        return Error
    if name in ("Trace", "Table", "Comparison"):
        from lanescope import trace

        return getattr(trace, name)
    raise AttributeError(f"module 'lanescope' has no attribute '{name}'")
