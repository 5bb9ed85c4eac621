// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope {

/// How much of Student's t distribution lies within -t and t, in [0, 1]. `freedom` is the number of
/// degrees of freedom, at least 1; `t` at least 0. O(freedom); the finite sums for whole degrees of
/// freedom (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4).
double studentTWithin(double t, int64_t freedom);

/// The t within which and its negative the share `share` in [0, 1) of the distribution lies: 0.95
/// gives the factor of a 95 % confidence interval. O(freedom).
double studentTFor(double share, int64_t freedom);

}  // namespace lanescope
