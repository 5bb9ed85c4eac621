# SPDX-License-Identifier: Apache-2.0
"""Logs with a record of each kind that means something, as `capture/log/Records.h` has them. What is wrong
with a block is made right by who reads them (targets/readLogs.cpp)."""

import struct

import perfSeeds

START = 1_000_000_000_000
PID = 4242

# What stands behind the header of each record, as C lays it out.
FORMATS = {
    "String": (1, "II"), "Property": (2, "II"),
    "Kernel": (3, "qqQq" + "6I" + "9I" + "5I" + "Q" + "4BI"), "Memcpy": (4, "qqQQ9I8B"),
    "Memset": (5, "qqQQ6I8B"), "Api": (6, "qqIIIiII"), "Sync": (7, "qq6I"), "CudaEvent": (8, "q6I"),
    "Overhead": (9, "qqIIII"), "Device": (10, "16sQQ24I"), "Context": (11, "4I"), "Stream": (12, "4I"),
    "Graph": (13, "qq6I"), "DeviceMemory": (14, "qQQQQQQQ6I4BI"), "MemoryPool": (15, "qQQQQQ3I4B"),
    "UnifiedMemory": (16, "qqQQ6I"), "Stack": (17, "6I"), "GraphNode": (18, "qQQII"),
    "Nvtx": (20, "qQQQ5IiHHBBH"), "NvtxDomain": (21, "q4I"), "NvtxCategory": (22, "q4I"),
    "NvtxSchema": (23, "QQQQ4I"), "NvtxSchemaEntry": (24, "QQQQQ4I"), "NvtxEnum": (25, "QQ4I"),
    "NvtxEnumEntry": (26, "QQ4I"), "ThreadName": (30, "II"), "Clock": (31, "qqq"), "Dropped": (32, "qQII"),
    "Note": (33, "qIIII"), "End": (34, "qII"), "Window": (35, "qII"),
    "NcclCommunicator": (40, "qQIiiiII"), "NcclOperation": (41, "qQQQQq5I3iI4BI4B"), "NcclStop": (42, "qQII"),
    "Counter": (50, "8I3iIIId"), "Samples": (51, "qII"), "SampledGpu": (52, "4I"), "GpuProcess": (53, "qq4I"),
    "SamplingMoment": (54, "qqq4I"), "GpuMetric": (55, "4I"), "GpuMetricSamples": (56, "4I"),
    "WatchedProcess": (57, "4I"), "WatchedThread": (58, "4I"), "ThreadRun": (59, "qqqq8I"),
}


class Log:
    """A log of one block after another."""

    def __init__(self, pid=PID, realtime_ns=START):
        self.bytes = struct.pack("<8sIIIIqqII", b"LNSCLOG1", 1, 48, pid, 1, realtime_ns, 5_000_000, 0, 0)
        self.payload = b""
        self.texts = {}

    def text(self, words):
        if words not in self.texts:
            number = self.texts[words] = len(self.texts) + 1
            content = words.encode()
            self.add("String", number, len(content), rest=content)
        return self.texts[words]

    def add(self, kind, *values, rest=b""):
        """The values of a record, the missing ones 0."""
        number, layout = FORMATS[kind]
        layout = "@HHI" + layout + "0q"
        missing = len(struct.unpack(layout, bytes(struct.calcsize(layout)))) - 3 - len(values)
        body = struct.pack(layout, number, 0, 0, *values, *[0] * missing) + rest
        body += bytes(-len(body) % 8)
        self.payload += body[:4] + struct.pack("<I", len(body)) + body[8:]

    def property(self, name, value):
        self.add("Property", self.text(name), self.text(value))

    def nvtx(self, event, at, level=0, words="", domain=0, schema=0, extended=b"", **more):
        self.add("Nvtx", START + at, more.get("range", 0), more.get("bits", 0), schema, more.get("thread", PID), domain,
                 self.text(words) if words else 0, more.get("category", 0), more.get("color", 0), level, len(extended),
                 0, event, more.get("payload", 0), more.get("stack", 0), rest=extended)

    def whole(self, flush=True):
        if self.payload and flush:
            self.bytes += struct.pack("<IHHIIQqq", 0, 1, 0, len(self.payload), 0, 0, START, START + 10_000)
            self.bytes += self.payload
            self.payload = b""
        return self.bytes


PUSH, POP, START_RANGE, END_RANGE, MARK = range(1, 6)


