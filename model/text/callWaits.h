// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope {

/// GPU work for which an API call waits.
enum class CallWait : uint8_t {
    None,
    Stream,   ///< All work of a stream.
    Event,    ///< Work before an event.
    Context,  ///< All work of a context.
    Free,     ///< Often all work, since it frees memory.
};
/// Returns the wait of a call by its name. O(length).
CallWait callWaitOf(std::string_view call);

}  // namespace lanescope
