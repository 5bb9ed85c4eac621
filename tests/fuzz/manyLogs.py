# SPDX-License-Identifier: Apache-2.0
"""Logs with many records of a kind, in order and in none, of many threads, streams, stacks and names."""

import random

from logSeeds import END_RANGE, MARK, PID, POP, PUSH, START, START_RANGE, Log, described


class Moments:
    """Times of events, one after another or in no order."""

    def __init__(self, is_ordered, apart=500):
        self.drawn = None if is_ordered else random.Random(2)
        self.at, self.apart = START, apart

    def next(self):
        self.at += self.apart
        return self.drawn.randrange(START, START + 1_000_000) if self.drawn else self.at


def work(count, is_ordered):
    log, moments = Log(), Moments(is_ordered)
    described(log)
    for stream in range(14, 40):
        log.add("Stream", 1 + stream % 2, stream, 0, 1)
    for number in range(2, 300):
        log.add("Stack", number + 10, number + 9 if number % 7 else 0, log.text(f"f{number % 40}"), log.text(f"/src/m{number % 9}.py"),
                number)
    for number in range(count):
        at, correlation = moments.next(), number + 1000
        where = (number % 2, 1 + number % 2, 13 + number % 27, correlation, 0)
        thread = PID + number % 21
        log.add("Api", at, at + 50, log.text(("cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020", "cudaMemsetAsync_v3020")[number % 3]),
                thread, correlation, 0, 0, 10 + number % 300)
        if number % 3 == 0:
            log.add("Kernel", at + 60, at + 60 + number % 900, number % 50 + 100 if number % 5 == 0 else 0, number % 6,
                    log.text(f"void kernel{number % 60}<float>(int)"), *where, 1 + number % 300, 1 + number % 3, 1, 128, 1, 1, 2, 1, 1,
                    40, 1024, 64, 8, 2048, 1 << 20, 1, 1, 2, 1, 50)
        elif number % 3 == 1:
            log.add("Memcpy", at + 60, at + 60 + number % 400, 1 << number % 30, 0, *where, 0, 1 - number % 2, 1, 2, 1 + number % 10,
                    1 + number % 4, 1 + number % 3, number % 2)
        else:
            log.add("Memset", at + 60, at + 90, 4096, 0, *where, 0, 1 + number % 4, 1)
        if number % 4 == 0:
            log.add("DeviceMemory", at, 0x1000 * (number // 8), 4096 << number % 9, 0x77, 0, 0, 0, 0, 0, number % 2, 1, 13, thread, 0,
                    1 + number // 4 % 2, 3)
        if number % 9 == 0:
            log.add("Sync", at, at + 30, 1 + number % 5, 1, 13, correlation, 3, 0xffffffff)
            log.add("CudaEvent", at, correlation, 1, 13, number % 12, correlation)
            log.add("Overhead", at, at + 5, number % 4 << 16, thread, 0)
            log.add("Graph", at + 60, at + 90, number % 9, number % 2, 1, 13, correlation)
            log.add("UnifiedMemory", at, at + 10, 4096, 0x3000, number % 9, 0, 0xffffffff, 1 + number % 5, 13, PID)
    log.add("End", START + 2_000_000, 1)
    return log.whole()


def annotations(count, is_ordered):
    log, moments = Log(), Moments(is_ordered)
    described(log)
    for domain in range(1, 20):
        log.add("NvtxDomain", START, domain, log.text(f"domain {domain}"), PID)
    levels = {}
    for number in range(count):
        at, thread = moments.next() - START, PID + number % 23
        level = levels.get(thread, 0)
        if number % 11 == 10:
            log.nvtx(MARK, at, 0, f"mark {number % 70}", number % 20, thread=thread)
        elif number % 13 == 12:
            log.nvtx(START_RANGE if number % 2 else END_RANGE, at, 0, "started", range=number // 26, thread=thread)
        elif level > 0 and number % 5 > level % 4:
            levels[thread] = level - 1
            log.nvtx(POP, at, level - 1, "", 0, thread=thread)
        else:
            levels[thread] = level + 1
            log.nvtx(PUSH, at, level, f"step {number}" if level == 0 else f"part {number % 90}", 0, thread=thread)
    log.add("End", START + 2_000_000, 2)
    return log.whole()


def nccl(count, is_ordered):
    log, moments = Log(), Moments(is_ordered)
    described(log, rank=1)
    for communicator in range(1, 30):
        log.add("NcclCommunicator", START, communicator, log.text(f"group {communicator}"), 1, 8, 2, 5)
    for number in range(count):
        at, operation = moments.next(), number + 1
        function = log.text(("AllReduce", "AllGather", "Send", "Recv", "ReduceScatter")[number % 5])
        log.add("NcclOperation", at, operation, number // 3 if number % 3 else 0, 1 + number % 29, 1 << number % 20, number % 5 - 1,
                PID + number % 17, function, log.text("ncclFloat32"), log.text("RING"), log.text("LL"), 1, 0, 2, 1 + number % 4, 24, 16)
        if number % 6:
            log.add("NcclStop", at + 90, operation, PID)
    log.add("End", START + 2_000_000, 3)
    return log.whole()


def looks(count, is_ordered):
    log, moments = Log(77), Moments(is_ordered, 10_000)
    log.property("samplerVersion", "1")
    log.add("WatchedProcess", PID, 1, log.text("python"), log.text("3.12"))
    for worker in range(30):
        log.add("WatchedProcess", 5000 + worker, PID, log.text("worker"), 0)
        log.add("WatchedThread", 5000 + worker, 5000 + worker, log.text("worker"))
    for thread in range(30):
        log.add("WatchedThread", PID, PID + thread, log.text(f"thread {thread % 5}"))
    for number in range(1, 200):
        log.add("Stack", number, number - 1 if number % 9 else 0, log.text(f"f{number % 31}"), log.text("/src/data.py"), number)
    for number in range(count):
        at, is_worker = moments.next(), number % 3 == 0
        process, thread = (5000 + number % 30,) * 2 if is_worker else (PID, PID + number % 30)
        log.add("ThreadRun", at, at + 9_000 + number % 3_000, 50 * (number % 7), 10, process, thread, number % 200,
                log.text(f"call {number % 20}") if number % 4 else 0, PID + number % 3, number % 200, number % 12, 1 + number % 9)
    log.add("Counter", 0, log.text("nvml"), log.text("power"), log.text("Power"), log.text("W"))
    return log.whole()


def all_logs():
    """By name; the first byte says how they are read (targets/readLogs.cpp)."""
    found = {}
    for name, is_ordered in (("ordered", True), ("scattered", False)):
        for count in (100, 700):
            whole = {"work": work(count, is_ordered), "notes": annotations(count, is_ordered), "nccl": nccl(count, is_ordered),
                     "looks": looks(count, is_ordered)}
            found.update({f"many-{kind}-{count}-{name}": b"\5" + log for kind, log in whole.items()})
        found[f"many-together-{name}"] = b"\x15" + work(100, is_ordered) + looks(300, is_ordered)
    return found
