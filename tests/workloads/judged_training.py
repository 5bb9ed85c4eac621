# SPDX-License-Identifier: Apache-2.0
"""Trainings of different nature on one GPU, each of which can be given a known amount of more work a step: what
judge-gpu records to count how often a comparison of runs is wrong.

    python3 judged_training.py PROGRAM [--steps N] [--more F --kind gpu|host]

PROGRAM: eager (many small kernels, waited for each step), ahead (the CPU runs ahead of the GPU), graph (the step is a
CUDA graph), conv (the GPU is the limit), loader (the data is). --more 0.1 adds a tenth of the step's own time, measured
before: products of matrices, or the host asleep in the range "extra". --gate FILE lets one of several at a time use the
GPU, so that the next can start Python meanwhile.
"""

import argparse
import fcntl
import statistics
import time

import torch
from torch import nn

nvtx = torch.cuda.nvtx
DEVICE = "cuda"


class Tokens(torch.utils.data.Dataset):
    def __init__(self, work):
        self.work = work
        self.base = torch.randn(256, 256)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        image = self.base
        for _ in range(self.work):
            image = image.flip(1).mul(1.01)
        return torch.full((64,), index % 1000), image[0, 0]


def transformer(width, layers):
    blocks = [nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, dropout=0.0) for _ in range(layers)]
    return nn.Sequential(nn.Embedding(1000, width), *blocks, nn.Linear(width, 1000)).to(DEVICE)


def conv_net():
    layers = []
    for channels_in, channels_out in [(3, 64), (64, 128), (128, 128), (128, 256)]:
        layers += [nn.Conv2d(channels_in, channels_out, 3, padding=1), nn.BatchNorm2d(channels_out), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 1000)).to(DEVICE)


class Training:
    def __init__(self, program):
        torch.manual_seed(0)
        self.program = program
        self.model = conv_net() if program == "conv" else transformer(256, 3 if program == "loader" else 6)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4, foreach=program != "eager")
        self.fixed = torch.randint(0, 1000, (16, 64), device=DEVICE)
        self.images = torch.randn(96, 3, 128, 128, device=DEVICE)
        self.labels = torch.randint(0, 1000, (96,), device=DEVICE)
        self.square = torch.randn(1024, 1024, device=DEVICE)
        self.products = 0
        self.asleep = 0.0
        self.graph = None
        self.loader = None
        if program == "loader":
            data = torch.utils.data.DataLoader(Tokens(40), batch_size=16, num_workers=2, pin_memory=True)
            self.loader = iter(data)

    def compute(self):
        if self.program == "conv":
            loss = nn.functional.cross_entropy(self.model(self.images), self.labels)
        else:
            loss = self.model(self.fixed).float().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)
        for _ in range(self.products):
            torch.mm(self.square, self.square)

    def capture(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.compute()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.compute()

    def step(self, name):
        nvtx.range_push(name)
        if self.loader is not None:
            nvtx.range_push("data")
            self.fixed.copy_(next(self.loader)[0], non_blocking=True)
            nvtx.range_pop()
        if self.graph is not None:
            self.graph.replay()
        else:
            nvtx.range_push("compute")
            self.compute()
            nvtx.range_pop()
        if self.asleep > 0:
            nvtx.range_push("extra")
            time.sleep(self.asleep)
            nvtx.range_pop()
        if self.program != "ahead":
            torch.cuda.synchronize()
        nvtx.range_pop()

    def mean_ms(self, steps):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(steps):
            self.step("calibration")
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) * 1e3 / steps

    def product_ms(self):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        events[0].record()
        for _ in range(200):
            torch.mm(self.square, self.square)
        events[1].record()
        torch.cuda.synchronize()
        return events[0].elapsed_time(events[1]) / 200


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", choices=["eager", "ahead", "graph", "conv", "loader"])
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--more", type=float, default=0.0)
    parser.add_argument("--kind", choices=["gpu", "host"], default="gpu")
    parser.add_argument("--gate")
    options = parser.parse_args()
    if options.gate:
        gate = open(options.gate, "w")  # held until the process has ended
        fcntl.flock(gate, fcntl.LOCK_EX)

    training = Training(options.program)
    if options.program == "graph":
        training.capture()
    training.mean_ms(10)
    usual = statistics.median(training.mean_ms(5) for _ in range(6))
    added = options.more * usual
    if options.kind == "host":
        training.asleep = added / 1e3
    elif added > 0:
        training.product_ms()
        training.products = max(1, round(added / training.product_ms()))
        if options.program == "graph":
            training.capture()
    for number in range(options.steps):
        training.step(f"step {number}")
    torch.cuda.synchronize()
    print(f"{options.program}: {usual:.3f} ms a step as it is, {added:.3f} ms more by {options.kind}", flush=True)


if __name__ == "__main__":
    main()
