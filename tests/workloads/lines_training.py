# SPDX-License-Identifier: Apache-2.0
"""Trainings on one GPU that tell what lines of Python cost and whether they are right: what lines-gpu records.

    python3 lines_training.py PROGRAM --out FILE [--steps N] [--seconds S]
    python3 lines_training.py PROGRAM --out FILE --switch stacks|looks --blocks N [--seconds S]
    python3 lines_training.py launches --out FILE --launcher timed_launch.so

PROGRAM: gpt (many small kernels), small-ddp (the same under DistributedDataParallel, of one rank, with loader workers), ddp (a
GPT of 100 M weights, a rank for each of two GPUs if there are two, each with loader workers), resnet (ResNet-152, the GPU is
the limit), loader (the data is), compiled (torch.compile with CUDA graphs). --switch makes blocks of 20 steps with and without
what it names by turns, in pairs whose order is drawn: Python stacks of calls, by the agent's `lanescopeStacks`; looks at
threads, by SIGSTOP and SIGCONT to the parent, which is watch_threads. FILE gets JSON: times of steps, or of pairs of blocks
(means and medians), in milliseconds, of the first rank. --device cpu is for trying the program where there is no GPU.
"""

import argparse
import contextlib
import ctypes
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

BLOCK = 20


class Tokens(torch.utils.data.Dataset):
    def __init__(self, work):
        self.work = work
        self.base = torch.randn(256, 256)

    def __len__(self):
        return 1 << 24

    def __getitem__(self, index):
        return torch.randint(0, 1000, (129,)), self.decode(index)

    def decode(self, index):
        image = self.base
        for _ in range(self.work):
            image = image.flip(index % 2).mul(1.01)
        return image[0, 0]


