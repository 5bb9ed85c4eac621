// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "capture/log/Records.h"

namespace lanescope::capture {

/// When one process recorded, if it did not all the time. Takes beginnings and ends as the log has
/// them, in any number and order that a cut or damaged log may leave. Those that a log says again,
/// as each of its files and after a loss, count once.
class ProcessWindows {
  public:
    struct Window {
        uint32_t index = 0;
        int64_t startNs = 0;           ///< In the log's time.
        std::optional<int64_t> endNs;  ///< Nothing while it is open.
    };
    /// More would be no use to anybody; further ones are left out.
    static constexpr size_t maximumCount = 100'000;

    void add(const log::WindowRecord& record);
    /// True once the process said anything of windows: then it recorded nothing outside them.
    bool areThere() const { return areThere_; }
    const std::vector<Window>& all() const { return windows_; }

  private:
    std::vector<Window> windows_;
    std::unordered_map<uint32_t, size_t> placeOf_;  // in windows_, by index
    std::optional<size_t> latest_;                  // of which the log spoke
    bool areThere_ = false;
};

}  // namespace lanescope::capture
