// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope::log {

/// The time of events in this process, as text for the environment of another: the offset of
/// `eventOffsetNs`, and which CLOCK_MONOTONIC it belongs to. Reads two small files.
std::string eventClockText();

/// Takes the time of events from such a text, so that all processes of a recording tell the same,
/// whatever was done to the clock of the machine between their starts. A text of another boot,
/// machine or time namespace, or none, changes nothing: then this process has an offset of its own.
void takeEventClock(std::string_view text);

}  // namespace lanescope::log
