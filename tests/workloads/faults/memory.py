# SPDX-License-Identifier: Apache-2.0
"""Faults of the GPU's memory, and of who else uses the GPU."""

import os
import subprocess
import sys
import tempfile
import time

from .common import PROGRAMS, Net, Skipped, program, without_recorder


@program("empty-cache", "torch.cuda.empty_cache() each step gives all memory back, so that each step allocates it anew",
         "the whole step: cudaFree at its end, cudaMalloc in forward and backward")
def _(run):
    net = Net(run, width=2048, depth=24)

    def step(number):
        net.step(number)
        run.torch.cuda.empty_cache()

    return run.steps(step, lambda i: net.step(i), "step {}", limit=80)


@program("alloc-retries", "batches that grow each step find no cached block, run into the limit of memory, and free all to "
         "allocate anew", "the start of a step: cudaMalloc that fails, cudaFree of the cache, cudaMalloc")
def _(run):
    net, torch = Net(run), run.torch
    unit = 1 << 20 if run.cuda else 1 << 12
    for number in range(2):
        net.step(number)
    total = torch.cuda.get_device_properties(0).total_memory
    used = torch.cuda.memory_reserved() if run.cuda else 0
    torch.cuda.set_per_process_memory_fraction((used + 5000 * unit) / total)

    def step(number, grows=True):
        for part in range(4):
            kept = torch.empty((700 + part * 3 + (8 * number if grows else 0)) * unit, dtype=torch.uint8, device=run.device)
            kept[:unit].fill_(1)
            if part % 2 == 0:
                other = kept
        del kept, other
        net.step(number)

    truth = run.steps(step, lambda i: step(i, False), "step {}", limit=80)
    truth["allocRetries"] = torch.cuda.memory_stats().get("num_alloc_retries", 0)
    return truth


PEER = """
import os, sys, time, torch
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
while os.getppid() == int(sys.argv[1]):
    if os.path.exists(sys.argv[2]):
        for _ in range(20):
            a @ a
        torch.cuda.synchronize()
    else:
        open(sys.argv[2] + ".ready", "w").close()
        time.sleep(0.005)
"""


@program("peer-process", "another process, which is not recorded, computes on the same GPU, and both take turns",
         "the whole step: every kernel seems to take longer, or waits for its turn")
def _(run):
    if not run.cuda:
        raise Skipped("needs a GPU")
    net = Net(run)
    path = os.path.join(run.state[1].name, "go")
    end = time.monotonic() + 30
    while not os.path.exists(path + ".ready") and time.monotonic() < end:
        time.sleep(0.05)

    def step(number):
        net.step(number)

    for _ in range(4):
        net.step(0)
    alone = run.timed(lambda: net.step(0), 6)
    open(path, "w").close()
    time.sleep(0.2)
    truth = run.steps(step, None, "step {}", warm_up=0, limit=120)
    return {**truth, "withoutMs": round(alone, 3), "costMs": round(truth["stepMs"] - alone, 3), "firstStep": 0}


def start_peer(options):
    folder = tempfile.TemporaryDirectory()
    command = [sys.executable, "-c", PEER, str(os.getpid()), os.path.join(folder.name, "go")]
    return (subprocess.Popen(command, env=without_recorder()) if options.device == "cuda" else None), folder


def end_peer(state):
    if state[0]:
        state[0].terminate()
        state[0].wait()
    state[1].cleanup()


PROGRAMS["peer-process"]["before"], PROGRAMS["peer-process"]["after"] = start_peer, end_peer
