// SPDX-License-Identifier: Apache-2.0
#include "app/python/library/Columns.h"

#include <cstring>
#include <new>

#include "model/format/text.h"
#include "model/system/system.h"

namespace lanescope::python {

Buffer::Buffer(size_t bytes) {
    constexpr size_t line = 64, hugePage = size_t{1} << 21;
    // The kernel takes longer to provide a gigabyte in small pages than this process to fill it.
    const bool isLarge = bytes >= hugePage;
    const size_t alignment = isLarge ? hugePage : line;
    const size_t size = (bytes / line + 1) * line;
    void* data = nullptr;
    if (::posix_memalign(&data, alignment, size) != 0) throw std::bad_alloc();
    if (isLarge) system::preferLargePages(data, size);
    data_.reset(static_cast<std::byte*>(data));
}

ColumnValues textsAsColumn(std::span<const std::string> texts) {
    size_t bytes = 0;
    for (const std::string& text : texts) bytes += text.size();
    ColumnValues column{Buffer((texts.size() + 1) * sizeof(int32_t)), Buffer(bytes), {}, 0};
    auto* end = column.values.as<int32_t>();
    *end = 0;
    size_t place = 0;
    for (const std::string& text : texts) {
        std::memcpy(column.text.as<char>() + place, text.data(), text.size());
        place += text.size();
        *++end = static_cast<int32_t>(place);
    }
    return column;
}

void ValidityBits::setNull(size_t row) {
    if (bits_.data() == nullptr) {
        const size_t bytes = (rows_ + 7) / 8;
        bits_ = Buffer(bytes);
        std::memset(bits_.as<char>(), 0xff, bytes);
    }
    bits_.as<uint8_t>()[row / 8] &= static_cast<uint8_t>(~(1u << row % 8));
    ++nullCount_;
}

void ValidityBits::moveTo(ColumnValues& column) {
    column.validity = std::move(bits_);
    column.nullCount = nullCount_;
}

int32_t Names::numberOf(std::string_view name) {
    std::string text = validUtf8(name);
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) return known->second;
    const auto number = static_cast<int32_t>(texts_.size());
    texts_.push_back(text);
    numbers_.emplace(std::move(text), number);
    return number;
}

}  // namespace lanescope::python
