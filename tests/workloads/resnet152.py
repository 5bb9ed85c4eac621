# SPDX-License-Identifier: Apache-2.0
"""Trains ResNet-152 on made-up images of CIFAR-10's shape: the workload of the sample traces.

Each process trains on its own GPU with its own batch (--batch is per GPU). Under torchrun the
gradients are averaged by NCCL; alone, one GPU is used and nothing is communicated. Every step is
an NVTX range with the ranges data, forward, backward and optimizer in it.

    python3 -m torch.distributed.run --standalone --nproc-per-node=2 resnet152.py --steps 10
"""

import argparse
import os
import statistics
import sys
import time

try:
    import torch
    from torch import nn
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
except ImportError:
    sys.exit("resnet152: PyTorch is not installed; install it with 'pip install torch'.")

STAGES = ((64, 3, 1), (128, 8, 2), (256, 36, 2), (512, 3, 2))  # width, blocks, first stride
EXPANSION = 4


def conv_norm(channels_in, channels_out, kernel, stride=1):
    norm = nn.BatchNorm2d(channels_out)
    norm.num_batches_tracked = None  # counts batches with a kernel of its own; nobody reads it here
    return [
        nn.Conv2d(channels_in, channels_out, kernel, stride, padding=kernel // 2, bias=False),
        norm,
    ]


class Bottleneck(nn.Module):
    """Narrows with a 1x1 convolution, filters with a 3x3 one, widens again, and adds its input."""

    def __init__(self, channels_in, width, stride):
        super().__init__()
        channels_out = width * EXPANSION
        self.residual = nn.Sequential(
            *conv_norm(channels_in, width, 1),
            nn.ReLU(inplace=True),
            *conv_norm(width, width, 3, stride),
            nn.ReLU(inplace=True),
            *conv_norm(width, channels_out, 1),
        )
        self.shortcut = nn.Identity()
        if stride != 1 or channels_in != channels_out:
            self.shortcut = nn.Sequential(*conv_norm(channels_in, channels_out, 1, stride))
        self.activation = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.activation(self.residual(x) + self.shortcut(x))


def resnet152(classes):
    """ResNet-152 with the small first layer that images of 32x32 pixels call for."""
    layers = [*conv_norm(3, 64, 3), nn.ReLU(inplace=True)]
    channels = 64
    for width, blocks, first_stride in STAGES:
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, first_stride if block == 0 else 1))
            channels = width * EXPANSION
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]
    return nn.Sequential(*layers)


class HostBatches:
    """A small data set in host memory; each batch is gathered into one buffer that can be pinned."""

    def __init__(self, batch, pinned):
        self.images = torch.randn(4 * batch, 3, 32, 32)
        self.labels = torch.randint(0, 10, (4 * batch,))
        self.pinned = pinned
        self.image_buffer = torch.empty(batch, 3, 32, 32, pin_memory=pinned)
        self.label_buffer = torch.empty(batch, dtype=torch.long, pin_memory=pinned)

    def next_batch(self, device):
        chosen = torch.randint(0, len(self.labels), (len(self.label_buffer),))
        torch.index_select(self.images, 0, chosen, out=self.image_buffer)
        torch.index_select(self.labels, 0, chosen, out=self.label_buffer)
        return (
            self.image_buffer.to(device, non_blocking=self.pinned).contiguous(
                memory_format=torch.channels_last),
            self.label_buffer.to(device, non_blocking=self.pinned),
        )


def train(model, batches, device, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    nvtx_range = torch.cuda.nvtx.range
    loss_value = float("nan")
    seconds = []
    for step in range(steps):
        began = time.perf_counter()
        with nvtx_range(f"step {step}"):
            with nvtx_range("data"):
                images, labels = batches.next_batch(device)
            with nvtx_range("forward"):
                loss = loss_of(model(images), labels)
            with nvtx_range("backward"):
                loss.backward()
            with nvtx_range("optimizer"):
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
                # Waits for the GPU, so the host buffer can be filled again.
                loss_value = loss.item()
        seconds.append(time.perf_counter() - began)
    # The first half warms up.
    return loss_value, statistics.median(seconds[len(seconds) // 2:])


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=256, help="images per GPU and step")
    memory = parser.add_mutually_exclusive_group()
    memory.add_argument("--pinned", dest="pinned", action="store_true", default=True,
                        help="copy batches from pinned host memory (default)")
    memory.add_argument("--pageable", dest="pinned", action="store_false",
                        help="copy batches from pageable host memory")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if not torch.cuda.is_available():
        sys.exit("resnet152: PyTorch sees no CUDA GPU; run this where nvidia-smi lists one.")
    rank = int(os.environ.get("RANK", "0"))
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    torch.cuda.set_device(device)
    torch.manual_seed(rank)

    model = resnet152(classes=10).to(device, memory_format=torch.channels_last)
    if world_size > 1:
        torch.distributed.init_process_group("nccl")
        # Gradients live in the buckets that NCCL reduces, and each bucket is averaged as a whole: no
        # copy and no division for each of the 467 parameters.
        model = nn.parallel.DistributedDataParallel(
            model, device_ids=[device.index], gradient_as_bucket_view=True)
        model.register_comm_hook(None, default_hooks.allreduce_hook)
    loss, seconds = train(model, HostBatches(arguments.batch, arguments.pinned), device, arguments.steps)
    if rank == 0:
        print(f"resnet152: {arguments.steps} steps on {world_size} GPU(s), median {seconds * 1e3:.3f} ms, "
              f"last loss {loss:.3f}")
    if world_size > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
