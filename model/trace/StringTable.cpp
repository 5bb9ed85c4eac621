#include "model/trace/StringTable.h"

namespace lanescope {

StringTable::StringTable() {
    intern({});
}

StringIndex StringTable::intern(std::string_view text) {
    if (const auto found = indexOf_.find(text); found != indexOf_.end()) return found->second;
    const auto index = static_cast<StringIndex>(strings_.size());
    const std::string& kept = strings_.emplace_back(text);
    indexOf_.emplace(kept, index);
    return index;
}

std::string_view StringTable::at(StringIndex index) const {
    return index < strings_.size() ? std::string_view(strings_[index]) : std::string_view();
}

}  // namespace lanescope
