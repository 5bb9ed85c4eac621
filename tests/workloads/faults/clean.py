# SPDX-License-Identifier: Apache-2.0
"""Trainings and inferences in which nothing is wrong: the GPU is busy with what it is there for, nearly all the time."""

import os

from .common import PROGRAMS, Net, clean
from .inputs import loader_of, shaped
from .xla import by_jax


@clean("clean-gemm")
def _(run):
    net = Net(run)
    return run.steps(lambda i: net.step(i))


@clean("clean-ranges")
def _(run):
    net = Net(run)
    return run.steps(lambda i: net.step(i), step_range="step {}")


@clean("clean-nested-ranges")
def _(run):
    net = Net(run, depth=12)

    def step(number):
        with run.range("forward"):
            loss = run.torch.nn.functional.cross_entropy(net.model(net.batch(number)).float(), net.labels)
        with run.range("backward"):
            loss.backward()
        with run.range("optimizer"):
            net.update()

    return run.steps(step, step_range="train_step")


def optimizer(run, model):
    return run.torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True if run.cuda else None)


@clean("clean-conv")
def _(run):
    torch, nn, channels, side = run.torch, run.torch.nn, run.size(128), 128 if run.cuda else 16
    torch.backends.cudnn.benchmark = True
    layers = [nn.Conv2d(3, channels, 3, padding=1)]
    for _ in range(6):
        layers += [nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU()]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))
    model = model.to(run.device, torch.bfloat16, memory_format=torch.channels_last)
    images = torch.randn(run.size(64), 3, side, side, device=run.device).to(torch.bfloat16, memory_format=torch.channels_last)
    optimize = optimizer(run, model)

    def step(number):
        model(images).float().square().mean().backward()
        optimize.step()
        optimize.zero_grad()

    return run.steps(step, step_range="step {}")


