// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/LogStacks.h"

#include <string_view>

namespace lanescope::capture {

void LogStacks::add(const log::StackRecord& record, LogStrings& strings) {
    if (record.stack == 0) return;  // which stands for none
    const std::string_view file = strings.text(record.file);
    ids_[record.stack] = trace_.intern({.parent = traceId(record.parent).value_or(0),
                                        .function = strings.traceId(record.function),
                                        .file = file.empty() ? 0 : trace_.internSource(file),
                                        .line = record.line});
}

std::optional<int64_t> LogStacks::traceId(uint32_t stack) const {
    const auto found = ids_.find(stack);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace lanescope::capture
