// SPDX-License-Identifier: Apache-2.0
#include "model/trace/StringTable.h"

#include <algorithm>

#include "model/format/checksums.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

namespace {

constexpr size_t bytesTogether = size_t{1} << 16;

}  // namespace

StringTable::StringTable(LargeMemory* memory) : strings_(memory), slots_(memory) { intern({}); }

StringIndex StringTable::intern(std::string_view text) {
    if (slots_.size() <= 2 * strings_.size()) grow();
    uint32_t& slot = slotOf(text);
    if (slot == 0) {
        strings_.push_back(kept(text));
        slot = static_cast<uint32_t>(strings_.size());
    }
    return slot - 1;
}

uint32_t& StringTable::slotOf(std::string_view text) {
    auto at = static_cast<size_t>(mixed(text));
    while (true) {
        uint32_t& slot = slots_[at++ & (slots_.size() - 1)];
        if (slot == 0 || strings_[slot - 1] == text) return slot;
    }
}

void StringTable::grow() {
    slots_.assign(std::max<size_t>(64, 2 * slots_.size()), 0);
    for (uint32_t number = 1; const std::string_view text : strings_) slotOf(text) = number++;
}

std::string_view StringTable::kept(std::string_view text) {
    if (texts_.empty() || texts_.back().capacity() - texts_.back().size() < text.size())
        texts_.emplace_back(strings_.get_allocator()).reserve(std::max(bytesTogether, text.size()));
    LargeVector<char>& texts = texts_.back();
    const size_t begin = texts.size();
    texts.insert(texts.end(), text.begin(), text.end());
    return {texts.data() + begin, text.size()};
}

std::string_view StringTable::at(StringIndex index) const {
    if (!isMapped_) return index < strings_.size() ? strings_[index] : std::string_view();
    if (index >= ends_.size()) return {};
    if (const uint32_t block = index / blockSize; checks_.isDue(block)) [[unlikely]]
        checks_.compare(block, checksumOfBlock(block));
    return mapped(index);
}

std::string_view StringTable::mapped(StringIndex index) const {
    const uint64_t begin = index == 0 ? 0 : ends_[index - 1];
    const uint64_t end = ends_[index];
    if (begin > end || end > text_.size()) return {};
    return text_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

uint32_t StringTable::checksumOfBlock(uint32_t block) const {
    uint32_t checksum = 0;
    const uint32_t first = block * blockSize;
    for (uint32_t index = first; index < size() && index < first + blockSize; ++index)
        checksum = checksumOf(std::as_bytes(std::span(isMapped_ ? mapped(index) : strings_[index])), checksum);
    return checksum;
}

void StringTable::checkAll() const {
    for (uint32_t index = 0; index < size(); index += blockSize) static_cast<void>(at(index));
}

void StringTable::map(std::string_view text, Column<uint64_t> ends, BlockChecks checks) {
    texts_.clear();
    strings_.clear();
    slots_.clear();
    isMapped_ = true;
    text_ = text;
    ends_ = std::move(ends);
    checks_ = checks;
}

}  // namespace lanescope
