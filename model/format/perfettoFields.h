// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Numbers of the fields of Perfetto's messages that are written or read here.
namespace lanescope::perfetto {

namespace trace {
inline constexpr uint32_t packet = 1;
}
namespace packet {
inline constexpr uint32_t clockSnapshot = 6, timestamp = 8, sequence = 10, trackEvent = 11,
                          internedData = 12, sequenceFlags = 13, timestampClock = 58, defaults = 59,
                          trackDescriptor = 60;
inline constexpr uint64_t isCleared = 1, needsState = 2;  ///< Of `sequenceFlags`.
}  // namespace packet
namespace defaults {
inline constexpr uint32_t trackEvent = 11, timestampClock = 58;
}
namespace clocks {
inline constexpr uint32_t clock = 1, primary = 2;
inline constexpr uint32_t id = 1, timestamp = 2, isIncremental = 3, multiplierNs = 4;
inline constexpr uint64_t realtime = 1, monotonic = 3, boottime = 6;
}  // namespace clocks
namespace interned {
inline constexpr uint32_t categories = 1, names = 2, annotationNames = 3, annotationTexts = 29;
inline constexpr uint32_t id = 1, text = 2;
}  // namespace interned
namespace track {
inline constexpr uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8,
                          staticName = 10;
}
namespace process {
inline constexpr uint32_t pid = 1, commandLine = 2, name = 6;
}
namespace thread {
inline constexpr uint32_t pid = 1, tid = 2, name = 5;
}
namespace counter {
inline constexpr uint32_t unitName = 6;
}
namespace event {
inline constexpr uint32_t timeDeltaUs = 1, categoryIds = 3, annotations = 4, type = 9, nameId = 10,
                          track = 11, timeAbsoluteUs = 16, categories = 22, name = 23,
                          counterValue = 30, realCounterValue = 44, flows = 47, lastFlows = 48;
inline constexpr uint64_t begin = 1, end = 2, instant = 3, counter = 4;  ///< Of `type`.
}  // namespace event
namespace annotation {
inline constexpr uint32_t nameId = 1, flag = 2, number = 3, integer = 4, real = 5, text = 6,
                          pointer = 7, json = 9, name = 10, entries = 11, values = 12, textId = 17;
}

}  // namespace lanescope::perfetto
