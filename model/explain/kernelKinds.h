// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/analysis/RunSummary.h"
#include "model/analysis/stepPatterns.h"

namespace lanescope::explain {

/// A copy within one GPU, or a kernel that computes nothing and only writes values somewhere else,
/// in another order or type: copies, concatenations and changes of layout of PyTorch and cuDNN, by
/// the names of their kernels.
bool movesWithinGpu(const analysis::Contributor& each);

/// A product of matrices, or a convolution, in double precision, by the name of its kernel.
bool isDoubleProduct(const analysis::Contributor& each);

/// Whether what a worker multiplies in less precision takes so much that double precision is not
/// what the whole program is written for: a twentieth of the steps. O(contributors).
bool hasOtherProducts(const analysis::WorkerSummary& worker);

/// The kernel that takes a fifth of the mean step at least, each time that it is launched, in steps
/// that launch many others which take far less: something holds it up. Null if there is none.
/// `meanNs` is the mean step.
const analysis::Contributor* longKernel(const analysis::WorkerSummary& worker, int64_t meanNs);

/// "1 time a step it takes 9.53 ms, 201 times as long as the mean of the 146 others.", of that
/// kernel.
std::string longKernelText(const analysis::WorkerSummary& worker,
                           const analysis::Contributor& kernel, const std::string& per);

/// What the median step has of a part. Half of the steps have as much at least, so it is a matter
/// of the program; what only fewer have is one of those steps.
int64_t ofTypicalStepNs(const analysis::WorkerSummary& worker, analysis::StepPart part);

/// A kernel that does nothing but set memory, as `zeros` and `fill_` of PyTorch: a memset, though
/// the driver knows of none.
bool isFill(const analysis::Contributor& each);

/// Whether the steps of a pattern are longer by what the GPU computes in them, and not so long that
/// they are odd ones: batches of several sizes, in turn or in no order. That is what the program
/// does, and where nobody waits for it nothing is lost. Steps that grow or that are longer from one
/// on are no such thing.
bool isOfBatchSize(const analysis::StepPattern& pattern, const analysis::WorkerSummary& worker);

}  // namespace lanescope::explain
