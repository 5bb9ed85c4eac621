# SPDX-License-Identifier: Apache-2.0
"""Ranges, steps and marks of a training, by NVTX.

Any tool that records the process and supports NVTX receives them: `lanescope record`, or Nsight Systems. If no tool
records, nothing is loaded, and a mark costs less than a call of a short function.
"""

import functools
import inspect
import os

__all__ = ["is_recorded", "mark", "range", "step"]

# Set by the recording tool before the process starts.
_RECORDER = "NVTX_INJECTION64_PATH"
# Far from the numbers that programs choose for categories of their own.
_FIRST_CATEGORY = 0x4c530000


class _NoRange:
    """A range if no tool records."""

    __slots__ = ()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):  # quicker than to pack them
        pass

    def __call__(self, function):
        return function


class _Range:
    """A range that is entered and left on one thread, or a decorator of functions that are such ranges."""

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    def __enter__(self):
        _library.lanescopePush(self._name)
        return self

    def __exit__(self, *error):
        _library.lanescopePop()

    def __call__(self, function):
        name = self._name
        if inspect.iscoroutinefunction(function):
            # While it waits, other functions run on its thread, so ranges of that thread would not nest.
            @functools.wraps(function)
            async def ranged(*arguments, **named):
                number = _library.lanescopeStart(name)
                try:
                    return await function(*arguments, **named)
                finally:
                    _library.lanescopeEnd(number)
        else:
            @functools.wraps(function)
            def ranged(*arguments, **named):
                _library.lanescopePush(name)
                try:
                    return function(*arguments, **named)
                finally:
                    _library.lanescopePop()
        return ranged


def _encoded(name):
    # C ends a text at its first zero.
    return str(name).encode("utf-8", "replace").split(b"\0", 1)[0]


def _load():
    """Returns the library that calls NVTX, or None if no tool records or the library is missing: a training goes on."""
    if not os.environ.get(_RECORDER):
        return None
    import ctypes
    import sys

    from lanescope import _library as libraries

    try:
        library = libraries.load("marks", "lanescopeMarksAbi", 2)
    except (OSError, AttributeError, ImportError, libraries.Error) as error:
        print(f"lanescope: ranges are not recorded: {error}", file=sys.stderr)
        return None
    for name in ("lanescopePush", "lanescopeStart", "lanescopeMark"):
        getattr(library, name).argtypes = [ctypes.c_char_p]
    for name in ("lanescopeCategory", "lanescopePushIn", "lanescopeStartIn"):
        getattr(library, name).argtypes = [ctypes.c_uint32, ctypes.c_char_p]
        getattr(library, name).restype = None
    library.lanescopeStartIn.restype = ctypes.c_uint64
    library.lanescopeEnd.argtypes = [ctypes.c_uint64]
    library.lanescopeStart.restype = ctypes.c_uint64
    for name in ("lanescopePush", "lanescopePop", "lanescopeMark", "lanescopeEnd"):
        getattr(library, name).restype = None
    return library


class Module(_Range):
    """A range of a module of a model, of a category that names its class."""

    __slots__ = ("_category",)
    _categories = {}

    def __init__(self, name, kind):
        super().__init__(_encoded(name))
        if kind not in Module._categories:
            Module._categories[kind] = len(Module._categories) + _FIRST_CATEGORY
            _library.lanescopeCategory(Module._categories[kind], _encoded(f"nn.Module: {kind}"))
        self._category = Module._categories[kind]

    def __enter__(self):
        _library.lanescopePushIn(self._category, self._name)
        return self

    def start(self):
        """Begins the backward, which may end on another thread; pass the result to `end`."""
        return _library.lanescopeStartIn(self._category, self._name + b" backward")


_library = _load()
_no_range = _NoRange()


def is_recorded():
    """Returns True if a tool records the ranges of this process."""
    return _library is not None


if _library is None:
    def range(name):
        """Marks a block with `with range("forward"):`, or each call of a function with `@range("forward")`."""
        return _no_range

    def step(number):
        """Marks one step of the training: `with step(number):`. Lanescope detects ranges of this name as the steps of a
        run."""
        return _no_range

    def mark(text):
        """Marks a point in time, such as a written checkpoint."""
else:
    def range(name):
        """Marks a block with `with range("forward"):`, or each call of a function with `@range("forward")`."""
        return _Range(_encoded(name))

    def step(number):
        """Marks one step of the training: `with step(number):`. Lanescope detects ranges of this name as the steps of a
        run."""
        return _Range(b"step %d" % number)

    def mark(text):
        """Marks a point in time, such as a written checkpoint."""
        _library.lanescopeMark(_encoded(text))


def end(started):
    """Ends a range of `Module.start`."""
    if started is not None:
        _library.lanescopeEnd(started)
