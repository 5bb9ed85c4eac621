#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch, Lightning and Hugging Face's Trainer on the CPU, recorded: each has its steps and modules as ranges.

usage: PYTHONPATH=STAGE test_training.py      with the packages of training.txt
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import arrow

import lanescope

MODEL = """
import torch, lanescope.torch
torch.manual_seed(1)

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.act = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8), torch.nn.ReLU(inplace=True)

    def forward(self, x, *, scale=1.0):
        return x + self.second(self.act(self.first(x))) * scale

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])
        self.head = torch.nn.Linear(8, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x, scale=2.0)
        return self.head(x)
"""

TORCH = MODEL + """
def gradients(annotated):
    torch.manual_seed(1)
    net = Net()
    if annotated:
        assert lanescope.torch.annotate(net) is net
    for number in range(3):
        with lanescope.step(number):
            net(torch.ones(4, 8)).square().sum().backward()
    with torch.no_grad():
        net(torch.ones(4, 8))
    try:
        net(torch.ones(4, 7))
    except RuntimeError:
        lanescope.mark("failed")
    return [parameter.grad.clone() for parameter in net.parameters()]

for one, other in zip(gradients(True), gradients(False)):
    assert torch.equal(one, other)
"""

SHAPES = """
import torch, lanescope, lanescope.torch
from torch import nn
from torch.nn import functional

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.qkv = nn.Conv2d(3, 8, 3, padding=1), nn.LayerNorm(8), nn.Linear(8, 24)
        self.out, self.dropout = nn.Linear(8, 4), nn.Dropout(0.1)

    def forward(self, x):
        x = self.norm(self.conv(x).flatten(2).transpose(1, 2))
        q, k, v = (each.reshape(2, 64, 2, 4).transpose(1, 2) for each in self.qkv(x).chunk(3, -1))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        mixed = mixed + torch.softmax(q @ k.transpose(-1, -2), -1) @ v
        return self.out(functional.gelu(self.dropout(mixed.transpose(1, 2).reshape(2, 64, 8)))).to(torch.bfloat16)

def trained(context):
    torch.manual_seed(1)
    net = Net()
    optimizers = [torch.optim.AdamW(net.parameters(), foreach=True), torch.optim.AdamW(net.parameters(), fused=True)]
    with context:
        net(torch.ones(2, 3, 8, 8)).float().square().sum().backward()
        for optimizer in optimizers:
            optimizer.step()
    return [*net.parameters()]

import contextlib
plain = trained(contextlib.nullcontext())
with lanescope.range("training"):
    assert all(torch.equal(*each) for each in zip(plain, trained(lanescope.torch.shapes())))
plain = trained(contextlib.nullcontext())
"""

# Other features of PyTorch that see each operator, with results as without ranges.
SHAPED = """
import contextlib, torch, lanescope, lanescope.torch
from torch.func import grad, vmap
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

a, w = torch.randn(4, 8), torch.randn(8, 8, requires_grad=True)
shapes = lanescope.torch.shapes

def gradient(name, function, context=shapes):
    found = []
    for inner in (context, lambda: lanescope.range("plain")):
        w.grad = None
        with lanescope.range(name), inner():
            function(a.clone().requires_grad_()).sum().backward()
        found.append(w.grad.clone())
    assert torch.equal(*found), name

def work(x):
    return torch.tanh(x @ w)

@contextlib.contextmanager
def both(one, other):
    with one, other:
        yield

for reentrant in (True, False):
    gradient("checkpoint", lambda x: checkpoint(work, x, use_reentrant=reentrant))
gradient("compiled", torch.compile(work, backend="aot_eager", fullgraph=True))
counters = [FlopCounterMode(display=False) for _ in range(3)]
gradient("around", work, lambda: both(counters[0], shapes()))
gradient("within", work, lambda: both(shapes(), counters[1]))
gradient("alone", work, lambda: counters[2])
assert len({counter.get_total_flops() for counter in counters}) == 1
with lanescope.range("functorch"), shapes():
    mapped = vmap(grad(lambda x: (x * x).sum()))(a)
assert torch.equal(mapped, 2 * a)
with lanescope.range("inference"), torch.inference_mode(), shapes():
    torch.nn.Linear(8, 2)(a)
with lanescope.range("failed"), shapes():
    try:
        a @ a
    except RuntimeError:
        a + 1
    torch.add(a, a, out=torch.empty(4, 8))
    torch.cat([a, a]), torch.cat([a, a.double()]), a[[0, 1]], a.t()
"""

