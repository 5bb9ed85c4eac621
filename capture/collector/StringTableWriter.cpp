// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/StringTableWriter.h"

#include "model/format/utf8.h"

namespace lanescope::capture {

StringTableWriter::StringTableWriter(const Database& database, FirstError& error)
    : rows_(database, tables::strings, error) {}

int64_t StringTableWriter::intern(std::string_view text) {
    if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
    if (!isUtf8(text)) return intern(validUtf8(text));
    const auto id = static_cast<int64_t>(ids_.size()) + 1;
    ids_.emplace(text, id);
    rows_.insert(tables::strings.id = id, tables::strings.value = text);
    return id;
}

}  // namespace lanescope::capture