def described(log, name="python", rank=0):
    for key, value in (("program", f"/usr/bin/{name}"), ("rank", str(rank)), ("worldSize", "4"), ("localWorldSize", "4"),
                       ("host", "box"), ("agentVersion", "0.9"), ("localRank", "0")):
        log.property(key, value)
    for number in (0, 1):
        log.add("Device", bytes([number + 1] + [0] * 15), 80 << 30, 3_000_000_000, number, log.text("Simulated GPU"), 9, 0,
                132, 1_980_000, 50 << 20, 65536, 1024, 65536, 233472, 64, 32, 32, 3, 65536, 233472)
        log.add("Context", number + 1, number, 7)
        log.add("Stream", number + 1, 13, 0, 1)
    log.add("ThreadName", PID, log.text("main"))
    log.add("Stack", 1, 0, log.text("step"), log.text("/src/train.py"), 7)
    log.add("Stack", 2, 1, log.text("forward"), log.text("/src/model.py"), 70)
    log.add("Stack", 3, 99, log.text("odd"), 0, 0)


def work():
    """Calls, what they launched, memory and graphs."""
    log = Log()
    described(log)
    at = START + 100
    log.add("GraphNode", at, 101, 0, PID, 2)
    log.add("GraphNode", at, 102, 101, PID, 0)
    for number, (name, kind) in enumerate((("cudaLaunchKernel_v7000", "k"), ("cudaMemcpyAsync_v3020", "c"),
                                           ("cudaMemcpyPeerAsync_v4000", "p"), ("cudaMemsetAsync_v3020", "s"),
                                           ("cudaGraphLaunch_v10000", "g"), ("cuLaunchKernel", "k"))):
        correlation = number + 1
        log.add("Api", at, at + 50, log.text(name), PID, correlation, 0, int(name.startswith("cuL")), 2)
        where = (0, 1, 13, correlation, 0)
        if kind == "k":
            log.add("Kernel", at + 60, at + 90, 101 if number else 0, 5, log.text("_Z11scaleAndAddIfEvPT_iS0_S0_"), *where,
                    32, 1, 1, 128, 1, 1, 2, 1, 1, 40, 1024, 64, 8, 2048, 1 << 20, 1, 1, 2, 1, 50)
        elif kind == "c":
            for memory in range(1, 11):
                log.add("Memcpy", at + 60, at + 90, 4096, 0, *where, 0, 0, 0, 0, memory, 1 + memory % 6, 3, 1)
        elif kind == "p":
            log.add("Memcpy", at + 60, at + 90, 4096, 0, *where, 0, 1, 1, 2, 10, 3, 3, 1, 1)
        elif kind == "s":
            log.add("Memset", at + 60, at + 90, 4096, 0, *where, 0, 3, 1)
        else:
            log.add("Graph", at + 60, at + 90, 1, 0, 1, 13, correlation)
        at += 100
    log.add("Kernel", 0, 0, 0, 0, log.text("untimed"), 0, 1, 13, 77)
    for kind in range(1, 6):
        log.add("Sync", at, at + 10, kind, 1, 13, 20 + kind, 0xffffffff if kind % 2 else 3, 0xffffffff)
    log.add("CudaEvent", at, 0, 1, 13, 30, 3, 4)
    for kind in (0, 1 << 16, 2 << 16, 3 << 16, 1, 6 << 16, 7 << 16):
        log.add("Overhead", at, at + 10, kind, 0 if kind == 1 else PID, 0)
    for operation, kind, address in ((1, 3, 0x1000), (1, 2, 0x2000), (1, 4, 0x3000), (2, 3, 0x1000), (2, 3, 0x9999),
                                     (1, 6, 0x4000), (7, 99, 5)):
        log.add("DeviceMemory", at, address, 4096, 0x77, 0, 0, 0, 0, 0, 0, 1, 13, 5, log.text("global"), operation, kind)
        at += 1
    for operation in (1, 2, 3, 9):
        log.add("MemoryPool", at, 0x5000, 1 << 20, 1 << 21, 4096, 0, 0, 6, PID, operation, 1)
    log.add("DeviceMemory", at, 0x6000, 512, 0, 0x5000, 1 << 21, 1 << 20, 4096, PID, 0, 1, 13, 5, 0, 1, 3, 1, 1)
    log.add("DeviceMemory", at, 0x6100, 512, 0, 0x5000, 0, 1 << 20, 4096, PID, 0, 1, 13, 5, 0, 1, 3, 1, 2)
    for counter in range(0, 10):
        log.add("UnifiedMemory", at, at + 10, 4096, 0x3000, counter, 0xffffffff, 0, 1 + counter % 5, 13, PID)
        log.add("UnifiedMemory", at, 0, 3, 0x3000, counter, 0, 0xffffffff, counter % 3, 13, PID)
        at += 20
    # Two windows, of which the second has no end, and what lies outside of them.
    log.add("Window", START + 150, 0, 1)
    log.add("Window", START + 480, 0, 0)
    log.add("Window", START + 500, 1, 1)
    log.add("Clock", START + 1_000, 5_001_000, 17)
    log.add("Clock", START + 90_000_000, 5_002_000, 18)
    for what in range(0, 9):
        log.add("Dropped", at, 3, what)
    for severity in range(0, 4):
        log.add("Note", at, severity, log.text("no-driver"), log.text("A sentence."), severity)
    log.add("Note", at, 1, log.text("made-up-code"), log.text("Another one."), 0)
    log.add("End", at, 1)
    return log.whole()


