// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compare/RunSummary.h"

namespace lanescope::explain {

/// The kernel that takes a fifth of the mean step at least, each time that it is launched, in steps
/// that launch many others which take far less: something holds it up. Null if there is none.
/// `meanNs` is the mean step.
const compare::Contributor* longKernel(const compare::WorkerSummary& worker, int64_t meanNs);

/// "1 time a step it takes 9.53 ms, 201 times as long as the mean of the 146 others.", of that
/// kernel.
std::string longKernelText(const compare::WorkerSummary& worker, const compare::Contributor& kernel,
                           const std::string& per);

}  // namespace lanescope::explain
