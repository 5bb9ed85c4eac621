// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "model/notes/Mark.h"
#include "model/values/ReportTable.h"

namespace lanescope {

/// Marks as a table: start, duration, track, text.
ReportTable marksTable(std::span<const Mark> marks);

/// Marks as a Markdown table under the title of their trace. What would break the table or is
/// markup stands as text.
std::string marksAsMarkdown(std::span<const Mark> marks, const std::string& title);

/// The track of a mark in one line: "GPU 0 / Compute, stream 7".
std::string trackText(const Mark& mark);

}  // namespace lanescope