LIGHTNING = MODEL + """
import lightning, lanescope.lightning

class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def training_step(self, batch, index):
        with lanescope.range("in training_step"):
            return self.net(batch[0]).square().sum()

    def validation_step(self, batch, index):
        with lanescope.range("in validation_step"):
            self.net(batch[0])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(12, 8)), batch_size=4)
trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                            enable_progress_bar=False, callbacks=[lanescope.lightning.Callback()])
trainer.fit(Module(), data, data)
"""

HUGGING_FACE = MODEL + """
import transformers, lanescope.huggingface

class Wrapped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x, labels=None):
        with lanescope.range("in forward"):
            return {"loss": self.net(x).square().sum()}

data = [{"x": torch.ones(8), "labels": torch.zeros(1)} for _ in range(16)]
arguments = transformers.TrainingArguments(output_dir="out", max_steps=4, per_device_train_batch_size=2,
    gradient_accumulation_steps=2, use_cpu=True, report_to=[], save_strategy="no", disable_tqdm=True)
trainer = transformers.Trainer(Wrapped(), arguments, train_dataset=data, callbacks=[lanescope.huggingface.Callback()])
trainer.train()
"""


def recorded(program):
    """The ranges of a program, by start."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run.sqlite"
        done = subprocess.run(
            [str(lanescope.program()), "record", "-o", str(place), "--", sys.executable, "-c", program], cwd=folder,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, universal_newlines=True)
        assert done.returncode == 0, done.stdout
        return [row for row in arrow.rows_of(lanescope.open(place).nvtx()) if row["domain"] == ""]


def within(rows, outer):
    """The texts of what begins and ends within a range, by start."""
    return [row["text"] for row in rows
            if row is not outer and outer["start_ns"] <= row["start_ns"] and row["end_ns"] <= outer["end_ns"]]


class Training(unittest.TestCase):
    def steps(self, rows, count):
        steps = [row for row in rows if row["text"].startswith("step ")]
        self.assertEqual([row["text"] for row in steps], [f"step {number}" for number in range(count)])
        return steps

    def test_torch_modules_forward_and_backward(self):
        rows = recorded(TORCH)
        steps = [row for row in rows if row["text"].startswith("step ")]
        self.assertEqual([row["text"] for row in steps], ["step 0", "step 1", "step 2"] * 2)
        block = ["blocks.{0}", "blocks.{0}.first", "blocks.{0}.act", "blocks.{0}.second"]
        forward = ["Net", *(path.format(number) for number in range(2) for path in block), "head"]
        for step in steps[:3]:
            texts = within(rows, step)
            self.assertEqual([text for text in texts if not text.endswith(" backward")], forward)
            self.assertEqual(sorted(text for text in texts if text.endswith(" backward")),
                             sorted(f"{path} backward" for path in forward))
            begun = [text for text in texts if text.endswith(" backward")]
            self.assertLess(begun.index("head backward"), begun.index("blocks.1.second backward"))
            self.assertLess(begun.index("blocks.1.second backward"), begun.index("blocks.1.first backward"))
            self.assertLess(begun.index("blocks.1.first backward"), begun.index("blocks.0.second backward"))
            second = next(row for row in rows if row["text"] == "blocks.1.second backward" and row["start_ns"] > step["start_ns"])
            first = next(row for row in rows if row["text"] == "blocks.1.first backward" and row["start_ns"] > step["start_ns"])
            self.assertLessEqual(second["end_ns"], first["start_ns"])
        for step in steps[3:]:  # of the model that is not annotated
            self.assertEqual(within(rows, step), [])
        # Without gradients there is no backward; what fails ends its range.
        self.assertEqual(sum(row["text"] == "Net" for row in rows), 5)
        self.assertEqual(sum(row["text"] == "Net backward" for row in rows), 3)
        failed = next(row for row in rows if row["text"] == "failed")
        self.assertTrue(all(row["end_ns"] <= failed["start_ns"] for row in rows
                            if row["start_ns"] < failed["start_ns"]))

    def test_torch_modules_have_their_class(self):
        categories = {row["text"]: row["category"] for row in recorded(TORCH)}
        self.assertEqual(categories["Net"], "nn.Module: Net")
        self.assertEqual(categories["blocks.1"], "nn.Module: Block")
        self.assertEqual(categories["blocks.1.act backward"], "nn.Module: ReLU")
        self.assertFalse(categories["step 0"])

    def test_torch_shapes(self):
        rows = recorded(SHAPES)
        texts = within(rows, next(row for row in rows if row["text"] == "training"))
        # Nothing outside the context.
        self.assertEqual(len(texts) + 1, len(rows))
        q, mixed = "[2, 2, 64, 4]", "[2, 2, 64, 64]"
        convolution = "[1, 1], [1, 1], [1, 1], False, [0, 0], "
        for text in (
            "aten::convolution, sizes = [[2, 3, 8, 8], [8, 3, 3, 3], [8], [], [], [], [], [], []], types = [float, float, float, "
            f", , , , , ], values = [, , , {convolution}]",
            "aten::convolution_backward, sizes = [[2, 8, 8, 8], [2, 3, 8, 8], [8, 3, 3, 3], [], [], [], [], [], [], [], []], "
            f"types = [float, float, float, , , , , , , , ], values = [, , , [8], {convolution}, [False, True, True]]",
            "aten::native_layer_norm, sizes = [[2, 64, 8], [], [8], [8], []], types = [float, , float, float, ], values = [, "
            "[8], , , ]",
            "aten::addmm, sizes = [[24], [128, 8], [8, 24], [], []], types = [float, float, float, , ]",
            f"aten::_softmax, sizes = [{mixed}, [], []], types = [float, , ], values = [, , False]",
            f"aten::_softmax_backward_data, sizes = [{mixed}, {mixed}, [], []], types = [float, float, , ], values = [, , , "
            "float]",
            "aten::gelu_backward, sizes = [[2, 64, 8], [2, 64, 8], []], types = [float, float, ]",
            "aten::_to_copy, sizes = [[2, 64, 4], [], [], [], [], [], []], types = [float, , , , , , ], values = [, "
            "c10::BFloat16, , , , False, ]",
            # Tensors of a list are one of all elements.
            "aten::_foreach_addcdiv_, sizes = [[492], [492], [492], []], types = [float, float, float, ]",
        ):
            self.assertIn(text, texts)
        # The backward of attention has the mask, too; its names on a CPU are others.
        for name in ("_scaled_dot_product_flash_attention", "_fused_adamw_", "native_layer_norm_backward", "mm, "):
            self.assertTrue(any(text.startswith(f"aten::{name}") for text in texts), name)
        attention = [text for text in texts if "attention" in text]
        self.assertEqual(len(attention), 2)
        self.assertTrue(all(f"[{q}, {q}, {q}, " in text and ", True, " in text for text in attention), attention)

    def test_torch_shapes_change_no_result(self):
        rows = recorded(SHAPED)
        texts = {name: [text.split(", sizes = ")[0] for row in rows if row["text"] == name for text in within(rows, row)]
                 for name in ("checkpoint", "compiled", "around", "within", "functorch", "inference", "failed")}
        for name in ("checkpoint", "compiled", "around", "within"):
            self.assertIn("aten::mm", texts[name], name)
            self.assertIn("aten::tanh_backward", texts[name], name)
        # A reentrant one repeats the product, the other one stops before.
        self.assertEqual(texts["checkpoint"].count("aten::tanh"), 4)
        self.assertIn("aten::mul", texts["functorch"])
        self.assertIn("aten::addmm", texts["inference"])
        self.assertEqual(texts["failed"], ["aten::mm", "aten::add", "aten::empty", "aten::add", "aten::cat", "aten::_to_copy",
                                           "aten::cat", "aten::index"])

    def test_lightning(self):
        rows = recorded(LIGHTNING)
        for step in self.steps(rows, 6):
            self.assertEqual(within(rows, step), ["forward", "in training_step", "backward", "optimizer"])
        validations = [row for row in rows if row["text"] == "validation"]
        self.assertEqual(len(validations), 3)  # one of them Lightning's check before the training
        for validation in validations:
            self.assertEqual(set(within(rows, validation)), {"in validation_step"})

    def test_hugging_face(self):
        rows = recorded(HUGGING_FACE)
        for step in self.steps(rows, 4):
            self.assertEqual(within(rows, step), ["in forward", "in forward", "optimizer"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
