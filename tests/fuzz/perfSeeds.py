# SPDX-License-Identifier: Apache-2.0
"""What the kernel's perf events tell of threads, as records of `capture/perf`; the registers are those of x86-64."""

import struct

REGISTERS = 17
PLACES = {"frame": 6, "stack": 7, "counter": 8}  # among those in the order of their bits


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def place(process, thread, time):
    return struct.pack("<IIqII", process, thread, time, 0, 0)


def text(name):
    return name.encode().ljust((len(name) + 8) // 8 * 8, b"\0")


def mapping(process, time, address, length, name):
    return record(10, 2, struct.pack("<IIQQQ32x", process, process, address, length, 0) + text(name) +
                  place(process, process, time))


def named(process, time, name, is_exec):
    return record(3, 0x2000 if is_exec else 0, struct.pack("<II", process, process) + text(name) +
                  place(process, process, time))


def fork(process, parent, time):
    return record(7, 0, struct.pack("<IIIIq", process, parent, process, parent, time) + place(parent, parent, time))


def switch(thread, time, misc, process=7):
    return record(14, misc, place(process, thread, time))


def sample(process, time, counter, stack, used=None):
    registers = [0] * REGISTERS
    for name, value in (("frame", 0x7000), ("stack", 0x7000), ("counter", counter)):
        registers[PLACES[name]] = value
    words = struct.pack(f"<{len(stack)}Q", *stack)
    behind = words + struct.pack("<Q", len(words) if used is None else used) if stack else b""
    return record(9, 2, struct.pack("<Q", counter) + place(process, process, time) +
                  struct.pack(f"<Q{REGISTERS}QQ", 2, *registers, len(words)) + behind)


def records(program="/proc/self/exe"):
    return b"".join((
        named(7, 1, "train", True), mapping(7, 2, 0x400000, 0x100000, program),
        mapping(7, 3, 0x600000, 0x2000, "[vdso]"), mapping(7, 4, 0x400800, 0x1000, "//anon"), fork(9, 7, 5),
        switch(8, 10, 0), switch(8, 20, 0x2000), switch(8, 30, 0x6000),
        sample(7, 40, 0x401000, [0x7010, 0x402001, 0x7020, 0x600100, 0, 0x9000]),
        sample(9, 50, 0x401000, [0x7010, 0x402001, 0, 0], used=16), sample(3, 60, 1, []),
        record(2, 0, struct.pack("<QQ", 1, 3) + place(7, 7, 70)), record(5, 0, struct.pack("<QQQ", 1, 1, 1))))


def program():
    """Two parts, one to be executed, and two names."""
    names = b"\0first\0second\0"
    symbols = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0) + struct.pack("<IBBHQQ", 1, 2, 0, 1, 0x401000, 16) + \
        struct.pack("<IBBHQQ", 7, 2, 0, 1, 0x401010, 0)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x401000, 64, 512, 0, 64, 56, 2, 64, 3, 0)
    parts = struct.pack("<IIQQQQQQ", 1, 4, 0, 0x400000, 0, 0x1000, 0x1000, 0x1000) + \
        struct.pack("<IIQQQQQQ", 1, 5, 0x1000, 0x401000, 0, 0x1000, 0x1000, 0x1000)
    sections = bytes(64) + struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, 256, len(symbols), 2, 0, 8, 24) + \
        struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 400, len(names), 0, 0, 1, 0)
    file = bytearray(512)
    file[:len(head)] = head
    file[64:64 + len(parts)] = parts
    file[256:256 + len(symbols)] = symbols
    file[400:400 + len(names)] = names
    return bytes(file) + sections


def beside_logs(with_end=True):
    """What lies beside the logs of a run: of a program that is not there any more, of one with other rights, of
    threads without samples and of a kernel that paused and lost some."""
    ended = record(4, 0, struct.pack("<IIIIq", 11, 1, 11, 1, 90) + place(11, 11, 90))
    told = records("/gone/program") + b"".join((
        named(11, 80, "sudo", True), ended, switch(12, 100, 0), switch(12, 90_000_000, 0x2000),
        switch(12, 95_000_000, 0), named(12, 96_000_000, "other", False),
        sample(4242, 97_000_000, 0x401000, [0x7010, 0x402001]), fork(13, 4242, 98_000_000)))
    return file_of([(1, 0, told), (1, 1, told), *([(2, 0, struct.pack("<qqQ", 1000, 5, 7_000_000))] if with_end else [])])


def of_windows(process, offset):
    """Switches and samples of a process whose windows the logs tell of, within them and outside."""
    told = b"".join((
        named(process, 1, "train", True), mapping(process, 2, 0x400000, 0x100000, "/gone/program"),
        *(switch(process + number % 2, 40 * number, (0x2000, 0, 0x6000, 0)[number % 4], process) for number in range(1, 20)),
        *(sample(process, 100 * number, 0x401000, [0x7010, 0x402001]) for number in (1, 3, 6))))
    return file_of([(1, 0, told)], offset)


def file_of(pieces, offset=0):
    head = b"LNSPERF1" + struct.pack("<IIIIqq", 40, 62, REGISTERS, 1, offset, 10_000_000)
    return head + b"".join(struct.pack("<4sIII", b"PPEC", kind, core, len(body)) + body for kind, core, body in pieces)


def whole():
    """A file of samples, with its end."""
    told = records()
    return file_of([(1, 0, told), (1, 1, told), (2, 0, struct.pack("<qqQ", 1000, 5, 0))])


def all_inputs():
    return {"whole": b"\0" + whole(), "records": b"\1" + records(), "program": b"\2" + program(),
            "cut": b"\0" + whole()[:-77]}
