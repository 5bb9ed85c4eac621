# SPDX-License-Identifier: Apache-2.0
"""Blind programs in which nothing is wrong, by the model and the way of training."""

import os

from .small_models import (Recommender, Training, adam, blind_clean, convolution, decoder, denoiser, mlp, of, pairs,
                           recurrent, residual)
from .common import PROGRAMS


@blind_clean("b03")
def _(run):
    """A net of residual blocks whose gradients are clipped on the GPU."""
    net = mlp(run)

    def step(number):
        net.backward(*net.batch(number))
        run.torch.nn.utils.clip_grad_norm_(net.model.parameters(), 1.0)
        net.update()

    return run.steps(step, step_range="step {}")


@blind_clean("b04")
def _(run):
    net = convolution(run, depth=9)
    run.torch.backends.cudnn.benchmark = True
    return run.steps(net.step, step_range="train {}")


@blind_clean("b06")
def _(run):
    net = decoder(run)
    return run.steps(net.step)


@blind_clean("b07")
def _(run):
    """A language model in float16 by autocast, with a scaled loss; the scale stays on the GPU."""
    torch = run.torch
    net = decoder(run, layers=5, dtype=torch.float32)
    scaler = torch.amp.GradScaler(run.device, init_scale=1024.0, enabled=run.cuda)

    def step(number):
        tokens, target = net.batch(number)
        with torch.autocast(run.device, torch.float16 if run.cuda else torch.bfloat16):
            loss = net.loss(net.model(tokens), target)
        scaler.scale(loss).backward()
        scaler.step(net.optimizer)
        scaler.update()
        net.optimizer.zero_grad(set_to_none=True)

    return run.steps(step, step_range="step {}")


@blind_clean("b09")
def _(run):
    return run.steps(recurrent(run).step, step_range="step {}", limit=60)


@blind_clean("b11")
def _(run):
    """Two nets against each other, each with an optimizer."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(9)
    count, wide = of(run, 128, 4), of(run, 128, 8)

    def larger(entering, leaving):
        return nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(entering, leaving, 3, padding=1),
                             nn.BatchNorm2d(leaving), nn.ReLU())

    def smaller(entering, leaving):
        return nn.Sequential(nn.Conv2d(entering, leaving, 4, stride=2, padding=1), nn.LeakyReLU(0.2))

    maker = nn.Sequential(*[larger(wide, wide) for _ in range(3)], nn.Conv2d(wide, 3, 3, padding=1), nn.Tanh())
    judge = nn.Sequential(smaller(3, wide), smaller(wide, 2 * wide), smaller(2 * wide, 2 * wide), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(2 * wide, 1))
    for net in (maker, judge):
        net.to(run.device, torch.bfloat16, memory_format=torch.channels_last)
    makes, judges = adam(run, maker.parameters()), adam(run, judge.parameters())
    real = torch.randn(count, 3, 64, 64, device=run.device).to(torch.bfloat16, memory_format=torch.channels_last)
    softplus = nn.functional.softplus

    def step(number):
        seeds = torch.randn(count, wide, 8, 8, device=run.device).to(torch.bfloat16, memory_format=torch.channels_last)
        made = maker(seeds)
        (softplus(-judge(real)).mean() + softplus(judge(made.detach())).mean()).backward()
        judges.step()
        judges.zero_grad(set_to_none=True)
        softplus(-judge(made)).mean().backward()
        makes.step()
        makes.zero_grad(set_to_none=True)
        judges.zero_grad(set_to_none=True)

    return run.steps(step, step_range="step {}")


@blind_clean("b14")
def _(run):
    net = Recommender(run)
    features = [run.pinned(run.torch.randn(net.rows, of(run, 64, net.dense)).to(run.torch.bfloat16)) for _ in range(2)]
    rest = run.torch.randn(net.rows, net.dense - features[0].shape[1], device=run.device, dtype=run.torch.bfloat16)

    def step(number):
        net.step(run.torch.cat([features[number % 2].to(run.device, non_blocking=True), rest], 1))

    return run.steps(step, step_range="step {}")


@blind_clean("b23")
def _(run):
    step = denoiser(run, channels=256, count=48)
    return run.steps(lambda number: step(number), step_range="iteration {}")


@blind_clean("b27")
def _(run):
    """A policy that gathers states from a world on the GPU and then learns from them."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(10)
    width, count = of(run, 2048, 32), of(run, 8192, 16)
    policy = nn.Sequential(nn.Linear(256, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width),
                           nn.GELU(), nn.Linear(width, 64)).to(run.device, torch.bfloat16)
    optimizer = adam(run, policy.parameters())
    moves = torch.randn(64, 256, device=run.device, dtype=torch.bfloat16) / 8
    state = torch.randn(count, 256, device=run.device, dtype=torch.bfloat16)

    def step(number):
        seen, now = [], state
        with run.range("rollout"), torch.no_grad():
            for _ in range(6):
                action = policy(now)
                action = action + torch.randn_like(action) * 0.1
                after = torch.tanh(now + action @ moves)
                seen.append((now, action, after.float().mean(1)))
                now = after
        with run.range("learn"):
            for before, action, reward in seen:
                error = (policy(before) - action).float().square().mean(1)
                (error * reward).mean().backward()
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)

    return run.steps(step, step_range="step {}")


