# SPDX-License-Identifier: Apache-2.0
"""Small programs on one GPU that know what they did: what truth-gpu holds reports against.

    python3 known_truth.py PROGRAM

Prints what it did as one line of JSON: counts, bytes and times that the trace must have. What torch does beside it, as
the copies of its start-up, is kept out by an NVTX range called "known" around the work.
"""

import ctypes
import json
import sys
import time

import torch

nvtx = torch.cuda.nvtx
MIB = 1 << 20


def copies(kind, count, size):
    device = torch.empty(size, dtype=torch.uint8, device="cuda")
    host = torch.empty(size, dtype=torch.uint8, pin_memory=kind != "pageable")
    other = torch.empty_like(device)

    def work():
        for _ in range(count):
            if kind == "dtoh":
                host.copy_(device, non_blocking=True)
            elif kind == "dtod":
                other.copy_(device)
            else:
                device.copy_(host, non_blocking=True)

    operation = {"dtoh": "DtoH", "dtod": "DtoD"}.get(kind, "HtoD")
    return work, {"copies": {"operation": operation, "count": count, "bytes": count * size}}


def kernels(count):
    value = torch.zeros(1 << 16, device="cuda")

    def work():
        for _ in range(count):
            value.add_(1)

    return work, {"kernels": count}


def graph(replays, nodes):
    value = torch.zeros(1 << 16, device="cuda")
    value.add_(1)
    torch.cuda.synchronize()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        for _ in range(nodes):
            value.add_(1)

    def work():
        for _ in range(replays):
            recorded.replay()

    return work, {"kernels": replays * nodes}


def memsets(count, size):
    value = torch.empty(size, dtype=torch.uint8, device="cuda")

    def work():
        for _ in range(count):
            value.zero_()  # a memset or a kernel, as torch pleases

    return work, {"memsetsOrKernels": count}


def ranges(count):
    value = torch.zeros(16, device="cuda")

    def work():
        for step in range(count):
            nvtx.range_push(f"counted {step}")
            value.add_(1)
            nvtx.range_pop()

    return work, {"kernels": count, "ranges": {"pattern": "counted ", "count": count}}


def spin(count, milliseconds):
    """Kernels of a known time together, by events around all of them. A long one before the others lets the CPU launch
    those meanwhile, so that the GPU has nothing to wait for between the events."""
    cycles = int(milliseconds * 1e6)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(1)  # loads the kernel, which takes milliseconds

    def work():
        begin.record()
        torch.cuda._sleep(50 * cycles)
        for _ in range(count):
            torch.cuda._sleep(cycles)
        end.record()

    return work, {"kernels": count + 1, "kernelNs": lambda: begin.elapsed_time(end) * 1e6}


class Managed:
    """Managed memory as torch takes it, without a copy."""

    def __init__(self, size):
        self.address = ctypes.c_void_p()
        runtime = ctypes.CDLL(next(line.split()[-1] for line in open("/proc/self/maps") if "libcudart" in line))
        if runtime.cudaMallocManaged(ctypes.byref(self.address), ctypes.c_size_t(size), 1) != 0:
            raise MemoryError("no managed memory")
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (self.address.value, False), "version": 3}


def managed(rounds, size):
    """Written by the CPU, changed by the GPU and read by the CPU, each time all of it."""
    memory = Managed(size)
    on_gpu = torch.as_tensor(memory, device="cuda")
    by_cpu = (ctypes.c_ubyte * size).from_address(memory.address.value)

    def work():
        for _ in range(rounds):
            ctypes.memset(memory.address, 1, size)
            on_gpu.add_(1)
            torch.cuda.synchronize()
            assert sum(by_cpu[::4096]) == 2 * (size // 4096)

    # The driver moves more than the page that is touched, but never more than 2 MiB at once.
    most = rounds * size
    faults = {"cpu": [most // (2 * MIB), 2 * most // 4096], "gpu": [rounds, most // 4096]}
    counts = {
        "CPU page faults": faults["cpu"],
        "GPU page faults": faults["gpu"],
        "managed migrations": [2 * most // (2 * MIB), 2 * most // 4096],
    }
    return work, {"kernels": rounds, "managedBytes": most, "faults": faults, "counts": counts}


def steps(count, kernels_each, milliseconds):
    """Steps of equal work, of which the GPU works a known time and the host sleeps 5 ms: what explain and compare find."""
    value = torch.zeros(1 << 16, device="cuda")
    host = torch.empty(MIB, dtype=torch.uint8, pin_memory=True)
    device = torch.empty(MIB, dtype=torch.uint8, device="cuda")
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    times, spins = [], []
    torch.cuda._sleep(1)  # loads the kernel, which takes milliseconds

    def work():
        for number in range(count):
            begin = time.perf_counter_ns()
            nvtx.range_push(f"step {number}")
            device.copy_(host, non_blocking=True)
            events[0].record()
            torch.cuda._sleep(int(milliseconds * 1e6))
            events[1].record()
            for _ in range(kernels_each):
                value.add_(1)
            time.sleep(0.005)
            torch.cuda.synchronize()
            nvtx.range_pop()
            times.append(time.perf_counter_ns() - begin)
            spins.append(events[0].elapsed_time(events[1]) * 1e6)

    return work, {
        "kernels": count * (kernels_each + 1),
        "copies": {"operation": "HtoD", "count": count, "bytes": count * MIB},
        "steps": {"count": count, "kernels": kernels_each + 1, "bytes": MIB,
                  "timesNs": lambda: times, "computesNs": lambda: spins},
    }


PROGRAMS = {
    "pinned": lambda: copies("pinned", 17, 8 * MIB),
    "pageable": lambda: copies("pageable", 5, 4 * MIB),
    "dtoh": lambda: copies("dtoh", 11, 2 * MIB),
    "dtod": lambda: copies("dtod", 23, 16 * MIB),
    "small": lambda: copies("pinned", 1000, 4096),
    "kernels": lambda: kernels(777),
    "graph": lambda: graph(31, 13),
    "memsets": lambda: memsets(41, MIB),
    "ranges": lambda: ranges(123),
    "spin": lambda: spin(20, 2),
    "managed": lambda: managed(2, 64 * MIB),
    "steps": lambda: steps(60, 25, 2),
    "more-steps": lambda: steps(60, 40, 12),
}


def main():
    work, truth = PROGRAMS[sys.argv[1]]()
    torch.cuda.synchronize()
    nvtx.range_push("known")
    work()
    torch.cuda.synchronize()
    nvtx.range_pop()
    print(json.dumps(measured(truth)))


def measured(truth):
    """The truth with what is only known at the end."""
    if isinstance(truth, dict):
        return {key: measured(value) for key, value in truth.items()}
    return truth() if callable(truth) else truth


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else print(" ".join(PROGRAMS))
