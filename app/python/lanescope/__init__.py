# SPDX-License-Identifier: Apache-2.0
"""The profiler Lanescope: reads traces, and marks what a training does.

    trace = lanescope.open("run.sqlite")
    pandas.DataFrame(trace.kernels())       # also polars, pyarrow, duckdb: whatever takes Arrow
    trace.compare("other.sqlite")           # shows itself in a notebook

    with lanescope.step(number), lanescope.range("forward"):
        ...
"""

import builtins

from lanescope._places import program
from lanescope.marks import mark, range, step

# `open` and `range` are omitted: `from lanescope import *` would hide Python's own.
__all__ = ["Error", "Trace", "mark", "program", "step", "trigger"]


def open(path):
    """Opens a trace, or a file of Nsight Systems (SQLite), torch.profiler or nvprof, also with gzip.

    A large trace is read once and gets an index next to it, with which it opens at once from then on. Raises
    lanescope.Error if it is not a trace or is corrupt.
    """
    from lanescope.trace import Trace  # Not needed in a training.

    return Trace(path)


def trigger(reason="", steps=0, past=True):
    """Requests a trace of the present seconds from `lanescope watch`, and of the next `steps` steps.

    Returns False if this process does not run under `lanescope watch`. May be called at any time; never raises OSError.
    """
    import json
    import os
    import time

    folder = os.environ.get("LANESCOPE_AGENT_DIR")
    if not folder or not os.path.exists(os.path.join(folder, "level")):
        return False
    # A reader must not see half of it.
    name = f"request-{os.getpid()}-{time.monotonic_ns()}"
    unfinished = os.path.join(folder, f"new-{name}")
    try:
        with builtins.open(unfinished, "x", encoding="utf-8") as file:
            json.dump({"reason": str(reason), "steps": int(steps), "past": bool(past)}, file)
        os.rename(unfinished, os.path.join(folder, name))
    except OSError:
        return False
    return True


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