def gpt(layers, width):
    blocks = [nn.TransformerEncoderLayer(width, width // 64, 4 * width, batch_first=True, dropout=0.0) for _ in range(layers)]
    return nn.Sequential(nn.Embedding(1000, width), *blocks, nn.Linear(width, 1000))


class Ranks:
    """The processes of a training, of which the first starts the others and says how long all go on."""

    def __init__(self, program, device, rank):
        self.is_gpu, self.rank, self.others = device == "cuda", int(rank.split("@")[0]), []
        count = 1 if program != "ddp" else min(2, torch.cuda.device_count()) if self.is_gpu else 2
        meeting = rank.partition("@")[2] or f"/tmp/lines-ddp-{os.getpid()}"
        if self.rank == 0:
            self.others = [subprocess.Popen([sys.executable, __file__, *sys.argv[1:], "--rank", f"{other}@{meeting}"])
                           for other in range(1, count)]
        if self.is_gpu:
            torch.cuda.set_device(self.rank)
        torch.distributed.init_process_group("nccl" if self.is_gpu else "gloo", rank=self.rank, world_size=count,
                                             init_method=f"file://{meeting}")

    def agree(self, value):
        """What the first rank says."""
        said = torch.tensor(int(value), device="cuda" if self.is_gpu else "cpu")
        torch.distributed.broadcast(said, 0)
        return bool(said.item())

    def end(self):
        torch.distributed.destroy_process_group()
        for other in self.others:
            if other.wait() != 0:
                sys.exit(f"lines_training: another rank ended with {other.returncode}")


class Training:
    """`step` does one step and waits for the GPU."""

    def __init__(self, program, device, rank):
        torch.manual_seed(0)
        self.device, self.is_gpu, self.loader = device, device == "cuda", None
        self.ranks = Ranks(program, device, rank) if program in ("ddp", "small-ddp") else None
        self.range = torch.cuda.nvtx.range if torch.version.cuda else lambda _text: contextlib.nullcontext()
        if program == "resnet":
            sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
            import resnet152

            self.model = resnet152.resnet152(10).to(device, memory_format=torch.channels_last)
            batch, size = (12, 224) if self.is_gpu else (1, 32)
            self.inputs = torch.randn(batch, 3, size, size, device=device).contiguous(memory_format=torch.channels_last)
            self.wanted = torch.randint(0, 10, (batch,), device=device)
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
            self.loss = self.image_loss
        else:
            is_large = program == "ddp" and self.is_gpu
            self.model = (gpt(8, 1024) if is_large else gpt(4 if self.is_gpu else 1, 256)).to(device)
            self.tokens = torch.randint(0, 1000, (16, 129) if self.is_gpu else (1, 5), device=device)
            self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, foreach=is_large)
            self.loss = self.token_loss
        if self.ranks:
            self.model = nn.parallel.DistributedDataParallel(self.model)
        if program == "compiled":
            self.loss = torch.compile(self.token_loss, mode="reduce-overhead")
        if program == "loader" or self.ranks:
            self.loader = iter(torch.utils.data.DataLoader(
                Tokens(400 if program == "loader" else 0), batch_size=(32 if program == "ddp" else 16) if self.is_gpu else 1,
                num_workers=4 if program == "loader" else 2, pin_memory=self.is_gpu))

    def token_loss(self, tokens):
        output = self.model(tokens[:, :-1])
        return nn.functional.cross_entropy(output.reshape(-1, 1000), tokens[:, 1:].reshape(-1))

    def image_loss(self, _tokens):
        return nn.functional.cross_entropy(self.model(self.inputs), self.wanted)

    def next_batch(self):
        tokens, _image = next(self.loader)
        return tokens.to(self.device, non_blocking=True)

    def step(self, number):
        with self.range(f"step {number}"):
            tokens = self.next_batch() if self.loader else getattr(self, "tokens", None)
            loss = self.loss(tokens)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            if self.is_gpu:
                torch.cuda.synchronize()

    def milliseconds(self, steps, seconds):
        times, end = [], time.monotonic() + seconds
        for number in range(steps):
            if time.monotonic() > end:
                break
            begin = time.perf_counter()
            self.step(number)
            times.append((time.perf_counter() - begin) * 1e3)
        return times


def agent_switch():
    """The agent's function that switches stacks; None where it is not loaded."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "liblanescope-agent" in line}
    if not paths:
        return None
    return ctypes.CDLL(paths.pop()).lanescopeStacks


def switch_of(name, ranks=None):
    if ranks and ranks.rank > 0:
        return lambda _is_on: None
    if name == "looks":
        return lambda is_on: os.kill(os.getppid(), signal.SIGCONT if is_on else signal.SIGSTOP)
    switch, end = agent_switch(), time.monotonic() + 5
    while switch and not switch(1) and time.monotonic() < end:
        time.sleep(0.1)
    if switch is None or not switch(1):
        sys.exit("lines_training: there is no agent in this process that reads stacks")
    return switch


def pairs_of_blocks(training, switch, blocks, seconds):
    """[[ms a step with it, ms without], ...], of blocks' means and of their medians, which what the machine does to single
    steps does not move; the order within each pair is drawn."""
    drawn, means, medians, end = random.Random(1), [], [], time.monotonic() + seconds
    for _ in range(blocks // 2):
        mean, median = [0.0, 0.0], [0.0, 0.0]
        for is_on in drawn.sample([1, 0], 2):
            switch(is_on)
            times = training.milliseconds(BLOCK, 1e9)
            mean[1 - is_on], median[1 - is_on] = statistics.mean(times), statistics.median(times)
        means.append(mean)
        medians.append(median)
        is_over = time.monotonic() > end
        if training.ranks.agree(is_over) if training.ranks else is_over:
            break
    switch(1)
    return {"pairs": means, "pairsOfMedians": medians}


def timed_launches(path, launches):
    """[{"frames", "on": [ns], "off": [ns]}] of so many launches at stacks of some depths, from eight lines each."""
    torch.zeros(1, device="cuda")
    library, switch = ctypes.CDLL(path), switch_of("stacks")
    error = library.timedBegin()
    if error:
        sys.exit(f"lines_training: the driver answers {error} to an empty kernel")
    launch, take = library.timedLaunch, library.timedTake
    take.restype = ctypes.POINTER(ctypes.c_uint32)

    def burst():
        for _ in range(25):
            launch()
            launch()
            launch()
            launch()
            launch()
            launch()
            launch()
            launch()

    def below(depth):
        return burst() if depth <= 0 else below(depth - 1)

    def taken():
        count = ctypes.c_size_t()
        values = take(ctypes.byref(count))
        return values[: count.value]

    result, drawn = [], random.Random(2)
    for frames in (10, 25, 45):
        depth = frames - 5
        times = {0: [], 1: []}
        for pair in range(launches // 200 + 10):
            for is_on in drawn.sample([1, 0], 2):
                switch(is_on)
                below(depth)
                torch.cuda.synchronize()
                values = taken()
                if pair >= 10:
                    times[is_on] += values
            if pair % 10 == 0:
                time.sleep(0.01)  # for the agent to write down what was recorded
        result.append({"frames": frames, "on": times[1], "off": times[0]})
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", choices=["gpt", "small-ddp", "ddp", "resnet", "loader", "compiled", "launches"])
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warm-up", type=int, default=10)
    parser.add_argument("--switch", choices=["stacks", "looks"])
    parser.add_argument("--blocks", type=int, default=120)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--launcher")
    parser.add_argument("--launches", type=int, default=200_000)
    parser.add_argument("--rank", default="0", help="RANK@FILE, for the ranks that the first one starts")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    if options.program == "launches":
        said = {"launches": timed_launches(options.launcher, options.launches)}
    else:
        if options.device == "cpu":
            torch.set_num_threads(1)
        training = Training(options.program, options.device, options.rank)
        for number in range(options.warm_up):
            training.step(-1 - number)
        if options.switch:
            said = pairs_of_blocks(training, switch_of(options.switch, training.ranks), options.blocks, options.seconds)
        else:
            said = {"steps": training.milliseconds(options.steps, options.seconds)}
        if "steps" in said:
            print(f"{options.program}: median {statistics.median(said['steps']):.3f} ms a step", flush=True)
        if training.ranks:
            training.ranks.end()
            if training.ranks.rank > 0:
                return
    with open(options.out, "w") as file:
        json.dump(said, file)


if __name__ == "__main__":
    main()
