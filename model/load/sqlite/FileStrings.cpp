// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/FileStrings.h"

#include "model/format/tables/Names.h"
#include "model/load/sqlite/TableReader.h"

namespace lanescope {

void FileStrings::read(LoadContext& context) {
    constexpr const auto& table = tables::strings;
    TableReader reader(context, table, {table.id, table.value}, "strings");
    // Ids beyond what the file can hold would make the vector larger than the file.
    const int64_t denseLimit = context.possibleRows();
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(table.id);
        if (!id) {
            reader.skipRow();
            continue;
        }
        const StringIndex index = builder_.intern(reader.text(table.value));
        if (*id < 0 || *id >= denseLimit) {
            sparse_[*id] = index;
            continue;
        }
        const auto position = static_cast<size_t>(*id);
        if (position >= dense_.size()) dense_.resize(position + 1, missing);
        dense_[position] = index;
    }
}

std::optional<StringIndex> FileStrings::find(int64_t id) const {
    if (id >= 0 && static_cast<uint64_t>(id) < dense_.size()) {
        const StringIndex index = dense_[static_cast<size_t>(id)];
        return index != missing ? std::optional(index) : std::nullopt;
    }
    const auto found = sparse_.find(id);
    return found != sparse_.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace lanescope
