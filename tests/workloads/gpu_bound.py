#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that keep the GPU busy, each before and after the change that `lanescope explain` proposes.

usage: gpu_bound.py CASE before|after [--seconds S] | --list

Prints a line of JSON with the mean step in milliseconds by the program's own clock.
"""

import argparse
import json
import time

CASES = {}


def case(rule):
    """Adds a function that returns the step of a case; `after` tells which of both. `rule` is the expected finding."""
    def add(function):
        CASES[function.__name__] = (function, rule)
        return function
    return add


def training(model, batch, loss, **options):
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, **{"fused": True, **options})

    def step():
        loss(model(batch)).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step


def square(values):
    return values.float().square().mean()


def perceptron(width, depth, kind, act=None):
    import torch

    layers = []
    for _ in range(depth):
        layers += [torch.nn.Linear(width, width), act() if act else torch.nn.ReLU()]
    return torch.nn.Sequential(*layers).to("cuda", kind)


@case("single_precision")
def precision(after):
    import torch

    torch.set_float32_matmul_precision("high" if after else "highest")
    return training(perceptron(4096, 6, torch.float32), torch.randn(4096, 4096, device="cuda"), square)


@case("double_precision")
def double(after):
    import torch

    weight = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    whitens = torch.eye(2048, device="cuda", dtype=torch.bfloat16 if after else torch.float64)
    values = torch.randn(2048, 4096, device="cuda", dtype=torch.bfloat16)

    def step():
        found = values
        for _ in range(16):
            found = found @ weight
        return whitens @ found.to(whitens.dtype)
    return step


@case("written_attention")
def attention(after):
    import torch

    class Block(torch.nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads, self.norm = heads, torch.nn.LayerNorm(width)
            self.enter, self.leave = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)

        def forward(self, values):
            count, length, width = values.shape
            heads = self.enter(self.norm(values)).view(count, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            query, key, value = heads[0], heads[1], heads[2]
            if after:
                found = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            else:
                scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
                mask = torch.ones(length, length, device=values.device, dtype=torch.bool).triu(1)
                found = torch.softmax(scores.masked_fill(mask, float("-inf")), -1) @ value
            return values + self.leave(found.transpose(1, 2).reshape(count, length, width))

    model = torch.nn.Sequential(*[Block(1024, 16) for _ in range(6)]).to("cuda", torch.bfloat16)
    return training(model, torch.randn(8, 1024, 1024, device="cuda", dtype=torch.bfloat16), square)


@case("channels_first")
def layout(after):
    import torch
    from torch import nn

    layers = [nn.Conv2d(3, 128, 3, padding=1)]
    for _ in range(6):
        layers += [nn.Conv2d(128, 128, 3, padding=1, bias=False), nn.BatchNorm2d(128), nn.ReLU()]
    form = torch.channels_last if after else torch.contiguous_format
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1)).to("cuda", torch.bfloat16, memory_format=form)
    images = torch.randn(32, 3, 128, 128, device="cuda", dtype=torch.bfloat16).to(memory_format=form)
    return training(model, images, square)


@case("unfused_chains")
def chain(after):
    import torch
    from torch import nn

    class Gelu(nn.Module):
        def forward(self, values):
            if after:
                return nn.functional.gelu(values, approximate="tanh")
            return 0.5 * values * (1 + torch.tanh(0.79788456 * (values + 0.044715 * torch.pow(values, 3))))

    model = perceptron(2048, 8, torch.bfloat16, Gelu)
    return training(model, torch.randn(32768, 2048, device="cuda", dtype=torch.bfloat16), square)


@case("unfused_optimizer")
def optimizer(after):
    import torch

    model = perceptron(4096, 24, torch.float32)
    torch.set_float32_matmul_precision("high")
    options = {"fused": True} if after else {"fused": False, "foreach": False}
    return training(model, torch.randn(512, 4096, device="cuda"), square, **options)


@case("kernel_loop")
def averages(after):
    import torch

    model = perceptron(4096, 24, torch.bfloat16)
    slow = [each.detach().clone() for each in model.parameters()]
    train = training(model, torch.randn(1024, 4096, device="cuda", dtype=torch.bfloat16), square)

    @torch.no_grad()
    def step():
        with torch.enable_grad():
            train()
        if after:
            torch._foreach_lerp_(slow, list(model.parameters()), 0.01)
            return
        for kept, new in zip(slow, model.parameters()):
            kept.mul_(0.99)
            kept.add_(new * 0.01)
    return step


@case("unaligned_products")
def sizes(after):
    import torch
    from torch import nn

    width, words = (1024, 32768) if after else (1023, 32767)
    model = nn.Sequential(nn.Linear(1024, width), nn.ReLU(), nn.Linear(width, words)).to("cuda", torch.bfloat16)
    return training(model, torch.randn(4096, 1024, device="cuda", dtype=torch.bfloat16), square)


@case("idle_sms")
def samples(after):
    import torch

    weights = [torch.randn(512, 512, device="cuda", dtype=torch.bfloat16) / 23 for _ in range(4)]
    values = torch.randn(64, 16, 512, device="cuda", dtype=torch.bfloat16)

    def one(part):
        for weight in weights:
            part = torch.relu(part @ weight)
        return part

    def whole():
        return one(values) if after else torch.stack([one(each) for each in values])

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        whole()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        whole()

    def step():
        for _ in range(8):
            graph.replay()
    return step


@case("irregular_work")
def sort(after):
    import torch

    weight = torch.randn(1024, 32768, device="cuda", dtype=torch.bfloat16)
    values = torch.randn(2048, 1024, device="cuda", dtype=torch.bfloat16)

    def step():
        scores = values @ weight
        return scores.topk(8)[0] if after else scores.sort(descending=True)[0][:, :8]
    return step


@case("irregular_work")
def lookup(after):
    import torch

    table = torch.randn(100_000, 512, device="cuda", requires_grad=True)
    rows = torch.randint(0, 1000, (200_000,), device="cuda")

    def step():
        found = torch.index_select(table, 0, rows) if after else table[rows]
        found.square().mean().backward()
        table.grad = None
    return step


@case("recomputation")
def checkpoints(after):
    import torch
    from torch.utils.checkpoint import checkpoint_sequential

    model = perceptron(4096, 12, torch.bfloat16)

    def forward(values):
        values.requires_grad_()
        return model(values) if after else checkpoint_sequential(model, 6, values, use_reentrant=False)

    optimize = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    values = torch.randn(8192, 4096, device="cuda", dtype=torch.bfloat16)

    def step():
        square(forward(values)).backward()
        optimize.step()
        optimize.zero_grad(set_to_none=True)
    return step


@case("type_conversions")
def conversions(after):
    import torch
    from torch import nn

    class Layer(nn.Linear):
        def forward(self, values):
            if after:
                return torch.relu(super().forward(values))
            return torch.relu(super().forward(values.to(torch.bfloat16))).float()

    model = nn.Sequential(*[Layer(2048, 2048) for _ in range(8)]).to("cuda", torch.bfloat16)
    return training(model, torch.randn(32768, 2048, device="cuda", dtype=torch.bfloat16), square)


@case("evaluation_in_step")
def metrics(after):
    import torch

    model = perceptron(4096, 8, torch.bfloat16)
    values = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    train = training(model, values, square)
    number = 0

    @torch.no_grad()
    def accuracy():
        return model(values).argmax(-1).float().mean()

    def step():
        nonlocal number
        number += 1
        train()
        if not after or number % 50 == 0:
            accuracy()
    return step


@case("written_attention")
def jax_attention(after):
    import jax
    import jax.numpy as jnp

    shape = (8, 1024, 16, 64)
    keys = jax.random.split(jax.random.key(0), 3)
    heads = [jax.random.normal(each, shape, jnp.bfloat16) for each in keys]

    def attend(query, key, value):
        if after:
            return jax.nn.dot_product_attention(query, key, value, implementation="cudnn")
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / 8
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), value)

    @jax.jit
    def layers(query, key, value):
        for _ in range(6):
            query = attend(query, key, value)
        return query

    return lambda: layers(*heads)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", nargs="?")
    parser.add_argument("state", nargs="?", choices=["before", "after"])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name} {rule}" for name, (_, rule) in CASES.items()))
        return
    step = CASES[options.case][0](options.state == "after")
    if options.case.startswith("jax"):
        import jax

        wait, result = jax.block_until_ready, None
    else:
        import torch

        wait, result = lambda _: torch.cuda.synchronize(), None
    for _ in range(3):
        result = step()
    wait(result)
    begin = time.perf_counter()
    wait(step())
    count = max(20, min(400, int(options.seconds / (time.perf_counter() - begin))))
    begin = time.perf_counter()
    for _ in range(count):
        result = step()
    wait(result)
    print(json.dumps({"case": options.case, "state": options.state, "steps": count,
                      "stepMs": round(1000 * (time.perf_counter() - begin) / count, 3)}))


if __name__ == "__main__":
    main()
