# SPDX-License-Identifier: Apache-2.0
"""Traces, their tables and their comparisons. All numbers come from the library that the program `lanescope` is made of."""

import ctypes
import html
import json
import os
import weakref

from lanescope._library import Error, load
from lanescope._places import program

__all__ = ["Comparison", "Error", "Table", "Trace"]

_handle = ctypes.c_void_p
_text = ctypes.c_char_p
_options = ctypes.POINTER(ctypes.c_char_p)
_error = ctypes.POINTER(ctypes.c_void_p)


def _load():
    library = load("python", "lanescopeAbi", 4)
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
    """What a function of the library returns; raises the sentence that it returns instead."""
    error = ctypes.c_void_p()
    result = function(*arguments, ctypes.byref(error))
    if error:
        try:
            raise Error(ctypes.string_at(error).decode())
        finally:
            _library.lanescopeFree(error)
    return result


def _pairs(options):
    """Names and values for the library, without options that are None. A list is an option given many times."""
    texts = []
    for name, value in options.items():
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is not None:
                texts += [name.encode(), os.fsencode(str(each))]
    return (ctypes.c_char_p * (len(texts) + 1))(*texts, None)


class _Object:
    """Something that the library holds for as long as somebody here does."""

    def __init__(self, handle):
        self._as_parameter_ = ctypes.c_void_p(handle)
        self._close = weakref.finalize(self, _library.lanescopeClose, self._as_parameter_)

    def _words(self, form, **options):
        if not self._close.alive:
            raise Error("The trace was closed.")
        text = _call(_library.lanescopeText, self, form.encode(), _pairs(options))
        try:
            return ctypes.string_at(text).decode()
        finally:
            _library.lanescopeFree(text)

    def _table(self, name, **options):
        if not self._close.alive:
            raise Error("The trace was closed.")
        return Table(_call(_library.lanescopeTable, self, name.encode(), _pairs(options)))


class Table(_Object):
    """Rows and typed columns for whatever takes Arrow's PyCapsule interface: pandas.DataFrame.from_arrow(table) or
    pyarrow.table(table).to_pandas(), polars.from_arrow(table), duckdb.from_arrow(pyarrow.table(table)), and others.

    The unit of a column, as "ns" or "bytes", stands in the metadata of its field. Events are read from the trace in
    batches while they are taken, each time anew.
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


class _Page(_Object):
    """Something with a page: printed it is the text, in a notebook the page."""

    def __repr__(self):
        return self._words("text")

    def html(self):
        """The page, which needs no other file and no network."""
        return self._words("html")

    def to_dict(self):
        """Everything there is; the manual has the schema, as of the command's --format json."""
        return json.loads(self._words("json"))

    def _repr_html_(self):
        # In a frame of its own the page keeps its style to itself and can reach nothing of the notebook.
        return ('<iframe sandbox="allow-scripts" style="width: 100%; height: 40em; border: none" '
                f'srcdoc="{html.escape(self.html())}"></iframe>')


class Comparison(_Page):
    """What `lanescope compare` says of two runs or more."""

    def table(self, name):
        """One of its tables: "summary", "parts", "contributors"; another name fails with all there are."""
        return self._table(name)


class Explanation(_Page):
    """What `lanescope explain` says of one run."""


class Trace(_Object):
    """One recorded run. It does not change, and any thread may read it. Times count from the start of the session."""

    def __init__(self, path):
        self.path = os.fspath(path)
        super().__init__(_call(_library.lanescopeOpen, os.fsencode(self.path)))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Lets go of the trace. Tables that were made of it stay."""
        self._close()

    def __repr__(self):
        return f"<lanescope.Trace {self._words('title')}>" if self._close.alive else "<lanescope.Trace, closed>"

    @property
    def warnings(self):
        """What was lost or is doubtful, a sentence each: what the command line warns of."""
        return self._words("warnings").splitlines()

    def events(self, kind):
        """Every event of a kind, by start: "kernel", "memcpy", "memset", "cuda_api", "synchronization", "nvtx",
        "cuda_graph", "page_fault"."""
        return self._table("events", kind=kind)

    def kernels(self):
        """Every kernel, by start."""
        return self.events("kernel")

    def memcpys(self):
        """Every copy, by start."""
        return self.events("memcpy")

    def nvtx(self):
        """Every NVTX range and mark, by start."""
        return self.events("nvtx")

    def nccl(self):
        """Every NCCL operation, by start."""
        return self._table("nccl")

    def steps(self, *, range=None, steps=None, align=None):
        """The steps of each process on each GPU, as a comparison takes them: without warm-up, each with the parts that
        sum to its time. The options are those of `lanescope compare`: the NVTX ranges that are the steps, "5-20" for
        some of them, and "start" to keep warm-up."""
        return self._table("steps", range=range, steps=steps, align=align)

    def stats(self, report, *, by=None, range=None, range_name=None):
        """A report of `lanescope stats`: its columns are those of its CSV. `by`, `range` ("10ms:25ms") and `range_name`
        are its options."""
        return self._table("stats", report=report, by=by, range=range, range_name=range_name)

    def sql(self, query, *, rows=None, seconds=None):
        """What a SELECT statement says of the file, at most 100,000 rows of it in at most 30 s if nothing is said. The
        trace is only read, and none of its views and triggers is run."""
        return self._table("sql", query=query, rows=rows, seconds=seconds, program=str(program()))

    def compare(self, *others, range=None, steps=None, align=None, spread=None, top=None):
        """This run, as the baseline, with other runs: traces or files, each of a program of its own. The options are
        those of `lanescope compare`."""
        if not self._close.alive:
            raise Error("The trace was closed.")
        files = [other.path if isinstance(other, Trace) else os.fspath(other) for other in others]
        options = _pairs({"candidate": files, "range": range, "steps": steps, "align": align,
                          "spread": [os.fspath(file) for file in spread or []], "top": top})
        return Comparison(_call(_library.lanescopeCompare, self, options))

    def explain(self, *, range=None, steps=None, mute=None):
        """Where the time of this run goes and what to change first. The options are those of `lanescope explain`; `mute`
        is a list of rules to leave out."""
        if not self._close.alive:
            raise Error("The trace was closed.")
        options = _pairs({"range": range, "steps": steps, "mute": list(mute or [])})
        return Explanation(_call(_library.lanescopeExplain, self, options))
