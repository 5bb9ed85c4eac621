// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/values/ReportTable.h"

namespace lanescope {

/// One cell as people read it: "12.34 ms", "4.00 MiB", "55.5 GB/s", "12,345". Empty for an empty
/// cell.
std::string formatCell(const Cell& cell, Unit unit);

/// "1.234 ms", "12.5 us", "3.2 s": three to four significant digits.
std::string formatDuration(int64_t durationNs);
/// "1.234567890 s": a point in time, of which no nanosecond may be lost.
std::string formatTimestamp(int64_t timeNs);
/// "4.00 MiB"; powers of 1024.
std::string formatBytes(int64_t bytes);
/// "1,234,567".
std::string formatCount(int64_t count);

/// `text` for one line of a terminal or a table: control characters, which could move the cursor or
/// break the line, become spaces; bytes that are not UTF-8, and characters that turn the direction
/// of writing, become U+FFFD.
std::string printable(std::string_view text);

/// Puts a comma between groups of three digits of the whole part: "1234.5" becomes "1,234.5".
std::string withThousands(std::string digits);

/// JSON whose texts hold no DEL, no control character of C1 and none that turns the direction of
/// writing as it is, which JSON allows and a terminal acts upon, but escaped: it says the same.
std::string withoutControls(std::string json);

}  // namespace lanescope
