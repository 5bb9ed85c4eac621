// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace lanescope {

/// A test among several that are looked at together.
struct WeightedTest {
    double pValue = 1;
    double weight = 1;  ///< Its share of the error that all together may make; greater than 0.
};

/// For each test the level at which it rejects if all of them together shall reject something true
/// no more often than that, however they depend on each other (Holm, "A simple sequentially
/// rejective multiple test procedure", 1979, section 4 for weights). In the order of `tests`, each
/// at most 1. O(n log n).
std::vector<double> holmAdjusted(std::span<const WeightedTest> tests);

}  // namespace lanescope
