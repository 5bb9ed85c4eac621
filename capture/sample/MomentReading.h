// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope::capture {

/// A reading of what belongs to the moments at which chosen ranges begin and end. All times are
/// those of samples (`sampleTimeNs`).
struct MomentReading {
    /// The end of a range and the beginning of the next, or the same range of several ranks, come
    /// within this time; one reading serves them all.
    static constexpr int64_t sharedNs = 2'000'000;

    int64_t beginNs = 0, endNs = 0;  ///< 0: there was none.
    int64_t validFromNs = 0;         ///< Values that were read from here on were not read again.

    /// Whether a moment that was told of after the reading had begun needs none of its own.
    bool serves(int64_t momentNs) const { return beginNs != 0 && momentNs <= beginNs + sharedNs; }
};

}  // namespace lanescope::capture
