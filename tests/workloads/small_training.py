# SPDX-License-Identifier: Apache-2.0
"""A small training on one GPU that can be made slower in one known way: the pairs of runs that comparison
is tested with. Every step is an NVTX range with the ranges data, forward, backward and optimizer in it.

    python3 small_training.py                       as it should be
    python3 small_training.py --pageable            copies its batches from pageable memory
    python3 small_training.py --stall-ms 5          sleeps in the range "checkpoint" in one step of ten
    python3 small_training.py --extra-kernel        launches one more kernel in each layer
    python3 small_training.py --workers 0           loads its data in the training's own thread
    python3 small_training.py --bf16                computes in another precision
"""

import argparse
import statistics
import sys
import time

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit("small_training: PyTorch is not installed; install it with 'pip install torch'.")

nvtx_range = torch.cuda.nvtx.range
IMAGE = (3, 128, 128)
CLASSES = 10


class Images(torch.utils.data.Dataset):
    """Made-up images that take the CPU a while, as decoding and cropping would."""

    def __init__(self, count, work):
        self.count = count
        self.work = work
        self.image = torch.randn(IMAGE)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        image = self.image
        for _ in range(self.work):
            image = image.flip(2).mul(1.01)
        return image, index % CLASSES


class Layer(nn.Module):
    def __init__(self, channels_in, channels_out, has_extra_kernel):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels_out)
        self.has_extra_kernel = has_extra_kernel

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        return torch.sigmoid(x) if self.has_extra_kernel else x


def network(options):
    widths = [3] + [64] * 8
    layers = [Layer(a, b, options.extra_kernel) for a, b in zip(widths, widths[1:])]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, CLASSES))


def batches_without_loader(options):
    """The same host memory again and again: nothing is loaded, so only the copy is seen."""
    images = torch.randn(options.batch, *IMAGE)
    labels = torch.randint(0, CLASSES, (options.batch,))
    if not options.pageable:
        images, labels = images.pin_memory(), labels.pin_memory()
    while True:
        yield images, labels


def batches(options):
    if options.workers is None:
        return batches_without_loader(options)
    loader = torch.utils.data.DataLoader(
        Images((options.steps + 1) * options.batch, options.work), batch_size=options.batch,
        num_workers=options.workers, pin_memory=True)
    return iter(loader)


def train(options):
    torch.manual_seed(0)
    model = network(options).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()
    source = batches(options)
    seconds = []
    for step in range(options.steps):
        began = time.perf_counter()
        with nvtx_range(f"step {step}"):
            with nvtx_range("data"):
                images, labels = next(source)
                images = images.cuda(non_blocking=True)
                labels = labels.cuda(non_blocking=True)
            with nvtx_range("forward"), torch.autocast("cuda", torch.bfloat16, enabled=options.bf16):
                loss = loss_of(model(images), labels)
            with nvtx_range("backward"):
                loss.backward()
            with nvtx_range("optimizer"):
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            torch.cuda.synchronize()
            if options.stall_ms and step % 10 == 7:
                with nvtx_range("checkpoint"):  # while the GPU has nothing left to do
                    time.sleep(options.stall_ms / 1e3)
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[options.steps // 2:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--pageable", action="store_true")
    parser.add_argument("--stall-ms", type=float, default=0)
    parser.add_argument("--extra-kernel", action="store_true")
    parser.add_argument("--workers", type=int, help="processes that load data; without it no data is loaded")
    parser.add_argument("--work", type=int, default=6, help="how long the CPU takes for an image")
    parser.add_argument("--bf16", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("small_training: PyTorch sees no CUDA GPU; run this where nvidia-smi lists one.")
    print(f"small_training: {options.steps} steps, median {train(options) * 1e3:.3f} ms")


if __name__ == "__main__":
    main()
