# SPDX-License-Identifier: Apache-2.0
"""Faults that are held back: nobody who tunes the rules looks at their recordings or answers before the end."""

import os
import tempfile
import time

from .common import Net, busy, program
from .inputs import loader_of, shaped
from .xla import by_jax


def held(name, fault, where):
    return program(name, fault, where, held_back=True)


@held("ping-pong", "the same activation of 256 MB goes to the CPU and back in each step, though it is needed on the GPU only",
      "the middle of a step: a copy DtoH and then a copy HtoD of the same bytes")
def _(run):
    net, torch = Net(run), run.torch
    held_values = torch.randn(run.size(1 << 26), device=run.device)
    host = run.pinned(torch.empty(held_values.shape))

    def step(number):
        loss = net.backward(net.batch(number))
        host.copy_(held_values, non_blocking=True)
        held_values.copy_(host, non_blocking=True)
        net.update()
        return loss

    return run.steps(step, lambda i: net.step(i), "step {}")


@held("mask-sync", "each of 60 layers picks rows by a boolean mask, whose count the CPU waits for",
      "the forward pass: aten::nonzero and a wait for the GPU in each layer")
def _(run):
    net = Net(run, width=1024, depth=30, rows=16384)
    torch = run.torch
    values = torch.randn(net.rows, 256, device=run.device)

    def step(number, waits=True):
        kept = values
        for layer in range(60):
            mask = kept[:, layer] > -2
            kept = kept[mask] * 1.01 if waits else torch.where(mask[:, None], kept, 0) * 1.01
            if waits:
                kept = torch.nn.functional.pad(kept, (0, 0, 0, net.rows - kept.shape[0]))
        net.step(number)

    return run.steps(step, lambda i: step(i, False), "step {}", limit=30)


@held("eager-decode", "tokens are decoded one at a time without a CUDA graph, so that the GPU waits for launches",
      "the whole of a request: launch-bound kernels of some microseconds")
def _(run):
    torch, nn = run.torch, run.torch.nn
    layers = nn.Sequential(*[nn.Sequential(nn.LayerNorm(1024), nn.Linear(1024, 2048), nn.GELU(), nn.Linear(2048, 1024))
                             for _ in range(16 if run.cuda else 2)]).to(run.device, torch.bfloat16)
    words = torch.randn(4000, 1024, device=run.device, dtype=torch.bfloat16)
    state = torch.randn(1, 1024, device=run.device, dtype=torch.bfloat16)

    def decode():
        value = state
        for layer in layers:
            value = value + layer(value)
        state.copy_(words[(value @ words.T).argmax(1)])

    with torch.no_grad():
        for _ in range(3):
            decode()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            decode()
        good = run.timed(graph.replay, 20)

        def request(number):
            for _ in range(10):
                decode()

        truth = run.steps(request, None, "request {}", limit=40)
    truth["costMs"], truth["withoutMs"] = round(truth["stepMs"] - good * 10, 3), round(good * 10, 3)
    return truth


@held("offloaded-optimizer", "the optimizer works on the CPU: gradients go there and parameters come back in each step",
      "the end of a step: copies DtoH of all gradients, the optimizer on the CPU, copies HtoD of all parameters")
def _(run):
    net, torch = Net(run, width=2048, depth=4), run.torch
    there = [each.detach().float().cpu() for each in net.model.parameters()]
    work = torch.optim.SGD(there, lr=1e-6, momentum=0.9, foreach=False)

    def step(number):
        net.backward(net.batch(number))
        for mine, theirs in zip(net.model.parameters(), there):
            theirs.grad = mine.grad.cpu().float()
            mine.grad = None
        work.step()
        with torch.no_grad():
            for mine, theirs in zip(net.model.parameters(), there):
                mine.copy_(theirs)

    return run.steps(step, lambda i: net.step(i), "step {}", limit=60)


@held("fsync-log", "each step appends to a log and waits with os.fsync until the disk has it",
      "the end of a step: the main thread waits for the disk")
def _(run):

    net = Net(run)
    with tempfile.NamedTemporaryFile(dir=os.environ.get("FAULTS_DISK") or "/var/tmp") as file:

        def write(times):
            for _ in range(times):
                file.write(os.urandom(256 << 10))
                file.flush()
                os.fsync(file.fileno())

        begin = time.perf_counter()
        write(4)
        times = max(1, int(4 * 25e-3 / (time.perf_counter() - begin)))

        def step(number):
            net.step(number)
            write(times)

        run.extra = {"fsyncsPerStep": times}
        return run.steps(step, lambda i: net.step(i), "step {}")


@held("epoch-workers", "epochs of 15 batches start four loader workers anew each time, so that the GPU waits at each start",
      "every 15th step: next() of a new DataLoader iterator starts processes and waits for their first batch")
def _(run):

    net, spent = Net(run), []
    data = loader_of(run, net, 2, 4, count=15, persistent_workers=False)
    state = [iter(())]

    def step(number):
        batch = next(state[0], None)
        if batch is None:
            run.sync()
            begin = time.perf_counter()
            state[0] = iter(data)
            batch = next(state[0])
            spent.append((time.perf_counter() - begin) * 1e3)
        net.step(number, shaped(run, net, batch))

    truth = run.steps(step, None)
    each = sum(spent[1:]) / max(len(spent) - 1, 1)
    return {**truth, "every": 15, "costOfOneMs": round(each, 3), "costMs": round(each / 15, 3)}


@held("no-tensor-cores", "the matrix products run in float32 without TF32, so not on the tensor cores",
      "forward and backward: the kernels of the products, sgemm of float32")
def _(run):
    net, torch = Net(run, width=2048, depth=6, rows=4096, dtype=run.torch.float32), run.torch

    def good(number):
        torch.backends.cuda.matmul.allow_tf32 = True
        net.step(number)

    def step(number):
        torch.backends.cuda.matmul.allow_tf32 = False
        net.step(number)

    return run.steps(step, good, "step {}")


@held("uneven-loader", "the one loader worker needs 150 ms for every 8th batch and has no room to work ahead",
      "every 8th step: next() of the DataLoader waits for its worker")
def _(run):
    torch = run.torch
    net = Net(run)

    class Rows(torch.utils.data.Dataset):
        base = torch.randn(net.rows, net.inputs).to(net.dtype)

        def __len__(self):
            return 1 << 20

        def __getitem__(self, index):
            busy(150 if index % 8 == 7 else 2)
            return self.base


    batches = iter(torch.utils.data.DataLoader(Rows(), batch_size=None, num_workers=1, prefetch_factor=2,
                                               pin_memory=run.cuda))
    waits = []

    def step(number):
        begin = time.perf_counter()
        batch = next(batches)
        waits.append((time.perf_counter() - begin) * 1e3)
        net.step(number, shaped(run, net, batch))

    truth = run.steps(step, None, "step {}")
    return {**truth, "every": 8, "costMs": round(sum(waits[10:]) / len(waits[10:]), 3)}


@held("jax-recompile", "a small function of JAX gets another shape in each step and is compiled each time while the GPU waits",
      "the end of a step: jax.jit traces and compiles in the main thread")
def _(run):
    made = []

    def measure(number, jax):
        if not made:
            made.append(jax.jit(lambda values: (values * 2 + 1).sum()))
        made[0](jax.numpy.ones((100 + number, 16))).block_until_ready()

    return by_jax(run, True, measure)
