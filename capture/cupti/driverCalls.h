// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope::agent {

/// What a call of the driver does that a timeline has to show beside the call itself.
enum class DriverCallKind : uint8_t {
    None,         ///< Not recorded.
    Other,        ///< Recorded, and no more.
    EventRecord,  ///< Puts an event into a stream.
    EventWait,    ///< Waits for an event on the CPU.
    StreamWait,   ///< Lets a stream wait for an event.
    StreamSync,   ///< Waits for a stream on the CPU.
    ContextSync,  ///< Waits for all of a context on the CPU.
};

/// The kind of a call, by CUPTI's name for it, `None` for one that does not explain a timeline: one
/// that only asks for or sets a property. Calls that do launch work, copy, set, wait, allocate,
/// free, or load code. With `onlyWork`, the last three kinds are `None` too.
DriverCallKind driverCallKind(std::string_view callbackName, bool onlyWork);

}  // namespace lanescope::agent