@clean("clean-amp")
def _(run):
    net, torch = Net(run, depth=6, dtype=run.torch.float32), run.torch
    torch.backends.cuda.matmul.allow_tf32 = True

    def step(number):
        with torch.autocast(run.device, torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(net.model(net.batch(number)), net.labels)
        loss.backward()
        net.update()

    return run.steps(step, step_range="step {}")


@clean("clean-transformer")
def _(run):
    torch, nn, width = run.torch, run.torch.nn, run.size(256) // 4 * 4 * 4
    blocks = [nn.TransformerEncoderLayer(width, max(width // 128, 4), 4 * width, batch_first=True, dropout=0.0, activation="gelu")
              for _ in range(6)]
    model = nn.Sequential(nn.Embedding(1000, width), *blocks, nn.Linear(width, 1000)).to(run.device, torch.bfloat16)
    optimize = optimizer(run, model)
    tokens = torch.randint(0, 1000, (run.size(64), run.size(512)), device=run.device)

    def step(number):
        torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward()
        optimize.step()
        optimize.zero_grad()

    return run.steps(step, step_range="step {}")


@clean("clean-loader")
def _(run):
    net = Net(run)
    batches = iter(loader_of(run, net, 1, 4))
    return run.steps(lambda i: net.step(i, shaped(run, net, next(batches))))


@clean("clean-graph-training")
def _(run):
    torch, net = run.torch, Net(run)
    inputs = net.batch(0)
    net.optimizer = torch.optim.SGD(net.model.parameters(), lr=1e-5)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            net.step(0, inputs)
    torch.cuda.current_stream().wait_stream(side)
    net.optimizer.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        net.backward(inputs)
        net.optimizer.step()

    def step(number):
        inputs.copy_(net.batches[number % 4], non_blocking=True)
        graph.replay()

    return run.steps(step, step_range="step {}")


@clean("clean-graph-inference")
def _(run):
    torch, net = run.torch, Net(run, width=4096, depth=16, rows=4096)
    inputs = net.batch(0)
    with torch.no_grad():
        for _ in range(3):
            net.model(inputs)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            net.model(inputs)
    return run.steps(lambda i: graph.replay(), step_range="request {}", limit=400)


@clean("clean-inference")
def _(run):
    net = Net(run, depth=24)
    with run.torch.no_grad():
        return run.steps(lambda i: net.model(net.batch(i)), step_range="infer {}")


@clean("clean-graph-decode")
def _(run):
    """A prompt of many tokens at once, then tokens one by one for a batch of 512, each a launch of one graph."""
    torch, net = run.torch, Net(run, width=4096, depth=8, rows=512)
    long, one = Net(run, width=4096, depth=8, rows=16384).batch(0), net.batch(0)
    with torch.no_grad():
        for _ in range(3):
            net.model(one)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            net.model(one)

        def request(number):
            net.model(long)
            for _ in range(16):
                graph.replay()

        return run.steps(request, step_range="request {}", limit=100)


@clean("clean-compiled")
def _(run):
    torch = run.torch
    values = [torch.randn(run.size(16384), run.size(16384), device=run.device) for _ in range(2)]

    def mixed(left, right):
        value = torch.nn.functional.gelu(left * 1.5 + right)
        return torch.tanh(value) * torch.sigmoid(right) + left

    fast = torch.compile(mixed, backend="inductor" if run.cuda else "eager")

    def step(number):
        value = values[0]
        for _ in range(6):
            value = fast(value, values[1])

    return run.steps(step, step_range="step {}")


@clean("clean-prefetch")
def _(run):
    net, torch = Net(run, depth=12), run.torch
    large = [run.pinned(torch.empty(run.size(128 << 20), dtype=torch.uint8)) for _ in range(2)]
    there = [torch.empty(run.size(128 << 20), dtype=torch.uint8, device=run.device) for _ in range(2)]
    copies, done = torch.cuda.Stream(), [None, None]
    # A copy of its own on the stream of the kernels would wait for the large one before it.
    inputs = net.batch(0)

    def fetch(number):
        with torch.cuda.stream(copies):
            there[number % 2].copy_(large[number % 2], non_blocking=True)
            done[number % 2] = torch.cuda.Event()
            done[number % 2].record()

    fetch(0)

    def step(number):
        if done[number % 2]:
            torch.cuda.current_stream().wait_event(done[number % 2])
        copies.wait_stream(torch.cuda.current_stream())
        fetch(number + 1)
        net.step(number, inputs)

    return run.steps(step, step_range="step {}")


@clean("clean-streams")
def _(run):
    """Two halves of a batch on two streams."""
    net, torch = Net(run, rows=4096), run.torch
    side = [torch.cuda.Stream(), torch.cuda.Stream()]
    inputs = [net.batch(0), net.batch(1)]

    def step(number):
        for each, values in zip(side, inputs):
            each.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(each), torch.no_grad():
                net.model(values)
                net.model(values)
        for each in side:
            torch.cuda.current_stream().wait_stream(each)

    return run.steps(step, step_range="step {}")


@clean("clean-accumulation")
def _(run):
    net = Net(run, depth=4)

    def step(number):
        for which in range(4):
            net.backward(net.batch(which))
        net.update()

    return run.steps(step, step_range="step {}")


@clean("clean-lstm")
def _(run):
    torch = run.torch
    model = torch.nn.LSTM(run.size(1024), run.size(1024), num_layers=2).to(run.device, torch.bfloat16)
    optimize = optimizer(run, model)
    values = torch.randn(run.size(64), run.size(2048), run.size(1024), device=run.device, dtype=torch.bfloat16)

    def step(number):
        model(values)[0].float().square().mean().backward()
        optimize.step()
        optimize.zero_grad()

    return run.steps(step, step_range="step {}", limit=60)


@clean("clean-recomputed")
def _(run):
    from torch.utils.checkpoint import checkpoint_sequential

    net, torch = Net(run), run.torch

    def step(number):
        outputs = checkpoint_sequential(net.model, 3, net.batch(number), use_reentrant=False)
        torch.nn.functional.cross_entropy(outputs.float(), net.labels).backward()
        net.update()

    return run.steps(step)


@clean("clean-two-models")
def _(run):
    first, second = Net(run, depth=5), Net(run, depth=5, rows=8192)

    def step(number):
        first.step(number)
        second.step(number)

    return run.steps(step, step_range="batch {}")


@clean("clean-quiet-log")
def _(run):
    """The loss goes to the CPU every 50th step, by a copy that nobody waits for."""
    net, torch = Net(run), run.torch
    shown = run.pinned(torch.zeros(1))

    def step(number):
        loss = net.step(number)
        if number % 50 == 49:
            shown.copy_(loss.detach().reshape(1), non_blocking=True)

    return run.steps(step, step_range="step {}")


@clean("clean-jax-training")
def _(run):
    return by_jax(run, True)


@clean("clean-jax-inference")
def _(run):
    return by_jax(run, False)


# Compiles in this process instead of starting one for each core.
PROGRAMS["clean-compiled"]["before"] = lambda options: os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
