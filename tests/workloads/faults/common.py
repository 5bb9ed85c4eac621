# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: a training that has no fault, its clock, and the list of programs."""

import contextlib
import itertools
import json
import os
import time

PROGRAMS = {}


def program(name, fault, where):
    """Adds a program with one known fault; the function gets a `Run` and returns what `Run.steps` does, or a cost."""

    def add(function):
        PROGRAMS[name] = {"function": function, "fault": fault, "where": where}
        return function

    return add


def clean(name):
    """Adds a program in which nothing is wrong."""
    return program(name, None, None)


class Skipped(Exception):
    """What a program needs is not there."""


class Run:
    """One run of one program. `step_range` is what each step is called by NVTX, {} being its number; none if empty."""

    def __init__(self, torch, device, seconds):
        self.torch, self.device, self.seconds = torch, device, seconds
        self.cuda = device == "cuda"
        self.scale = 1 if self.cuda else 32
        self.number = itertools.count()
        self.extra = {}

    def size(self, value):
        """A width or count, much less of it without a GPU."""
        return max(value // self.scale, 4)

    def sync(self):
        self.torch.cuda.synchronize()

    def range(self, name):
        return self.torch.cuda.nvtx.range(name) if name else contextlib.nullcontext()

    def pinned(self, tensor):
        return tensor.pin_memory() if self.cuda else tensor

    def timed(self, function, times=1):
        """Milliseconds of one call, with the GPU's work."""
        self.sync()
        begin = time.perf_counter()
        for _ in range(times):
            function()
        self.sync()
        return (time.perf_counter() - begin) * 1e3 / times

    def steps(self, step, without=None, step_range="", limit=150, warm_up=4, known=6):
        """Warms up and makes a few steps `without` the fault, then `step(number)` for the seconds of this run or `limit`
        times. Both are called with a number that rises. Returns the truth: what a step takes with and without."""

        def one(function):
            number = next(self.number)
            with self.range(step_range.format(number)):
                function(number)

        good = without or step
        for _ in range(warm_up):
            one(good)
        clean_ms = self.timed(lambda: one(good), known) if without else None
        first, begin, count = warm_up + (known if without else 0), time.perf_counter(), 0
        self.sync()
        while count < limit and (count < 12 or time.perf_counter() - begin < self.seconds):
            one(step)
            count += 1
        self.sync()
        step_ms = (time.perf_counter() - begin) * 1e3 / count
        truth = {"stepMs": round(step_ms, 3), "steps": count, "firstStep": first, **self.extra}
        if without:
            truth.update(withoutMs=round(clean_ms, 3), costMs=round(step_ms - clean_ms, 3))
        return truth


class Net:
    """Layers of 4096 in bfloat16: some 12 ms a step of matrix products on a large GPU, launched well ahead of it."""

    def __init__(self, run, width=4096, depth=8, rows=8192, inputs=256, fused=True, dtype=None):
        torch = run.torch
        torch.manual_seed(0)
        self.run, self.torch = run, torch
        self.rows, self.inputs = run.size(rows), run.size(inputs)
        width, nn = run.size(width), torch.nn
        layers = [nn.Linear(self.inputs, width), nn.GELU()]
        for _ in range(depth):
            layers += [nn.Linear(width, width), nn.GELU()]
        self.model = nn.Sequential(*layers, nn.Linear(width, 64)).to(run.device, dtype or torch.bfloat16)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5, fused=fused or None, foreach=False)
        self.dtype = dtype or torch.bfloat16
        values = torch.randn(self.rows, self.inputs).to(self.dtype)
        self.batches = [run.pinned(values.clone()) for _ in range(4)]
        self.labels = torch.randint(0, 64, (self.rows,), device=run.device)

    def batch(self, number):
        return self.batches[number % 4].to(self.run.device, non_blocking=True)

    def backward(self, inputs):
        loss = self.torch.nn.functional.cross_entropy(self.model(inputs).float(), self.labels)
        loss.backward()
        return loss

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def step(self, number, inputs=None):
        loss = self.backward(self.batch(number) if inputs is None else inputs)
        self.update()
        return loss


def busy(milliseconds):
    """Python that computes for so long by the clock of the thread, as a tokenizer or an augmentation does."""
    end, value = time.thread_time() + milliseconds / 1e3, 0
    while time.thread_time() < end:
        for number in range(200):
            value = (value * 31 + number) % 65537
    return value


def calibrated(run, make, wanted_ms, size, largest):
    """The size at which `make(size)` returns a function that takes about `wanted_ms`."""
    for _ in range(8):
        function = make(size)
        run.timed(function)
        found = run.timed(function, 2)
        if found >= wanted_ms / 1.3 or size >= largest:
            break
        size = min(int(size * max(1.3, min(8, wanted_ms / max(found, 1e-3)))), largest)
    return function


def without_recorder():
    """An environment for a program that is not part of the recorded run."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV") if name in os.environ}


def report(name, entry, truth):
    print(json.dumps({"name": name, "fault": entry["fault"], "where": entry["where"], **truth}), flush=True)
