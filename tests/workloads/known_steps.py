# SPDX-License-Identifier: Apache-2.0
"""Trainings as several frameworks run them, on one GPU, that know their steps: what truth-gpu holds `explain` against.

    python3 known_steps.py PROGRAM

Prints one line of JSON: how many steps were made, how many batches a step has, and what the later ones took on average,
by the host's clock between two waits for the GPU.
"""

import json
import os
import sys
import time

WIDTH, BATCH, COUNT, WARM_UP = 1024, 256, 60, 20


class Clock:
    """Called after each step. Waits for the GPU twice, after the warm-up and at the end, and takes the time between."""

    def __init__(self, wait, count=COUNT, warm_up=WARM_UP):
        self.wait, self.count, self.warm_up, self.done, self.times = wait, count, warm_up, 0, []

    def step(self):
        self.done += 1
        if self.done in (self.warm_up, self.count):
            self.wait()
            self.times.append(time.perf_counter_ns())

    def truth(self, batches=1):
        mean = (self.times[1] - self.times[0]) / (self.count - self.warm_up)
        return {"steps": self.done, "batches": batches, "meanNs": mean}


def network():
    import torch

    layers = [layer for _ in range(6) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())]
    return torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 10))


def batch(size=BATCH):
    import torch

    return torch.randn(size, WIDTH, device="cuda"), torch.randint(0, 10, (size,), device="cuda")


class Loop:
    """A training without a framework."""

    def __init__(self):
        import torch

        self.torch, self.model = torch, network().cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.clock = Clock(torch.cuda.synchronize)

    def loss(self, inputs, wanted):
        return self.torch.nn.functional.cross_entropy(self.model(inputs), wanted)

    def learn(self, batches=1):
        for _ in range(batches):
            self.loss(*batch()).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


def eager():
    loop = Loop()
    for _ in range(COUNT):
        loop.learn()
        loop.clock.step()
    return loop.clock.truth()


def accumulate():
    """Four batches a step, each in a range, and no range around the step."""
    loop = Loop()
    nvtx = loop.torch.cuda.nvtx
    for _ in range(COUNT):
        for number in range(4):
            nvtx.range_push(f"batch {number}")
            loop.loss(*batch()).backward()
            nvtx.range_pop()
        loop.optimizer.step()
        loop.optimizer.zero_grad()
        loop.clock.step()
    return loop.clock.truth(4)


def evaluate():
    """Ten batches of evaluation after each twenty steps, in ranges of their own. The steps' time is without those."""
    loop = Loop()
    nvtx, spent = loop.torch.cuda.nvtx, 0
    for step in range(COUNT):
        nvtx.range_push(f"train step {step}")
        loop.learn()
        nvtx.range_pop()
        loop.clock.step()
        if step % 20 == 9:
            loop.torch.cuda.synchronize()
            begin = time.perf_counter_ns()
            nvtx.range_push("evaluation")
            with loop.torch.no_grad():
                for _ in range(10):
                    loop.loss(*batch())
                loop.torch.cuda.synchronize()
            nvtx.range_pop()
            spent += (time.perf_counter_ns() - begin) * (step >= WARM_UP)
    truth = loop.clock.truth()
    truth["meanNs"] -= spent / (COUNT - WARM_UP)
    return truth


def compiled():
    """torch.compile with CUDA graphs, no ranges."""
    loop = Loop()
    fast = loop.torch.compile(loop.loss, mode="reduce-overhead")
    for _ in range(COUNT):
        loop.torch.compiler.cudagraph_mark_step_begin()
        fast(*batch()).backward()
        loop.optimizer.step()
        loop.optimizer.zero_grad()
        loop.clock.step()
    return loop.clock.truth()


def lightning(with_ranges=False):
    import lightning
    import torch

    clock = Clock(torch.cuda.synchronize)

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = network()

        def training_step(self, pair, _):
            return torch.nn.functional.cross_entropy(self.model(pair[0]), pair[1])

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

        def on_train_batch_end(self, *_):
            clock.step()

    data = torch.utils.data.TensorDataset(torch.randn(BATCH * COUNT, WIDTH), torch.randint(0, 10, (BATCH * COUNT,)))
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    profiler = "simple"
    if with_ranges:
        from lightning.pytorch.profilers import PyTorchProfiler

        profiler = PyTorchProfiler(emit_nvtx=True)
    trainer = lightning.Trainer(max_steps=COUNT, accelerator="gpu", devices=1, profiler=profiler, **quiet)
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH)
    trainer.fit(Module(), loader)
    return clock.truth()


def transformers(batches=1):
    """A small GPT-2 of random weights by Hugging Face's Trainer."""
    import tempfile

    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

    clock = Clock(torch.cuda.synchronize)

    class Count(TrainerCallback):
        def on_step_end(self, *_, **__):
            clock.step()

    tokens = [{"input_ids": row, "labels": row} for row in torch.randint(0, 1000, (COUNT * batches * 8, 128))]
    model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_layer=4, n_head=4, n_embd=256))
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(output_dir=folder, per_device_train_batch_size=8, max_steps=COUNT, report_to=[],
                                      gradient_accumulation_steps=batches, save_strategy="no", logging_strategy="no",
                                      disable_tqdm=True)
        Trainer(model=model, args=arguments, train_dataset=tokens, callbacks=[Count()]).train()
    return clock.truth(batches)


def accelerate():
    """The loop of a user of accelerate, with its own gradient accumulation."""
    import torch
    from accelerate import Accelerator

    accelerator = Accelerator(gradient_accumulation_steps=2)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    count = COUNT * 2
    data = torch.utils.data.TensorDataset(torch.randn(BATCH * count, WIDTH), torch.randint(0, 10, (BATCH * count,)))
    model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(data, batch_size=BATCH))
    clock = Clock(torch.cuda.synchronize)
    for inputs, wanted in loader:
        with accelerator.accumulate(model):
            accelerator.backward(torch.nn.functional.cross_entropy(model(inputs), wanted))
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            clock.step()
    return clock.truth(2)


def jax(annotated=False):
    import contextlib

    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.key(0), 8)
    weights = [jax.random.normal(key, (WIDTH, WIDTH)) / 32 for key in keys[:6]]
    inputs, wanted = jax.random.normal(keys[6], (BATCH, WIDTH)), jax.random.normal(keys[7], (BATCH, WIDTH))

    def loss(weights):
        value = inputs
        for weight in weights:
            value = jnp.tanh(value @ weight)
        return jnp.mean((value - wanted) ** 2)

    @jax.jit
    def step(weights):
        return [weight - 0.1 * change for weight, change in zip(weights, jax.grad(loss)(weights))]

    clock = Clock(lambda: jax.block_until_ready(weights), count=200, warm_up=50)
    for number in range(clock.count):
        named = jax.profiler.StepTraceAnnotation("train", step_num=number) if annotated else contextlib.nullcontext()
        with named:
            weights = step(weights)
        clock.step()
    return clock.truth()


PROGRAMS = {
    "eager": eager,
    "accumulate": accumulate,
    "evaluate": evaluate,
    "compiled": compiled,
    "lightning": lightning,
    "lightning-nvtx": lambda: lightning(with_ranges=True),
    "transformers": transformers,
    "transformers-2": lambda: transformers(2),
    "accelerate": accelerate,
    "jax": jax,
    "jax-annotated": lambda: jax(annotated=True),
}

if __name__ == "__main__":
    print(json.dumps({"framework": PROGRAMS[sys.argv[1]]()}) if len(sys.argv) > 1 else " ".join(PROGRAMS))
