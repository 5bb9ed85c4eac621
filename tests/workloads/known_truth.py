# SPDX-License-Identifier: Apache-2.0
"""Ten small programs on one GPU that know what they did: what truth-gpu holds reports against.

    python3 known_truth.py PROGRAM

Prints what it did as one line of JSON: counts, bytes and times that the trace must have. What torch does beside it, as
the copies of its start-up, is kept out by an NVTX range called "known" around the work.
"""

import json
import sys

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
    """Kernels of a known time, by the clock of events around them."""
    cycles = int(milliseconds * 1e6)
    times = []

    def work():
        for _ in range(count):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            torch.cuda._sleep(cycles)
            end.record()
            times.append((begin, end))

    return work, {"kernels": count, "kernelNs": lambda: sum(a.elapsed_time(b) for a, b in times) * 1e6}


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
}


def main():
    work, truth = PROGRAMS[sys.argv[1]]()
    torch.cuda.synchronize()
    nvtx.range_push("known")
    work()
    torch.cuda.synchronize()
    nvtx.range_pop()
    print(json.dumps({key: value() if callable(value) else value for key, value in truth.items()}))


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else print(" ".join(PROGRAMS))
