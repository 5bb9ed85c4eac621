// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/trace/EventRef.h"

namespace lanescope {

enum class AdviceKind : uint8_t {
    PageableMemory,  ///< Pinned host memory would be faster.
    TinyCopies,      ///< So small that starting them is all they cost.
    PeerOverPcie,    ///< Copies from GPU to GPU that no NVLink carries.
    NotOverlapped,   ///< Copies while the GPU computes nothing.
    BlockingCopies,  ///< Copies whose call waits until they have ended.
};

/// Something about the copies that could be better, with what it may be worth.
struct BandwidthAdvice {
    AdviceKind kind = AdviceKind::PageableMemory;
    std::string sentence;  ///< For the user, with the figures.
    int64_t gainNs = 0;    ///< At most this much time; never more than what they took.
    EventRef example;      ///< The copy that shows it best.
};

}  // namespace lanescope
