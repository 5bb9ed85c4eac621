// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/text/kernelFamilies.h"

namespace lanescope::analysis {

/// Purpose of a launch, by the functions and files on its Python stack.
enum class LaunchPurpose : uint8_t {
    None,
    Optimizer,
    GradientNorm,
    Recomputation,  ///< Recomputes activations that a checkpoint dropped.
    Evaluation,     ///< A function named so: metrics, accuracy, validation, a check for NaN.
    Tuning,         ///< An autotuner tries configurations.
};
/// "none", "optimizer", "recomputation".
std::string_view identifier(LaunchPurpose purpose);

/// Sequence of kernels on one stream that one fused kernel would replace.
enum class KernelSequence : uint8_t {
    None,
    Chain,      ///< Elementwise kernels in a row.
    Loop,       ///< So many in a row, from few lines, that a loop launches them.
    Attention,  ///< Two products with a softmax and its elementwise kernels between.
};
/// "none", "chain", "loop", "attention".
std::string_view identifier(KernelSequence sequence);

/// Compute kernels of a worker's steps that rules do not distinguish.
struct KernelGroup {
    KernelFamily family = KernelFamily::Other;
    KernelPrecision precision = KernelPrecision::Unknown;
    KernelTrait trait = KernelTrait::None;
    LaunchPurpose purpose = LaunchPurpose::None;
    KernelSequence sequence = KernelSequence::None;
    bool isSmallGrid = false;  ///< Its blocks leave most SMs without one, and mostly no other kernel runs.
    int64_t count = 0;         ///< Launches in the steps.
    int64_t exposedNs = 0;     ///< Part of the steps' compute time.
    int64_t sequences = 0;     ///< Sequences whose longest kernel is in this group.
    /// Time that a fused kernel saves in those. It takes as long as the longest operation: a kernel of a chain, all
    /// rounds of a line in a loop or twice those in an optimizer, so that it may save less than 0. Idle time within
    /// loops is saved, too.
    int64_t savedNs = 0;
    std::string name = {};  ///< The kernel with most time.
    std::string launched =
        {};  ///< The line with most time, as `Contributor::launched`; empty if it has less than a fifth.
    /// The line with most time of those whose thread was at it, as a backward pass's is not: "model.py:48 in f".
    std::string written = {};

    bool operator==(const KernelGroup&) const = default;
};
}  // namespace lanescope::analysis
