# SPDX-License-Identifier: Apache-2.0
"""The Python half of survive-gpu: a training that does some steps, notes down when each was done,
and then ends in the way it is told.

    survivor.py --progress FILE [--steps N] [--step-ms MS] [--end HOW] [--status STATUS]
                [--work torch|LIBRARY]

LIBRARY stands in for PyTorch where there is none: it has survivorBegin and survivorStep.
"""

import argparse
import ctypes
import multiprocessing
import os
import sys
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--progress", required=True)
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--step-ms", type=float, default=5)
parser.add_argument("--end", default="return")
parser.add_argument("--status", type=int, default=0)
parser.add_argument("--processes", type=int, default=4)
parser.add_argument("--rounds", type=int, default=2)
parser.add_argument("--work", default="torch")


class TorchWork:
    """Six kernels a step, with PyTorch."""

    def begin(self):
        import torch

        self.torch = torch
        self.values = torch.zeros(1 << 16, device="cuda")
        torch.cuda.synchronize()

    def step(self, number):
        self.torch.cuda.nvtx.range_push(f"step {number}")
        for _ in range(6):
            self.values.add_(1.0)
        self.torch.cuda.synchronize()
        self.torch.cuda.nvtx.range_pop()

    def range(self, name):
        import torch

        torch.cuda.nvtx.range_push(name)
        torch.cuda.nvtx.range_pop()


class LibraryWork:
    """SIMULATED: steps that the stand-in for libcupti tells of."""

    def __init__(self, path):
        self.loaded = ctypes.CDLL(path)

    def begin(self):
        self.loaded.survivorBegin()

    def step(self, number):
        self.loaded.survivorStep(number)

    def range(self, name):
        self.loaded.survivorRange(name.encode())


def note(options, number):
    line = f"{time.time_ns()} {os.getpid()} {number}\n".encode()
    file = os.open(options.progress, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, line)
    os.close(file)


def train(options, work):
    for number in range(1, options.steps + 1):
        work.step(number)
        note(options, number)
        time.sleep(options.step_ms / 1000)


def make_work(options):
    return TorchWork() if options.work == "torch" else LibraryWork(options.work)


def load_items(options, item):
    """What a worker of a data loader does: no GPU."""
    make_work(options).range(f"item {item}")
    return item


def rank_main(options):
    work = make_work(options)
    work.begin()
    train(options, work)


def load_data(options):
    """Rounds of forked workers: PyTorch's DataLoader, or a pool of processes without it."""
    for _ in range(options.rounds):
        if options.work == "torch":
            import torch

            items = torch.utils.data.TensorDataset(torch.arange(64))
            loader = torch.utils.data.DataLoader(
                items, batch_size=4, num_workers=options.processes, multiprocessing_context="fork"
            )
            assert sum(batch[0].sum().item() for batch in loader) == 64 * 63 // 2
        else:
            with multiprocessing.get_context("fork").Pool(options.processes) as pool:
                pool.starmap(load_items, [(options, item) for item in range(64)])


def profile_inside(options, work):
    """Another profiler, started and stopped in the middle; prints how many kernels it saw."""
    import torch

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        train(options, work)
    kernels = [event for event in profiler.events() if "elementwise" in event.name]
    print(f"torch.profiler saw {len(kernels)} kernels", flush=True)


def main():
    options = parser.parse_args()
    if options.end in ("spawn", "fork-first"):
        context = multiprocessing.get_context("spawn" if options.end == "spawn" else "fork")
        ranks = [
            context.Process(target=rank_main, args=(options,)) for _ in range(options.processes)
        ]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
        sys.exit(max(abs(rank.exitcode) for rank in ranks))
    work = make_work(options)
    work.begin()
    if options.end == "profiler":
        profile_inside(options, work)
        sys.exit(options.status)
    train(options, work)
    if options.end == "os._exit":
        os._exit(options.status)
    if options.end == "abort":
        os.abort()
    if options.end == "loader":
        load_data(options)
    if options.end == "threads":
        for _ in range(4):
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    sys.exit(options.status)


if __name__ == "__main__":
    main()
