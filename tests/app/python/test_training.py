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

# PyTorch's ranges of operators need a build with CUDA, but no GPU, except for these two functions.
SHAPES = MODEL + """
with lanescope.torch.shapes():
    Net()(torch.ones(4, 8))
assert torch.version.cuda is None or not torch.cuda.is_available()
if torch.version.cuda is None:
    lanescope.mark("no CUDA")
torch.cuda.is_available = lambda: torch.version.cuda is not None
torch.cuda.synchronize = lambda *_: None
net = Net()
for number in range(2):
    with lanescope.torch.shapes():
        net(torch.ones(4, 8)).sum().backward()
net(torch.ones(4, 8))
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
        texts = [row["text"] for row in recorded(SHAPES)]
        if texts == ["no CUDA"]:
            self.skipTest("This PyTorch has no NVTX.")
        linear = [text for text in texts if text.startswith("aten::addmm, ")]
        self.assertEqual(len(linear), 2 * 5)
        self.assertTrue(all(", sizes = [[8], [4, 8], [8, 8], " in text or ", sizes = [[2], [4, 8], [8, 2], " in text
                            for text in linear), linear)
        self.assertTrue(any(text.startswith("AddmmBackward0, seq = ") for text in texts))

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
