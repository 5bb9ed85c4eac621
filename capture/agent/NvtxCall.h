// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "capture/log/Records.h"

namespace lanescope::agent {

/// How many bytes of a text are kept; the rest of a longer one is left out.
inline constexpr size_t longestNvtxText = 8u << 10;

/// One NVTX call, as its thread made it. Views need to live for the call only.
struct NvtxCall {
    log::NvtxEvent event = log::NvtxEvent::Mark;
    log::NvtxPayload payload = log::NvtxPayload::None;
    uint32_t domain = 0;
    uint32_t category = 0;
    uint32_t colorArgb = 0;
    uint64_t rangeId = 0;
    uint64_t payloadBits = 0;
    uint64_t schemaId = 0;
    const std::string* registered = nullptr;  ///< A registered string instead of `text`.
    std::string_view text;
    std::string_view extended;  ///< Bytes of the extended payload.
};

}  // namespace lanescope::agent
