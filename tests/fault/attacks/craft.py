# SPDX-License-Identifier: Apache-2.0
"""Makes the files, queries and changes that `attack` attacks with."""

import gzip
import os
import pathlib
import shutil
import sqlite3
import struct


def mutated(content, random):
    """A copy with one to three things done to it that damage or malice do."""
    data = bytearray(content)
    for _ in range(random.randrange(1, 4)):
        at, kind = random.randrange(len(data)), random.randrange(7)
        if kind == 0:
            data[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            data[at:at + 8] = struct.pack("<q", random.choice((0, -1, 1, 2**31, 2**62, -2**63)))[:len(data) - at]
        elif kind == 2:
            data[at:at + 4] = struct.pack(">I", random.choice((0, 1, 2**31, 2**32 - 1)))[:len(data) - at]
        elif kind == 3:
            other = random.randrange(len(data))
            size = min(random.randrange(1, 4096), len(data) - max(at, other))
            data[at:at + size] = data[other:other + size]
        elif kind == 4:
            size = min(random.randrange(1, 4096), len(data) - at)
            data[at:at + size] = bytes(size)
        elif kind == 5 and len(data) > 4096:
            del data[at:]
            data += bytes(max(0, 4096 - len(data)))
        else:
            data[at:at + random.randrange(1, 64)] = random.randbytes(random.randrange(1, 64))
    return bytes(data)


def sqlite(script):
    """A maker of a trace of ours with these tables."""
    def make(path):
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        database.executescript(
            "PRAGMA application_id = 0x4c4e5343;"
            "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId,"
            " globalPid, demangledName, shortName);" + script)
        database.commit()
        database.close()
    return make


def counted(count, select):
    return f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {count}) {select} FROM n;"


def json_of(pieces, packed=False):
    """A maker of a JSON trace of these pieces of text."""
    def make(path):
        with (gzip.open(path, "wb", compresslevel=6) if packed else open(path, "wb")) as file:
            for piece in pieces():
                file.write(piece if isinstance(piece, bytes) else piece.encode())
    return make


HEAD = '{"schemaVersion":1,"deviceProperties":[],"traceEvents":['


def events(count, event):
    """`event` is the text of one, in which # stands for its number."""
    def pieces():
        yield HEAD
        for number in range(count):
            yield event.replace("#", str(number)) + ",\n"
        yield "]}"
    return json_of(pieces)


