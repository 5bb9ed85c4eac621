#include "capture/collector/StringTableWriter.h"

namespace lanescope {

StringTableWriter::StringTableWriter(Database& database, Inserter::FirstError& error)
    : insert_(database, "INSERT INTO StringIds (id, value) VALUES (?1, ?2)", error) {}

int64_t StringTableWriter::intern(std::string_view text) {
    if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
    const auto id = static_cast<int64_t>(ids_.size()) + 1;
    ids_.emplace(text, id);
    insert_.insert(id, text);
    return id;
}

}  // namespace lanescope
