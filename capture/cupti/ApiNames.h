// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "capture/cupti/CuptiLibrary.h"
#include "capture/log/RecordWriter.h"

namespace lanescope::agent {

/// Names of CUDA calls as strings of the log, each asked of CUPTI once. Writer thread.
class ApiNames {
  public:
    ApiNames(const CuptiLibrary& cupti, log::RecordWriter& writer)
        : cupti_(cupti), writer_(writer) {}

    /// The string's id for a call that CUPTI numbers `callbackId`, in the domain of the driver or
    /// of the runtime. Amortized constant time.
    uint32_t idOf(uint32_t callbackId, bool isDriver);

  private:
    const CuptiLibrary& cupti_;
    log::RecordWriter& writer_;
    std::unordered_map<uint32_t, uint32_t> ids_;
    uint32_t generation_ = 0;
};

/// What a program calls the function that CUPTI calls "cudaGetDevice_v3020": "cudaGetDevice". For
/// calls of the runtime only; in a driver call's name "_v2" is part of it.
std::string_view runtimeCallName(std::string_view callbackName);

}  // namespace lanescope::agent
