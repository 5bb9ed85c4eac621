// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/Stacks.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"

namespace lanescope {

void readStacks(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::stacks;
    TableReader reader(context, t, {t.id, t.parentId, t.functionId, t.fileId, t.line},
                       "Python stacks");
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(t.id);
        const std::optional<int64_t> parent = reader.integer(t.parentId);
        const auto outer = parent ? directory.stacks.find(*parent) : directory.stacks.end();
        if (!id || (parent && outer == directory.stacks.end())) {
            reader.skipRow();
            continue;
        }
        const uint32_t stack = context.builder().stack(
            parent ? outer->second : noIndex,
            reader.string(t.functionId, directory.strings).value_or(0),
            reader.string(t.fileId, directory.strings).value_or(0), reader.unsigned32(t.line));
        if (stack == noIndex)
            reader.skipRow();
        else
            directory.stacks.try_emplace(*id, stack);
    }
}

}  // namespace lanescope