def annotations():
    """NVTX, with payloads of every type, and what NCCL says by it."""
    log = Log()
    described(log)
    for domain, name in ((1, "mine"), (2, "NCCL")):
        log.add("NvtxDomain", START + 1, domain, log.text(name), PID)
        log.add("NvtxCategory", START + 1, domain, 3, log.text("a category"), PID)
    own = 1 << 24
    types = [*range(1, 21), 22, 23, 24, 25, 26, 27, 32, 43, 44, 68, 70]
    log.add("NvtxSchema", own + 100, 0, 300, 8, 1, log.text("all"), 1, len(types) + 8)
    for index, kind in enumerate(types):
        log.add("NvtxSchemaEntry", own + 100, 0, kind, 0, 0, 1, index, log.text(f"field {kind}"), 0)
    more = ((75, 0, 8, 0), (76, 0, 0, 0), (5, 16, 4, 0), (1, 16, 8, 0), (own + 101, 0, 0, 0), (own + 102, 0, 0, 0),
            (own + 103, 0, 0, 0), (5, 2, 0, 0), (5, 32, 2, 0), (21, 0, 0, 280))
    for index, (kind, flags, detail, offset) in enumerate(more):
        log.add("NvtxSchemaEntry", own + 100, flags, kind, detail, offset, 1, len(types) + index, log.text(f"more {index}"), 0)
    log.add("NvtxSchema", own + 101, 0, 8, 4, 1, log.text("nested"), 1, 2)
    log.add("NvtxSchemaEntry", own + 101, 0, 5, 0, 0, 1, 0, log.text("inner"), 0)
    log.add("NvtxSchemaEntry", own + 101, 0, own + 100, 0, 4, 1, 1, log.text("itself"), 0)
    for number, size in ((102, 4), (103, 0)):
        log.add("NvtxEnum", own + number, size, 1, log.text("colours"), 2)
        log.add("NvtxEnumEntry", own + number, 1, 1, log.text("red"), int(number == 103))
        log.add("NvtxEnumEntry", own + number, 2, 1, log.text("green"), int(number == 103))
    payload = bytes(range(1, 100)) * 3
    log.nvtx(PUSH, 10, 0, "outer", 1, own + 100, payload, stack=2, color=0xff00ff00, category=3)
    log.nvtx(MARK, 12, 0, "a mark", 1, own + 100, b"\1\0\0\0" * 70)
    for kind in range(0, 8):
        log.nvtx(MARK, 20 + kind, 0, "payload", payload=kind, bits=0x3ff8000000000000)
    log.nvtx(POP, 40, 0, "", 1)
    log.nvtx(POP, 41, 5)
    log.nvtx(START_RANGE, 42, 0, "started", range=9)
    log.nvtx(START_RANGE, 43, 0, "never ended", range=10)
    log.nvtx(END_RANGE, 44, range=9, thread=PID + 1)
    log.nvtx(END_RANGE, 45, range=77)
    # NCCL as it writes without a layout: a communicator, a size, and what the function has.
    for number, name in ((0, "ncclCommInitRank"), (5, "ncclAllReduce"), (6, "ncclBroadcast"), (7, "ncclReduceScatter"),
                         (8, "ncclReduce"), (9, "ncclSend"), (10, "ncclRecv"), (17, "ncclGather"), (4, "ncclAllGather")):
        extended = struct.pack("<Qiii" if number == 0 else "<Qqii", 0xabc, *((4, 1, 0) if number == 0 else (4096, 1, 2)))
        log.nvtx(PUSH, 50 + number, 0, name, 2, own + number, extended)
        log.nvtx(POP, 51 + number, 0, "", 2)
    fields = ("NCCL communicator ID", "Message size [bytes]", "Reduction operation", "Root", "Peer rank", "No. of ranks",
              "CUDA device", "Rank")
    log.add("NvtxSchema", own + 200, 0, 64, 8, 2, log.text("ncclAll"), 1, len(fields))
    for index, name in enumerate(fields):
        log.add("NvtxSchemaEntry", own + 200, 0, 18, 0, 8 * index, 2, index, log.text(name), 0)
    log.nvtx(PUSH, 90, 0, "ncclAllReduce", 2, own + 200, struct.pack("<8Q", 0xabc, 4096, 0, 1, 2, 4, 0, 3))
    log.nvtx(PUSH, 91, 3, "deeper than told", 2)
    log.add("End", START + 200, 2, 15)
    return log.whole()


