// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/FileStrings.h"

#include "model/format/tables/Session.h"
#include "model/format/text.h"
#include "model/importers/sqlite/RowReader.h"

namespace lanescope {

void FileStrings::read(LoadContext& context) {
    constexpr const auto& table = tables::strings;
    TableReader reader(context, table, {table.id, table.value}, "strings");
    // Larger ids than the file can contain rows would make the vector larger than the file.
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

std::string_view plainApiName(std::string_view entryPoint) {
    const size_t version = entryPoint.rfind("_v");
    if (version == std::string_view::npos) return entryPoint;
    const std::string_view digits = entryPoint.substr(version + 2);
    // CUDA versions have four or five digits ("_v3020", "_v12000").
    if (digits.size() < 4 || digits.size() > 5 || !isNumber(digits)) return entryPoint;
    std::string_view name = entryPoint.substr(0, version);
    // Variants of the default stream, which are the same call for the user.
    for (const std::string_view suffix : {"_ptsz", "_ptds"})
        if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    return name;
}

}  // namespace lanescope
