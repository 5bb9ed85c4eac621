#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainings for `lanescope watch` on one or two GPUs.

usage: watch_training.py run gpt|graph|ddp [--seconds S]           steps of 64, 256 and 64 launches; prints the median step
       watch_training.py turns gpt|graph|ddp LEVEL OTHER BLOCKS    alternates two levels of recording, and prints each block
       watch_training.py hang sleep|skip|size|kill|endless|loader  two ranks, of which one stops the run at step 40
       watch_training.py slow                                      every 200th of 1,000 steps is four times as long

Needs PyTorch. `ddp` and `hang` start two ranks themselves, on GPUs 0 and 1. On a machine with one GPU both use it and
communicate by sockets, as ranks of two hosts do.
"""
import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time

import torch
from torch import nn

STOP_AT = 40
SETTLE_S, BLOCK_S = float(os.environ.get("SETTLE_S", "0.55")), 0.25


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.attend = nn.LayerNorm(width), nn.MultiheadAttention(width, 8, batch_first=True)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, values):
        normed = self.norm(values)
        values = values + self.attend(normed, normed, normed, need_weights=False)[0]
        return values + self.down(torch.nn.functional.gelu(self.up(values)))


class Training:
    """A model and one step of it."""

    def __init__(self, kind, device):
        torch.manual_seed(1)
        width, layers, batch = (256, 8, 4) if kind != "ddp" or torch.cuda.device_count() < 2 else (1024, 8, 32)
        self.model = nn.Sequential(*[Block(width) for _ in range(layers)]).to(device)
        if kind == "ddp":
            self.model = nn.parallel.DistributedDataParallel(self.model, device_ids=[device.index])
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)
        self.batch = torch.randn(batch, 128, width, device=device)
        self.number, self.graph = 0, None
        for _ in range(5):
            self.compute()
        torch.cuda.synchronize()
        if kind == "graph":
            self.optimizer.zero_grad(set_to_none=False)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.compute(False)

    def compute(self, sets_none=True):
        self.optimizer.zero_grad(set_to_none=sets_none)
        self.model(self.batch).square().mean().backward()
        self.optimizer.step()

    def step(self):
        torch.cuda.nvtx.range_push(f"step {self.number}")
        self.number += 1
        self.graph.replay() if self.graph else self.compute()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()


def steps_for(training, seconds):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        training.step()
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def set_level(level):
    folder = os.environ.get("LANESCOPE_AGENT_DIR")
    if folder and int(os.environ.get("RANK", 0)) == 0:
        with open(os.path.join(folder, "level"), "r+", encoding="ascii") as file:
            file.write(str(level))


def agreed(training, number):
    """All ranks make the same number of steps: that of rank 0."""
    if not torch.distributed.is_initialized():
        return number
    shared = torch.tensor([number], device=training.batch.device)
    torch.distributed.broadcast(shared, 0)
    return int(shared.item())


def turns(training, first, second, blocks):
    # Blocks of one number of steps on all ranks, of about the same time.
    median = statistics.median(steps_for(training, 2) if not torch.distributed.is_initialized() else counted(training, 50))
    settle = agreed(training, max(3, int(1e3 * SETTLE_S / median)))
    count = agreed(training, max(5, int(1e3 * BLOCK_S / median)))
    drawn, pairs = random.Random(7), []
    for _ in range(blocks // 2):
        pair = {}
        for level in drawn.sample([first, second], 2):
            set_level(level)
            counted(training, settle)
            pair[level] = statistics.mean(counted(training, count))
        pairs.append([pair[first], pair[second]])
    return pairs


def counted(training, count):
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        training.step()
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def slow_data(seconds):
    time.sleep(seconds)


class StuckData(torch.utils.data.Dataset):
    def __len__(self):
        return 10_000

    def __getitem__(self, index):
        if index >= STOP_AT and int(os.environ["RANK"]) == 1:
            slow_data(600)
        return torch.zeros(16)


def hang(kind):
    rank, device = int(os.environ["RANK"]), torch.device("cuda", torch.cuda.current_device())
    training = Training("ddp", device)
    # Ranks that pass a few bytes to each other do not wait.
    extra = torch.ones(1 << 26 if kind in ("size", "skip") else 1 << 20, device=device)
    loader = iter(torch.utils.data.DataLoader(StuckData(), batch_size=1, num_workers=1)) if kind == "loader" else None
    for number in range(10_000):
        if loader:
            next(loader)
        if number == STOP_AT and rank == 1:
            if kind == "sleep":
                slow_data(600)
            if kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if kind == "endless":
                torch.cuda._sleep(1 << 60)
        training.step()
        torch.cuda.nvtx.range_push(f"step {number} metrics")
        if kind == "size" and number == STOP_AT and rank == 1:
            torch.distributed.all_reduce(extra[:16])
        elif kind == "skip" and number == STOP_AT and rank == 1:
            torch.distributed.broadcast(extra[:16], 0)
        else:
            torch.distributed.all_reduce(extra)
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()


def slow(training):
    for number in range(1000):
        torch.cuda.nvtx.range_push(f"step {number}")
        for _ in range(4 if number % 200 == 199 else 1):
            training.compute()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()


def ranks(arguments):
    """Starts this program as two ranks, and waits for both, whatever one of them does."""
    port = str(20_000 + os.getpid() % 20_000)
    children = []
    for rank in range(2):
        environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2",
                           MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        children.append(subprocess.Popen([sys.executable, __file__, *arguments], env=environment))

    def end(*_):
        for child in children:
            child.kill()
        os._exit(143)

    signal.signal(signal.SIGTERM, end)
    return max(child.wait() for child in children)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "turns", "hang", "slow"])
    parser.add_argument("kind", nargs="?", default="gpt")
    parser.add_argument("levels", nargs="*", type=int)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    needs_ranks = options.kind == "ddp" or options.what == "hang"
    if needs_ranks and "RANK" not in os.environ:
        sys.exit(ranks(sys.argv[1:]))
    gpus = torch.cuda.device_count()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)) % gpus)
    torch.cuda.set_device(device)
    if needs_ranks:
        if gpus < 2:  # NCCL refuses a GPU that two ranks of one host use.
            os.environ["NCCL_HOSTID"] = "host" + os.environ["RANK"]
        torch.distributed.init_process_group("nccl", device_id=device)
    if options.what == "hang":
        return hang(options.kind)
    training = Training(options.kind, device)
    if options.what == "slow":
        return slow(training)
    if options.what == "turns":
        first, second, blocks = options.levels
        result = {"pairs": turns(training, first, second, blocks)}
    else:
        count = agreed(training, int(1e3 * options.seconds / statistics.median(counted(training, 30))))
        times = counted(training, count)
        result = {"median": statistics.median(times), "mean": statistics.mean(times), "steps": len(times)}
    if int(os.environ.get("RANK", 0)) == 0:
        print(json.dumps(result), flush=True)
    if needs_ranks:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