def nccl():
    """What its profiler interface told."""
    log = Log()
    described(log, rank=1)
    log.add("NcclCommunicator", START + 1, 0xabc, log.text("data parallel"), 1, 8, 2, 5)
    log.add("NcclCommunicator", START + 1, 0xabc, log.text("data parallel"), 1, 8, 2, 5)
    at = START + 10
    for number, (function, kind) in enumerate((("AllReduce", "ncclFloat32"), ("AllGather", "ncclBfloat16"),
                                               ("Send", "ncclInt8"), ("Broadcast", "ncclFloat8e4m3"), ("", ""))):
        texts = (log.text(function) if function else 999, log.text(kind) if kind else 0)
        base = 10 * number + 1
        log.add("NcclOperation", at, base, 0, 0xabc, 512, -1, PID, *texts, 0, 0, 1, -1, -1, 1, 0, 0, number % 2, 0, 2)
        log.add("NcclOperation", at + 1, base + 1, 0, 0xabc, 0, -1, PID, 0, 0, 0, 0, 1, -1, -1, 3)
        log.add("NcclStop", at + 2, base + 1, PID)
        log.add("NcclOperation", at + 3, base + 2, base, 0xabc, 1024, 3, PID, *texts, log.text("NVLS"), log.text("SIMPLE"),
                1, 0, 2, 2 if number != 3 else 4, 24, 16)
        log.add("NcclStop", at + 4, base + 2, PID)
        log.add("NcclStop", at + 5, base, PID + 1)
        at += 10
    log.add("NcclOperation", at, 90, 77, 0, 2**64 - 1, -1, PID, 0, 0, 0, 0, -5, -1, -1, 77)
    log.add("NcclStop", at, 12345, PID)
    log.add("End", at, 3)
    return log.whole()


