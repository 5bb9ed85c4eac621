# SPDX-License-Identifier: Apache-2.0
"""A data-parallel training of a small transformer, one process a GPU, that talks in every way that clocks are found by.

    torchrun --nproc-per-node 4 --no-python lanescope record ... -- python3 ranks_training.py [options]

A step takes a batch from a loader that is a process of its own, copies it to the GPU, and adds up gradients by
DistributedDataParallel; gathers and scatters a tensor; and sends one to its neighbours, in a ring by one grouped call and in
pairs by single ones. --slow RANK gets more rows than the others by --slow-share of them, so that its kernels take longer;
--late RANK has a loader that takes --late-share of a step longer, every --late-every steps. Rank 0 prints what it did, as a
line of JSON. Without a GPU it is small and talks by gloo, of which nobody records anything but that it runs.
"""

import argparse
import json
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=48)
parser.add_argument("--warmup", type=int, default=6, help="steps before these, which tell how long a step takes")
parser.add_argument("--slow", type=int, default=-1)
parser.add_argument("--slow-share", type=float, default=0.06)
parser.add_argument("--late", type=int, default=-1)
parser.add_argument("--late-share", type=float, default=0.4)
parser.add_argument("--late-every", type=int, default=5)


WORDS = 1000
SEQUENCE = 128


def tokens(rows, number):
    return (torch.arange(rows) * 7 + number) % WORDS


class Batches(Dataset):
    """Batches of which some take long to read."""

    def __init__(self, options, rows, step_s, is_late):
        self.options, self.rows, self.step_s, self.is_late = options, rows, step_s, is_late

    def __len__(self):
        return self.options.steps

    def __getitem__(self, number):
        # A batch is read ahead while a step runs, so that one is late by what reading takes beyond a step.
        pause = self.step_s * (0.3 if not self.is_late or number % self.options.late_every else 1 + self.options.late_share)
        time.sleep(pause)
        return tokens(self.rows, number)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        rows, width = x.shape
        sequence = SEQUENCE if rows % SEQUENCE == 0 else 1
        shaped = self.mix(self.first(x)).view(rows // sequence, sequence, 3, self.heads, width // self.heads)
        query, key, value = (shaped[:, :, each].transpose(1, 2) for each in range(3))
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, width))
        return x + self.down(nn.functional.gelu(self.up(self.second(x))))


class Training:
    def __init__(self, options):
        self.options = options
        self.has_gpu = torch.cuda.is_available()
        local = int(os.environ.get("LOCAL_RANK", "0"))
        if self.has_gpu:
            torch.cuda.set_device(local)
        dist.init_process_group("nccl" if self.has_gpu else "gloo")
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.device = torch.device("cuda", local) if self.has_gpu else torch.device("cpu")
        torch.manual_seed(1)
        width, layers, rows, heads = (2048, 6, 8192, 16) if self.has_gpu else (32, 2, 64, 2)
        if self.rank == options.slow:
            whole = SEQUENCE if self.has_gpu else 1
            rows = round(rows * (1 + options.slow_share) / whole) * whole
        self.rows = rows
        net = nn.Sequential(nn.Embedding(WORDS, width), *[Block(width, heads) for _ in range(layers)])
        net = net.to(self.device, torch.bfloat16 if self.has_gpu else torch.float32)
        self.net = DistributedDataParallel(net, device_ids=[local] if self.has_gpu else None)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=1e-4, momentum=0.9, foreach=True)
        part = (1 << 20) if self.has_gpu else (1 << 8)
        self.part = torch.ones(part, device=self.device)
        self.whole = torch.ones(part * self.ranks, device=self.device)
        self.received, self.sent = torch.zeros_like(self.part), torch.ones_like(self.part)

    def begin(self, name):
        if self.has_gpu:
            torch.cuda.nvtx.range_push(name)

    def end(self):
        if self.has_gpu:
            torch.cuda.nvtx.range_pop()

    def talk(self):
        """To all and to the neighbours."""
        if self.has_gpu:  # gloo scatters nothing
            dist.all_gather_into_tensor(self.whole, self.part)
            dist.reduce_scatter_tensor(self.part, self.whole)
        after, before = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks
        if self.ranks > 1:
            ring = [dist.P2POp(dist.isend, self.sent, after), dist.P2POp(dist.irecv, self.received, before)]
            for request in dist.batch_isend_irecv(ring):
                request.wait()
        # In pairs of 0 and 1, 2 and 3, there and back.
        other = self.rank ^ 1
        if other < self.ranks:
            for is_first in (True, False):
                if (self.rank < other) == is_first:
                    dist.send(self.sent, other)
                else:
                    dist.recv(self.received, other)

    def step(self, name, batches):
        self.begin(name)
        self.begin("data")
        batch = next(batches)
        self.end()
        batch = batch.to(self.device, non_blocking=True)
        loss = self.net(batch).float().square().mean()
        loss.backward()
        self.talk()
        self.optimizer.step()
        self.optimizer.zero_grad()
        # The CPU is never far ahead, as where the loss is printed.
        value = loss.item()
        self.end()
        return value

    def warm_up(self):
        """How long a step takes where no batch is waited for; of all ranks the same."""
        made = tokens(self.rows, 0)
        batch = made.pin_memory() if self.has_gpu else made
        times = []
        for number in range(self.options.warmup):
            begun = time.perf_counter()
            self.step(f"warm-up {number}", iter([batch]))
            times.append(time.perf_counter() - begun)
        usual = torch.tensor([statistics.median(times)], device=self.device)
        dist.all_reduce(usual, op=dist.ReduceOp.MAX)
        return usual.item()

    def run(self):
        step_s = self.warm_up()
        is_late = self.rank == self.options.late
        data = Batches(self.options, self.rows, step_s, is_late)
        loader = DataLoader(data, batch_size=None, num_workers=1, prefetch_factor=1, pin_memory=self.has_gpu)
        batches = iter(loader)
        times = []
        for number in range(self.options.steps):
            begun = time.perf_counter()
            self.step(f"step {number}", batches)
            times.append(time.perf_counter() - begun)
        dist.barrier()
        if self.rank == 0:
            said = {"ranks": self.ranks, "steps": self.options.steps, "usualStepMs": round(1e3 * step_s, 3),
                    "medianStepMs": round(1e3 * statistics.median(times), 3), "gpu": self.has_gpu}
            for fault, share in (("slow", "slow_share"), ("late", "late_share")):
                if getattr(self.options, fault) >= 0:
                    said[fault] = {"rank": getattr(self.options, fault), "share": getattr(self.options, share)}
            print(json.dumps(said), flush=True)
        dist.destroy_process_group()


if __name__ == "__main__":
    Training(parser.parse_args()).run()
