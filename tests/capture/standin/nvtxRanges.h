// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope::standin {

/// Makes the NVTX calls of one training step on the calling thread, like a framework: ranges by
/// name, by registered string, in a domain, with plain and extended payloads, and across threads.
void beginStep(int step);
void beginForward();
void endForward();
void beginBackward();
void allReduce(uint64_t bytes);
void endBackward();
uint64_t beginOptimizer();
void endOptimizer(uint64_t range);
void endStep();

/// Makes one range whose payload is the id of the calling thread.
void rangeWithThreadId(int number);
/// Nests ranges deeper than real programs, with one surplus end.
void nestDeeply(int depth);

}  // namespace lanescope::standin
