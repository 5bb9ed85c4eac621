# SPDX-License-Identifier: Apache-2.0
"""Traces, their tables and their comparisons. All numbers come from the library of the program `lanescope`."""

import ctypes
import html
import json
import os
import weakref

from lanescope._library import Error, load

__all__ = ["Comparison", "Error", "Table", "Trace"]

_handle = ctypes.c_void_p
_text = ctypes.c_char_p
_options = ctypes.POINTER(ctypes.c_char_p)
_error = ctypes.POINTER(ctypes.c_void_p)


def _load():
    library = load("python", "lanescopeAbi", 6)
    for name, result, arguments in (
        ("lanescopeOpen", _handle, [_text, _error]),
        ("lanescopeCompare", _handle, [_handle, _options, _error]),
        ("lanescopeExplain", _handle, [_handle, _options, _error]),
        ("lanescopeTable", _handle, [_handle, _text, _options, _error]),
        ("lanescopeText", _handle, [_handle, _text, _options, _error]),
        ("lanescopeRows", ctypes.c_int64, [_handle]),
        ("lanescopeStream", _handle, [_handle, _error]),
        ("lanescopeSchema", _handle, [_handle, _error]),
        ("lanescopeClose", None, [_handle]),
        ("lanescopeFree", None, [_handle]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
# A capsule keeps the address of its name.
_STREAM, _SCHEMA = ctypes.c_char_p(b"arrow_array_stream"), ctypes.c_char_p(b"arrow_schema")


def _call(function, *arguments):
    """Returns the result of a library function; raises its error sentence as `Error`."""
    error = ctypes.c_void_p()
    result = function(*arguments, ctypes.byref(error))
    if error:
        try:
            raise Error(ctypes.string_at(error).decode())
        finally:
            _library.lanescopeFree(error)
    return result


def _pairs(options):
    """Packs names and values for the library, without options that are None. A list is a repeated option."""
    texts = []
    for name, value in options.items():
        # One text or path is a list of one, not of its letters.
        several = value is not None and not isinstance(value, (str, bytes, os.PathLike)) and hasattr(value, "__iter__")
        for each in value if several else [value]:
            if each is not None:
                texts += [name.encode(), os.fsencode(str(each))]
    return (ctypes.c_char_p * (len(texts) + 1))(*texts, None)


class _Object:
    """A library object, alive as long as this Python object."""

    def __init__(self, handle):
        self._as_parameter_ = ctypes.c_void_p(handle)
        self._close = weakref.finalize(self, _library.lanescopeClose, self._as_parameter_)

    def _ask(self, function, *arguments):
        if not self._close.alive:
            raise Error("The trace was closed.")
        return _call(function, self, *arguments)

    def _words(self, form, **options):
        text = self._ask(_library.lanescopeText, form.encode(), _pairs(options))
        try:
            return ctypes.string_at(text).decode()
        finally:
            _library.lanescopeFree(text)

    def _table(self, name, **options):
        return Table(self._ask(_library.lanescopeTable, name.encode(), _pairs(options)))


class Table(_Object):
    """Rows and typed columns for consumers of Arrow's PyCapsule interface: pandas.DataFrame.from_arrow(table) or
    pyarrow.table(table).to_pandas(), polars.from_arrow(table), duckdb.from_arrow(pyarrow.table(table)), and others.

    The unit of a column, such as "ns" or "bytes", is in the metadata of its field. Events are read from the trace in
    batches while they are consumed, again for each consumer.
    """

    def __len__(self):
        return _library.lanescopeRows(self)

    def __arrow_c_stream__(self, requested_schema=None):
        return _new_capsule(_call(_library.lanescopeStream, self), _STREAM,
                            ctypes.cast(_library.lanescopeReleaseStream, ctypes.c_void_p))

    def __arrow_c_schema__(self):
        return _new_capsule(_call(_library.lanescopeSchema, self), _SCHEMA,
                            ctypes.cast(_library.lanescopeReleaseSchema, ctypes.c_void_p))

    def __repr__(self):
        return self._words("text")

    def _repr_html_(self):
        return self._words("html")


def _frame(page):
    """Returns a page in a frame of its own, where it keeps its style separate and cannot access the notebook."""
    return f'<iframe sandbox="allow-scripts" style="width: 100%; height: 44em; border: none" srcdoc="{html.escape(page)}"></iframe>'


class _Page(_Object):
    """An object with a page: printed as text, shown as a page in a notebook."""

    def __repr__(self):
        return self._words("text")

    def html(self):
        """Returns the page, which needs no other file and no network."""
        return self._words("html")

    def to_dict(self):
        """Returns all data; the manual has the schema, which is that of the command's --format json."""
        return json.loads(self._words("json"))

    def _repr_html_(self):
        return _frame(self.html())


class Comparison(_Page):
    """The result of `lanescope compare` for two or more runs."""

    def table(self, name):
        """Returns one of its tables: "summary", "parts", "contributors". Fails with the list of tables for an unknown
        name."""
        return self._table(name)


class Explanation(_Page):
    """The result of `lanescope explain` for one run."""


class Trace(_Object):
    """One recorded run. Immutable; any thread may read it. Times count from the start of the session."""

    def __init__(self, path):
        self.path = os.fspath(path)
        super().__init__(_call(_library.lanescopeOpen, os.fsencode(self.path)))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Closes the trace. Tables made from it stay valid."""
        self._close()

    def __repr__(self):
        return f"<lanescope.Trace {self._words('title')}>" if self._close.alive else "<lanescope.Trace, closed>"

    def html(self, *, steps=None, time=None, anonymous=False):
        """Returns the page of `lanescope page`, a live timeline without other files. The options are those of the
        command: "10-12", or "10ms:25ms", shown in full; `anonymous` omits folders and names of hosts and users."""
        return self._words("html", steps=steps, time=time, anonymous="1" if anonymous else None)

    def _repr_html_(self):
        return _frame(self.html()) if self._close.alive else None

    @property
    def warnings(self):
        """Returns the warnings of the command line, one sentence each: losses and caveats."""
        return self._words("warnings").splitlines()

    def events(self, kind):
        """Returns every event of a kind, by start: "kernel", "memcpy", "memset", "cuda_api", "synchronization", "nvtx",
        "cuda_graph", "page_fault"."""
        return self._table("events", kind=kind)

    def kernels(self):
        """Returns every kernel, by start."""
        return self.events("kernel")

    def memcpys(self):
        """Returns every copy, by start."""
        return self.events("memcpy")

    def nvtx(self):
        """Returns every NVTX range and mark, by start."""
        return self.events("nvtx")

    def nccl(self):
        """Returns every NCCL operation, by start."""
        return self._table("nccl")

    def steps(self, *, range=None, steps=None, align=None):
        """Returns the steps of each process on each GPU, as in a comparison: without warm-up, each with the parts that
        sum to its time. The options are those of `lanescope compare`: the NVTX ranges that are the steps, "5-20" for
        some of them, and "start" to keep warm-up."""
        return self._table("steps", range=range, steps=steps, align=align)

    def stats(self, report, *, by=None, range=None, range_name=None):
        """Returns a report of `lanescope stats` with the columns of its CSV. `by`, `range` ("10ms:25ms") and
        `range_name` are its options."""
        return self._table("stats", report=report, by=by, range=range, range_name=range_name)

    def sql(self, query, *, rows=None, seconds=None):
        """Returns the result of a SELECT statement on the file, by default at most 100,000 rows in at most 30 s. The
        trace is only read, and none of its views and triggers is run."""
        return self._table("sql", query=query, rows=rows, seconds=seconds)

    def compare(self, *others, range=None, steps=None, align=None, spread=None, top=None):
        """Compares this run, as the baseline, with other runs: traces or files, each a separate program. The options
        are those of `lanescope compare`."""
        files = [other.path if isinstance(other, Trace) else os.fspath(other) for other in others]
        options = _pairs({"candidate": files, "range": range, "steps": steps, "align": align,
                          "spread": spread, "top": top})
        return Comparison(self._ask(_library.lanescopeCompare, options))

    def explain(self, *, range=None, steps=None, mute=None):
        """Explains where the time of this run goes and what to change first. The options are those of `lanescope
        explain`; `mute` is a list of rules to omit."""
        options = _pairs({"range": range, "steps": steps, "mute": mute})
        return Explanation(self._ask(_library.lanescopeExplain, options))