def sampler(far=()):
    """Counters, GPU metrics, and threads that were looked at; last, samples at the times of `far`."""
    log = Log(77)
    log.property("samplerVersion", "1")
    log.add("SampledGpu", 0, log.text("GPU-01000000-0000-0000-0000-000000000000"), log.text("Simulated GPU"))
    log.add("SampledGpu", 1, 0, 0)
    for counter, meaning in enumerate((0, 1, 2, 3, 9)):
        log.add("Counter", counter, log.text("nvml"), log.text("power"), log.text("Power"), log.text("W"),
                log.text("eth0") if counter else 0, log.text("receive") if counter else 0, meaning,
                0 if counter < 3 else -1, counter - 1, -1, PID if counter == 1 else 0, 32, 0, 0.5)
    moments = (10, 20, 30, 40, 40, 35, 60, 2_000_000_000, 50, 2_000_000_100)
    for number, at in enumerate(moments):
        values = b"".join(struct.pack("<IIQ", counter, number % 3, 0x4059000000000000 + number // 4) for counter in range(7))
        log.add("Samples", START + at, len(values) // 16, rest=values)
    for number, at in enumerate(far):
        log.add("Samples", at, 1, rest=struct.pack("<IIQ", 0, 2 * (number % 2), number))
    log.add("GpuProcess", START + 20, 4096, 0, PID, log.text("python"))
    log.add("GpuProcess", START + 20, -1, 5, PID, 0)
    log.add("SamplingMoment", START + 30, START + 29, START + 31, log.text("step"), 1, PID, 1)
    for metric in (0, 1):
        log.add("GpuMetric", 0, metric, log.text(f"metric {metric}"))
    log.add("GpuMetricSamples", 0, 2, 2, rest=struct.pack("<qddqdd", START + 10, 1.5, 2.5, START + 20, float("inf"), 3.0))
    log.add("WatchedProcess", PID, 1, log.text("python"), log.text("3.12"))
    log.add("WatchedProcess", 99, PID, log.text("worker"), 0)
    for thread in (PID, PID + 1):
        log.add("WatchedThread", PID, thread, log.text(f"thread {thread}"))
    log.add("WatchedThread", 99, 99, log.text("worker"))
    log.add("Stack", 1, 0, log.text("wait"), log.text("/src/data.py"), 3)
    for state in range(0, 12):
        log.add("ThreadRun", START + 100 * state, START + 100 * state + 90, 50, 10, PID if state % 2 else 99, PID + state % 2
                if state % 2 else 99, 1, log.text("futex"), PID, 1, state, 4)
    log.add("Dropped", START + 50, 3, 5)
    log.add("Note", START + 60, 1, log.text("clock-set"), log.text("The clock was set."), 1)
    log.add("Clock", START + 70, 5_000_100, 0)
    return log.whole()


def windows(far=0):
    """Two windows, GPU work and launches beside them, and looks at threads that lie across their edges; with `far` also
    one from the first moment that there is to the last."""
    log = Log()
    described(log)
    for at in (100, 200, 600):
        log.add("Api", START + at, START + at + 5, log.text("cudaLaunchKernel_v7000"), PID, at, 0, 0, 0)
        log.add("Kernel", START + at + 350, START + at + 390, 0, 5, log.text("kernel"), 0, 1, 13, at, 0)
    log.add("Window", START + 150, 0, 1)
    log.add("Window", START + 480, 0, 0)
    log.add("Window", START + 580, 1, 1)
    log.add("Window", START + 700, 1, 0)
    log.add("End", START + 900, 2)
    looks = Log(77)
    looks.property("samplerVersion", "1")
    looks.add("WatchedProcess", PID, 1, looks.text("python"), looks.text("3.12"))
    looks.add("WatchedThread", PID, PID, looks.text("main"))
    looks.add("Stack", 1, 0, looks.text("wait"), looks.text("/src/data.py"), 3)
    edges = [(0, 900), (160, 170), (100, 200), (750, 800)]
    for start, end in edges:
        looks.add("ThreadRun", START + start, START + end, 50, 10, PID, PID, 1, 0, PID, 1, 1, 4)
    if far:
        looks.add("ThreadRun", START - far, far, far, far, PID, PID, 1, 0, PID, 1, 1, 4)
    return log.whole() + looks.whole()


def names():
    """Kernels of names that refer back to themselves until nobody can tell how long they are."""
    log = Log()
    described(log)
    for number, name in enumerate(("_Z1fIiEv" + "T_" * 40, "_Z1fI" + "S_" * 40 + "E", "_Z1fIPKcEvT_S_")):
        log.add("Kernel", START + 10 * number, START + 10 * number + 5, 0, 5, log.text(name), 0, 1, 13, number, 0)
    log.add("End", START + 900, 2)
    return log.whole()


def all_logs():
    """Inputs of the target `collect` by name; the first byte says how they are read (targets/readLogs.cpp)."""
    later = Log(PID, START + 50_000)
    described(later, "sh")
    later.nvtx(MARK, 60_000, 0, "after an exec")
    far = Log(4243, START + 10)
    described(far, rank=2)
    far.nvtx(PUSH, 20, 0, "far away")
    part = Log()
    part.bytes = part.bytes[:40] + struct.pack("<II", 1, 0)
    part.nvtx(MARK, 99, 0, "second part")
    cut = work()[:-300]
    odd = Log()
    for number in list(range(1, 60)):
        odd.payload += struct.pack("<HHI", number, 0, 16) + bytes(8)
    return {
        "work": b"\5" + work(), "work-cut": b"\x09" + cut, "annotations": b"\1" + annotations(), "nccl": b"\5" + nccl(),
        "sampler": b"\5" + annotations() + sampler(),
        "sampler-far": b"\5" + sampler((2**63 - 6, -2**63 + 1, 2**63 - 1)),
        "several": b"\x15" + nccl() + sampler() + far.whole() + later.whole() + part.whole(),
        "killed": b"\x1d" + annotations()[:-40] + sampler(), "still-ran": b"\x11" + far.whole() + sampler()[:-60],
        "too-short": b"\1" + odd.whole(), "threads": b"\5" + sampler() + perfSeeds.beside_logs(),
        "threads-cut": b"\5" + far.whole() + perfSeeds.beside_logs(with_end=False)[:-30],
        "threads-windows": b"\5" + windows() + perfSeeds.of_windows(PID, START),
        "threads-far": b"\5" + windows(2**63 - 1),
        "offset-far": b"\5" + far.whole() + perfSeeds.of_windows(PID, -2**63),
        "long-names": b"\5" + names(),
        "threads-none": b"\1" + perfSeeds.beside_logs()[:50],
    }