def files(runs):
    """Makers by the names of the files. The more runs, the larger."""
    many = 4000 if runs < 200 else 60000
    text = "x" * 1000
    doubled = ", ".join(f"g{n} AS (g{n - 1} || g{n - 1})" for n in range(1, 18))
    return {
        "computed.sqlite": sqlite(
            f"DROP TABLE StringIds; CREATE TABLE StringIds (id, g0 TEXT, {doubled}, value AS (g17));"
            f"INSERT INTO StringIds (id, g0) VALUES (1, '{text}');"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 1, 7, 1, 1, 1, 1);"),
        "view.sqlite": sqlite(
            "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE"
            " n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i + 1 AS end FROM n;"),
        "same-times.sqlite": sqlite(counted(
            many, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 1, 1000, 0, 1, 7, i, 1, 1, 1")),
        "huge-times.sqlite": sqlite(counted(
            many, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT -9223372036854775807 - 1, 9223372036854775807,"
            " i, i, i, i, i, i, i")),
        "streams.sqlite": sqlite(counted(
            many, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i + 1, i, i, i, i, i << 24, 1, 1")),
        "tables.sqlite": sqlite("".join(f"CREATE TABLE t{n} (a);" for n in range(min(many, 5000)))),
        "stacks.sqlite": sqlite(
            "CREATE TABLE LANESCOPE_STACKS (id, parentId, functionId, fileId, line);" + counted(
                many, "INSERT INTO LANESCOPE_STACKS SELECT i, CASE i WHEN 1 THEN NULL ELSE i - 1 END, 1, 1, i") +
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId,"
            " returnValue, callchainId);" + counted(
                many, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 10 * i, 10 * i + 5, 0, 1, i, 1, 0, i") +
            counted(many, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 10 * i + 6, 10 * i + 8, 0, 1, 7, i, 0, 1, 1")),
        "stack-cycles.sqlite": sqlite(
            "CREATE TABLE LANESCOPE_STACKS (id, parentId, functionId, fileId, line);"
            "INSERT INTO LANESCOPE_STACKS VALUES (1, 2, 1, 1, 1), (2, 1, 1, 1, 1), (3, 3, 1, 1, 1), (3, NULL, 1, 1, 1),"
            " (4, 3, 1, 1, 1), (3, 4, 1, 1, 1);"),
        "threads.json": events(many, '{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":"t#","ts":#,"dur":1}'),
        "named-threads.json": events(many, '{"ph":"M","name":"thread_name","pid":1,"tid":#,"args":{"name":"worker #"}},'
                                           '{"ph":"X","name":"a","pid":1,"tid":#,"ts":#,"dur":1}'),
        "processes.json": events(many, '{"ph":"X","cat":"cpu_op","name":"a","pid":"p#","tid":1,"ts":#,"dur":1}'),
        "streams.json": events(many, '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":#,"dur":1,"args":'
                                     '{"device":#,"context":#,"stream":#,"correlation":#}}'),
        "open.json": events(many, '{"ph":"B","name":"a","pid":1,"tid":1,"ts":#}'),
        "over.json": events(many, '{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":#,"dur":9e12}'),
        "counters.json": events(many, '{"ph":"C","name":"c#","pid":1,"ts":#,"args":{"v#":1e308}}'),
        "arrays.json": json_of(lambda: ['{"schemaVersion":1,', *['"traceEvents":[],'] * many]),
        "brackets.json": json_of(lambda: [HEAD, *['],"a":'] * many]),
        "deep.json": json_of(lambda: [HEAD, '{"ph":"X","args":', "[" * (100 * many), "]}"]),
        "long.json": json_of(lambda: [HEAD, '{"ph":"X","cat":"cpu_op","name":"', *["x" * 10000] * many]),
        "digits.json": json_of(lambda: [HEAD, '{"ph":"X","name":"a","pid":1,"tid":1,"ts":', "9" * (1000 * many)]),
        "bomb.json.gz": json_of(lambda: [HEAD, *[b" " * (1 << 20)] * (many // 20)], True),
        "empty-bomb.sqlite.gz": json_of(lambda: [b"SQLite format 3\0", *[bytes(1 << 20)] * (many // 20)], True),
    }


def odd_files():
    def link(target):
        return lambda path: path.symlink_to(target)

    return {
        "empty": lambda path: path.write_bytes(b""),
        "short": lambda path: path.write_bytes(b"SQLite format 3\0"),
        "folder": lambda path: path.mkdir(),
        "pipe": os.mkfifo,
        "loop": lambda path: path.symlink_to(path.name),
        "nowhere": link("/nonexistent/file"),
        "zeros": link("/dev/zero"),
        "tty": link("/dev/tty"),
        "kernel": link("/proc/kmsg"),
        "memory": link("/proc/self/mem"),
        "hole": lambda path: (path.write_bytes(b"SQLite format 3\0"), os.truncate(path, 1 << 40)),
        "hole.json": lambda path: (path.write_bytes(HEAD.encode()), os.truncate(path, 1 << 28)),
    }


def queries():
    """Some write, attach or load; others take long, one in a single function."""
    long_text = "replace(hex(zeroblob(4000000)), '0', 'ab')"
    return [
        "DELETE FROM NVTX_EVENTS", "DROP TABLE NVTX_EVENTS", "CREATE TABLE t (a)", "VACUUM", "REINDEX",
        "UPDATE NVTX_EVENTS SET start = 0", "PRAGMA user_version = 7", "PRAGMA writable_schema = 1",
        "PRAGMA journal_mode = WAL", "ATTACH '/tmp/lanescope-attached.sqlite' AS a", "BEGIN EXCLUSIVE",
        "SELECT load_extension('/tmp/x.so')", "SELECT writefile('/tmp/lanescope-written', 'x')",
        "SELECT readfile('/etc/passwd')", "SELECT edit('x')", "WITH x AS (SELECT 1) DELETE FROM NVTX_EVENTS",
        "SELECT 1; DELETE FROM NVTX_EVENTS", "EXPLAIN DELETE FROM NVTX_EVENTS", "CREATE TEMP TABLE t AS SELECT 1",
        "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 0, 'x')", "SELECT fts3_tokenizer('x')",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "SELECT count(*) FROM NVTX_EVENTS a, NVTX_EVENTS b, NVTX_EVENTS c, NVTX_EVENTS d",
        f"SELECT length({long_text} || {long_text})", "SELECT randomblob(1 << 40)", "SELECT zeroblob(1000000000)",
        f"SELECT instr({long_text}, 'abc')", f"SELECT {long_text} LIKE '%a%b%a%b%a%b%a%c'",
        f"SELECT {long_text} GLOB '*a*b*a*b*a*b*c'", "SELECT printf('%.*c', 2000000000, 'x')",
        "SELECT json_patch(json_group_object(i, i), json_group_object(i, i)) FROM (" +
        counted(80000, "SELECT i").rstrip(";") + ")",
        "SELECT group_concat(a.text || b.text || c.text) FROM NVTX_EVENTS a, NVTX_EVENTS b, NVTX_EVENTS c",
        "SELECT " + "(" * 900 + "1" + ")" * 900, "SELECT " + "1+" * 60000 + "1", "\x01", "", ";", "'", "-- x",
    ]


def name_bomb(source, victim, depth):
    """Kernels whose mangled name doubles itself `depth` times."""
    shutil.copy(source, victim)
    parts = "1aIiiE"
    for level in range(depth):
        parts = f"1bI{parts if level == 0 else 'S' + (str(level - 1) if level > 1 else '') + '_'}S_E"
    name = f"_Z1fIN1x{parts}EEvv"
    database = sqlite3.connect(victim)
    try:
        database.execute("UPDATE StringIds SET value = ?", (name[:60000],))
        database.commit()
    finally:
        database.close()


def pid_in(report):
    """The process that a report of steadyLoad names; 0 while there is none."""
    try:
        content = pathlib.Path(report).read_bytes()
    except OSError:
        return 0
    return struct.unpack_from("=10q", content)[8] if len(content) >= 80 else 0


def readable(trace):
    """Why a trace is not whole; "" if it is."""
    if not trace.exists():
        return "no trace"
    try:
        database = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
        found = database.execute("PRAGMA integrity_check").fetchone()[0]
        # A table without rows is not there, but this one has a row.
        database.execute("SELECT count(*) FROM LANESCOPE_PROCESSES").fetchone()
        database.close()
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else found