@blind_clean("b28")
def _(run):
    """Gradients of four batches are added before an update."""
    net = decoder(run, layers=4, batch=8)

    def step(number):
        for part in range(4):
            net.backward(*net.batch(number + part))
        net.update()

    return run.steps(step, step_range="update {}", limit=100)


@blind_clean("b30")
def _(run):
    """Blocks whose elementwise part torch.compile has made one kernel."""
    torch = run.torch
    width, rows = of(run, 4096, 32), of(run, 12288, 16)
    weights = [torch.randn(width, width, device=run.device, dtype=torch.bfloat16) / width ** 0.5 for _ in range(6)]
    values = torch.randn(rows, width, device=run.device, dtype=torch.bfloat16)

    def gated(values, product):
        scaled = product.float() * torch.rsqrt(product.float().square().mean(1, keepdim=True) + 1e-6)
        return (values + torch.nn.functional.silu(scaled) * 0.5).to(torch.bfloat16)

    fast = torch.compile(gated, backend="inductor" if run.cuda else "eager")

    def request(number):
        found = values
        with torch.no_grad():
            for weight in weights:
                found = fast(found, found @ weight)

    return run.steps(request, step_range="request {}")


# Compiles in this process instead of starting one for each core.
PROGRAMS["b30"]["before"] = lambda options: os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")


@blind_clean("b31")
def _(run):
    """A whole training step of convolutions as one CUDA graph."""
    torch, net = run.torch, convolution(run, norm=False, count=48)
    net.optimizer = torch.optim.SGD(net.model.parameters(), lr=1e-5)
    values, target = net.batch(0)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            net.step(0, (values, target))
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        net.backward(values, target)
        net.optimizer.step()

    def step(number):
        values.copy_(net.batches[number % 3][0], non_blocking=True)
        graph.replay()

    return run.steps(step, step_range="step {}")


@blind_clean("b42")
def _(run):
    """Towers of texts and of images, whose similarity of all with all is the loss."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(11)
    width, rows = of(run, 1024, 32), of(run, 8192, 16)
    towers = nn.ModuleList([nn.Sequential(*residual(run, width, 4 * width, 3)) for _ in range(2)])
    towers = towers.to(run.device, torch.bfloat16)
    optimizer = adam(run, towers.parameters())
    both = [torch.randn(rows, width, device=run.device, dtype=torch.bfloat16) for _ in range(2)]
    same = torch.arange(rows, device=run.device)

    def step(number):
        left, right = (nn.functional.normalize(tower(values), dim=1) for tower, values in zip(towers, both))
        nn.functional.cross_entropy(left @ right.T * 20, same).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return run.steps(step, step_range="step {}")


@blind_clean("b43")
def _(run):
    """A small net learns from the outputs of a large one."""
    torch = run.torch
    teacher, student = mlp(run, depth=8), mlp(run, depth=3)

    def loss(found, wanted):
        return torch.nn.functional.mse_loss(found.float(), wanted.float())

    student.loss = loss

    def step(number):
        values, _ = student.batch(number)
        with torch.no_grad():
            wanted = teacher.model(values)
        student.step(number, (values, wanted))

    return run.steps(step, step_range="step {}")


@blind_clean("b45")
def _(run):
    """Nodes of a graph gather from their neighbours, which are spread at random."""
    torch, nn = run.torch, run.torch.nn
    torch.manual_seed(12)
    nodes, edges, width = of(run, 60_000, 40), of(run, 600_000, 100), of(run, 128, 16)
    layers = nn.ModuleList([nn.Linear(width, width) for _ in range(3)]).to(run.device)
    optimizer = adam(run, layers.parameters())
    values, target = torch.randn(nodes, width), torch.randint(0, width, (nodes,))
    ends = torch.randint(0, nodes, (2, edges), device=run.device)
    torch.backends.cuda.matmul.allow_tf32 = True

    class Graph(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, values):
            for layer in self.layers:
                near = torch.zeros_like(values).index_add(0, ends[1], values.index_select(0, ends[0]))
                values = nn.functional.relu(layer(values + near * 0.1))
            return values

    net = Training(run, Graph(), pairs(run, values, target, 1))
    net.optimizer = optimizer
    batch = net.batch(0)
    return run.steps(lambda number: net.step(number, batch), step_range="epoch {}")
