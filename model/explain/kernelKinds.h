// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compare/RunSummary.h"

namespace lanescope::explain {

/// A copy within one GPU, or a kernel that computes nothing and only writes values somewhere else,
/// in another order or type: copies, concatenations and changes of layout of PyTorch and cuDNN, by
/// the names of their kernels.
bool movesWithinGpu(const compare::Contributor& each);

/// A product of matrices, or a convolution, in double precision, by the name of its kernel.
bool isDoubleProduct(const compare::Contributor& each);

/// Whether what a worker multiplies in less precision takes so much that double precision is not
/// what the whole program is written for: a twentieth of the steps. O(contributors).
bool hasOtherProducts(const compare::WorkerSummary& worker);

}  // namespace lanescope::explain
