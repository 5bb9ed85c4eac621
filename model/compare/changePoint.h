// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace lanescope::compare {

/// A change of the level of a series, and its size.
struct ChangePoint {
    size_t first = 0;  ///< Index of the first value after the change.
    /// Mean after the change, of logarithms, against the mean since the previous change, if any.
    double percent = 0;
    double pValue = 1;
};

/// Values that a change point needs on each side: a single one is an outlier.
inline constexpr size_t minValuesPerSide = 2;

/// Returns the latest change of the level of a series, such as the median steps of runs in order, or nullopt. The
/// values must be greater than 0.
///
/// The place is where the cumulative sum of the logarithms is farthest from its line, relative to the number of values
/// on either side (Page, "Continuous inspection schemes", 1954; the likelihood ratio of one normal series against two).
/// 999 random orders of the same values show if that is more than chance, as in Matteson and James, "A nonparametric
/// approach for multiple change point analysis of multivariate data" (2014): p below 0.025, whatever the distribution,
/// if the order means nothing without a change. Changes below 1 % do not count. After the first change the rest is
/// searched again (binary segmentation). The same series gives the same answer. O(999 n).
std::optional<ChangePoint> latestChange(std::span<const double> values);

/// Indices of values, from `begin` to before `end`.
struct Stretch {
    size_t begin = 0, end = 0;
};

/// Returns the values among the first `count` to compare a new one with: those since the change if
/// there are `fewest`, else those before it if there are as many, else all.
Stretch levelOf(size_t count, const std::optional<ChangePoint>& change, size_t fewest);

}  // namespace lanescope::compare
