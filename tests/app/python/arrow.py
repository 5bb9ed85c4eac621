# SPDX-License-Identifier: Apache-2.0
"""Reads what exports `__arrow_c_stream__` with nothing but ctypes, so that each pointer is looked at."""

import ctypes
import struct

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


def _function(*arguments):
    return ctypes.CFUNCTYPE(*arguments)


Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)), ("release", _function(None, ctypes.POINTER(Schema))),
    ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
    ("release", _function(None, ctypes.POINTER(Array))), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [
    ("get_schema", _function(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", _function(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", _function(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", _function(None, ctypes.POINTER(Stream))), ("private_data", ctypes.c_void_p)]


def stream_in(capsule):
    """The stream in a capsule, which stays the capsule's."""
    return Stream.from_address(_get_pointer(capsule, b"arrow_array_stream"))


def schema_in(capsule):
    return Schema.from_address(_get_pointer(capsule, b"arrow_schema"))


def moved(struct_):
    """The struct moved out of its place, as a consumer does."""
    taken = type(struct_)()
    ctypes.memmove(ctypes.byref(taken), ctypes.byref(struct_), ctypes.sizeof(struct_))
    type(struct_).from_address(ctypes.addressof(struct_)).release = type(struct_.release)()
    return taken


def metadata_of(schema):
    """The pairs of a schema's metadata, as a list."""
    if not schema.metadata:
        return []
    place = schema.metadata

    def number():
        nonlocal place
        value = struct.unpack("=i", ctypes.string_at(place, 4))[0]
        place += 4
        return value

    def text():
        nonlocal place
        length = number()
        value = ctypes.string_at(place, length).decode()
        place += length
        return value

    return [(text(), text()) for _ in range(number())]


_NUMBERS = {b"i": "i", b"I": "I", b"l": "q", b"L": "Q", b"g": "d"}


def values_of(schema, array):
    """The values of a column as Python's, None for null."""
    rows = range(array.offset, array.offset + array.length)
    validity = array.buffers[0]
    bits = ctypes.string_at(validity, (array.offset + array.length + 7) // 8) if validity else None
    valid = [bits is None or bits[row // 8] >> row % 8 & 1 for row in rows]
    assert array.null_count in (-1, valid.count(0)), (array.null_count, valid.count(0))
    if schema.format == b"u":
        assert array.n_buffers == 3
        ends = struct.unpack_from(f"={array.offset + array.length + 1}i",
                                  ctypes.string_at(array.buffers[1], 4 * (array.offset + array.length + 1)))
        text = ctypes.string_at(array.buffers[2], ends[-1])
        values = [text[ends[row]:ends[row + 1]].decode() for row in rows]
    else:
        assert array.n_buffers == 2
        letter = _NUMBERS[schema.format]
        size = struct.calcsize(letter)
        content = ctypes.string_at(array.buffers[1], size * (array.offset + array.length)) if array.length else b""
        values = struct.unpack_from(f"={array.length}{letter}", content, size * array.offset)
        if schema.dictionary:
            names = values_of(schema.dictionary.contents, array.dictionary.contents)
            values = [names[value] if is_valid else None for value, is_valid in zip(values, valid)]
    return [value if is_valid else None for value, is_valid in zip(values, valid)]


def next_array(stream):
    """The next batch, or None at the end."""
    array = Array()
    assert stream.get_next(ctypes.byref(stream), ctypes.byref(array)) == 0, stream.get_last_error(ctypes.byref(stream))
    return array if array.release else None


def schema_of(stream):
    schema = Schema()
    assert stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) == 0
    assert schema.format == b"+s"
    return schema


def columns_of(table):
    """All of a table as {name: values}; everything is released on the way."""
    capsule = table.__arrow_c_stream__()
    stream = stream_in(capsule)
    schema = schema_of(stream)
    fields = [schema.children[column].contents for column in range(schema.n_children)]
    columns = {field.name.decode(): [] for field in fields}
    assert len(columns) == len(fields), "two columns have one name"
    array = next_array(stream)
    while array is not None:
        for column, field in enumerate(fields):
            columns[field.name.decode()] += values_of(field, array.children[column].contents)
        array.release(ctypes.byref(array))
        assert not array.release
        array = next_array(stream)
    schema.release(ctypes.byref(schema))
    assert not schema.release
    return columns


def rows_of(table):
    """All of a table as a list of {name: value}."""
    columns = columns_of(table)
    return [dict(zip(columns, row)) for row in zip(*columns.values())]
