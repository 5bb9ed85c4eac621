// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/StackTableWriter.h"

#include "capture/collector/unless.h"

namespace lanescope::capture {

StackTableWriter::StackTableWriter(const Database& database, FirstError& error)
    : rows_(database, tables::stacks, error) {}

int64_t StackTableWriter::intern(const TraceStack& stack) {
    const auto id = static_cast<int64_t>(ids_.size()) + 1;
    const auto [known, isNew] = ids_.try_emplace(stack, id);
    if (!isNew) return known->second;
    constexpr const auto& t = tables::stacks;
    rows_.insert(t.id = id, t.parentId = unlessZero(stack.parent), t.functionId = stack.function,
                 t.fileId = unlessZero(stack.file), t.line = unlessZero(stack.line));
    return id;
}

size_t StackTableWriter::Hash::operator()(const TraceStack& stack) const {
    uint64_t mixed = 0;
    for (const uint64_t part :
         {static_cast<uint64_t>(stack.parent), static_cast<uint64_t>(stack.function),
          static_cast<uint64_t>(stack.file), uint64_t{stack.line}}) {
        mixed = (mixed ^ part) * 0x9e3779b97f4a7c15;
        mixed ^= mixed >> 29;
    }
    return mixed;
}

}  // namespace lanescope::capture
