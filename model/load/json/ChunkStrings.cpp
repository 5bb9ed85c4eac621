// SPDX-License-Identifier: Apache-2.0
#include "model/load/json/ChunkStrings.h"

#include "model/values/MixedMap.h"

namespace lanescope {

void ChunkStrings::grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (uint32_t index = 0; index < texts_.size(); ++index) {
        auto at = static_cast<size_t>(hashes_[index]);
        while (slots_[at & (slots_.size() - 1)] != 0) ++at;
        slots_[at & (slots_.size() - 1)] = index + 1;
    }
}

uint32_t ChunkStrings::add(std::string_view text) {
    if (slots_.size() <= 2 * texts_.size()) grow();
    const uint64_t hash = mixed(text);
    for (auto at = static_cast<size_t>(hash);; ++at) {
        uint32_t& slot = slots_[at & (slots_.size() - 1)];
        if (slot == 0) {
            texts_.push_back(text);
            hashes_.push_back(hash);
            slot = static_cast<uint32_t>(texts_.size());
        } else if (hashes_[slot - 1] != hash || texts_[slot - 1] != text) {
            continue;
        }
        return slot - 1;
    }
}

std::string_view ChunkStrings::kept(const JsonValue& value) {
    if (!value.isString() || !value.isEscaped) return value.text;
    return unescaped_.emplace_back(unescaped(value.text));
}

uint32_t ChunkStrings::add(const JsonValue& value) {
    if (!value.isString() || !value.isEscaped) return add(value.text);
    // Not kept twice.
    const size_t known = texts_.size();
    unescaped_.push_back(unescaped(value.text));
    const uint32_t index = add(std::string_view(unescaped_.back()));
    if (texts_.size() == known) unescaped_.pop_back();
    return index;
}

}  // namespace lanescope
