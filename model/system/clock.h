// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

/// What not every system says of its clock.
namespace lanescope::system {

/// How far the system believes its clock of the day off.
struct ClockError {
    std::optional<int64_t> estimatedNs;  ///< Nothing if no other clock disciplines it.
    std::optional<int64_t> mostNs;
};

/// As the system says now; nothing where it does not. Needs no permission.
ClockError clockError();

}  // namespace lanescope::system
