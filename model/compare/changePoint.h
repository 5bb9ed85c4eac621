// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace lanescope::compare {

/// Where the level of a series changed, and by how much.
struct ChangePoint {
    size_t first = 0;  ///< Index of the first value after it.
    /// Mean of those after it, as logarithms, against those since the change before, if any.
    double percent = 0;
    double pValue = 1;
};

/// Values that a change point needs on each side: one alone is an outlier.
inline constexpr size_t fewestBesideChange = 2;

/// The latest change of the level of a series, such as the median steps of runs in their order;
/// nothing if there is none. The values must be greater than 0. The place is where the cumulative
/// sum of the logarithms lies furthest from its line, for the number of values on either side
/// (Page, "Continuous inspection schemes", 1954; the likelihood ratio of one normal series against
/// two). Whether that is more than chance, 999 random orders of the same values tell, as in
/// Matteson and James, "A nonparametric approach for multiple change point analysis of multivariate
/// data" (2014): p below 0.025, whatever the distribution, if the order means nothing without a
/// change. A change of less than 1 % is none. After the first the rest is searched again (binary
/// segmentation). The same series gives the same answer. O(999 n).
std::optional<ChangePoint> latestChange(std::span<const double> values);

/// Places of values, from `begin` to before `end`.
struct Stretch {
    size_t begin = 0, end = 0;
};

/// Which of the first `count` values another one is put against: those since the change, if there
/// are `fewest`, else those before it, if there are as many, else all.
Stretch levelOf(size_t count, const std::optional<ChangePoint>& change, size_t fewest);

}  // namespace lanescope::compare
