// SPDX-License-Identifier: Apache-2.0
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
    if (!isMapped_)
        return index < strings_.size() ? std::string_view(strings_[index]) : std::string_view();
    if (index >= ends_.size()) return {};
    const uint64_t begin = index == 0 ? 0 : ends_[index - 1];
    const uint64_t end = ends_[index];
    if (begin > end || end > text_.size()) return {};
    return text_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

void StringTable::map(std::string_view text, Column<uint64_t> ends) {
    strings_.clear();
    indexOf_.clear();
    isMapped_ = true;
    text_ = text;
    ends_ = std::move(ends);
}

}  // namespace lanescope
