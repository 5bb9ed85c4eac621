# SPDX-License-Identifier: Apache-2.0
"""Faults of one rank among several: processes on the one GPU that add their gradients by gloo."""

import os
import subprocess
import sys
import time

from .common import PROGRAMS, Net, busy, program


def start(options, count):
    """Starts the ranks after the first, before this process has imported anything slow. They are recorded, too."""
    port = str(20000 + os.getpid() % 20000)
    if "RANK" in os.environ:
        return []
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, WORLD_SIZE=str(count), LOCAL_RANK="0")
    others = []
    for rank in range(1, count):
        environment = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        others.append(subprocess.Popen([sys.executable, *sys.argv], env=environment))
    os.environ["RANK"] = "0"
    return others


def end(others):
    for each in others:
        try:
            each.wait(20)
        except subprocess.TimeoutExpired:
            each.kill()


def ranks(name, count):
    PROGRAMS[name]["before"] = lambda options: start(options, count)
    PROGRAMS[name]["after"] = end


class Ranks:
    """A training whose gradient of 2 MB is added over the ranks each step."""

    def __init__(self, run):
        self.run, self.torch = run, run.torch
        self.rank, self.count = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        run.torch.set_num_threads(1)
        self.torch.distributed.init_process_group("gloo")
        self.net = Net(run, width=1024, depth=8, rows=2048)
        self.sum = run.pinned(run.torch.zeros(run.size(1 << 18)))

    def step(self, number, batches=1):
        for which in range(batches):
            self.net.backward(self.net.batch(number + which))
        flat = self.torch.cat([each.grad.flatten() for each in self.net.model.parameters()])[: self.sum.numel()]
        self.sum[: flat.numel()].copy_(flat)
        self.torch.distributed.all_reduce(self.sum)
        flat.copy_(self.sum[: flat.numel()], non_blocking=True)
        self.net.update()

    def steps(self, step, step_range, limit):
        """As `Run.steps`, but all ranks make the same number of steps; the fault begins after ten."""
        for number in range(10):
            if number == 4:
                self.torch.distributed.barrier()
                begin = time.perf_counter()
            with self.run.range(step_range.format(number)):
                self.step(number)
        without = (time.perf_counter() - begin) * 1e3 / 6
        begin = time.perf_counter()
        for number in range(10, 10 + limit):
            with self.run.range(step_range.format(number)):
                step(number)
        self.torch.distributed.barrier()
        step_ms = (time.perf_counter() - begin) * 1e3 / limit
        self.torch.distributed.destroy_process_group()
        if self.rank:
            return None
        return {"stepMs": round(step_ms, 3), "withoutMs": round(without, 3), "costMs": round(step_ms - without, 3),
                "steps": limit, "firstStep": 10, "ranks": self.count}


def late(run, which, pause_ms, period, step_range, limit):
    group = Ranks(run)

    def step(number):
        if group.rank == which and number % period == period - 1:
            busy(pause_ms)
        group.step(number)

    truth = group.steps(step, step_range, limit)
    return truth and {**truth, "lateRank": which, "every": period, "costOfOneMs": pause_ms}


@program("late-rank", "rank 1 of 3 prepares its batch 25 ms longer than the others in each step, and they wait for it",
         "rank 1, before the forward pass: Python of its main thread")
def _(run):
    return late(run, 1, 25, 1, "step {}", 60)


@program("late-rank-third", "every third step rank 2 of 3 computes 80 ms of Python first, and the others wait for it",
         "rank 2, every third step, before the forward pass: Python of its main thread")
def _(run):
    return late(run, 2, 80, 3, "step {}", 60)


@program("unbalanced-ranks", "rank 0 of 2 gets eight micro-batches a step and rank 1 gets one, so that rank 1 waits",
         "rank 0: forward and backward take longer there")
def _(run):
    group = Ranks(run)
    truth = group.steps(lambda number: group.step(number, 8 if group.rank == 0 else 1), "step {}", 50)
    return truth and {**truth, "lateRank": 0}


ranks("late-rank", 3)
ranks("late-rank-third", 3)
ranks("unbalanced-ranks", 2)
