// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "model/index/IndexFormat.h"
#include "model/index/SeenBlocks.h"
#include "model/index/traceFields.h"

namespace lanescope {

/// Visits fields and fills them with what `FieldWriter` stored; columns become views of `file`.
/// What is not there, or lies outside, is left out and told by `isGood`.
class FieldReader {
  public:
    /// `seen` must live as long as the columns.
    FieldReader(std::span<const std::byte> file, std::span<const std::byte> small, SeenBlocks& seen)
        : file_(file), small_(small), seen_(seen) {}

    bool isGood() const { return isGood_; }
    bool isAtEnd() const { return small_.empty(); }

    template <class T>
    void operator()(T& value) {
        if constexpr (std::is_floating_point_v<T>)
            value = take<double>();
        else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
            value = static_cast<T>(take<int64_t>());
        else
            forEachField(value, *this);
    }
    void operator()(std::string& text) {
        const size_t count = takeCount();
        text.assign(reinterpret_cast<const char*>(small_.data()), count);
        small_ = small_.subspan(count);
    }
    template <class T>
    void operator()(std::optional<T>& value) {
        if (take<int64_t>() != 0) (*this)(value.emplace());
    }
    template <class T>
    void operator()(Rare<T>& value) {
        if (take<int64_t>() != 0) (*this)(value.edit());
    }
    template <class T, size_t size>
    void operator()(std::array<T, size>& values) {
        for (T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(std::vector<T>& values) {
        // Each value takes at least a byte, so memory for many is not asked for on a mere claim.
        const size_t count = takeCount();
        for (size_t i = 0; i < count && isGood_; ++i) (*this)(values.emplace_back());
    }
    template <class T>
    void operator()(RecordColumn<T>& records) {
        for (Column<int64_t>& field : records.fields()) (*this)(field);
    }
    template <class T>
    void operator()(Column<T>& column) {
        const auto stored = take<StoredColumn>();
        const auto blocks = part(stored.blocksOffset, stored.blockCount, sizeof(PackedBlock));
        const auto data = part(stored.dataOffset, stored.dataBytes, 1);
        const BlockChecks checks = checksAt(stored.blocksOffset + blocks.size(), stored.blockCount);
        if (!isGood_ || stored.blocksOffset % alignof(PackedBlock) != 0 ||
            !column.map({reinterpret_cast<const PackedBlock*>(blocks.data()),
                         static_cast<size_t>(stored.blockCount)},
                        data, stored.count, checks))
            isGood_ = false;
    }
    void operator()(StringTable& strings) {
        const auto offset = take<uint64_t>();
        const auto bytes = take<uint64_t>();
        const auto checksumsOffset = take<uint64_t>();
        const auto text = part(offset, bytes, 1);
        Column<uint64_t> ends;
        (*this)(ends);
        const size_t blocks = (ends.size() + StringTable::blockSize - 1) / StringTable::blockSize;
        const BlockChecks checks = checksAt(checksumsOffset, blocks);
        if (isGood_)
            strings.map({reinterpret_cast<const char*>(text.data()), text.size()}, std::move(ends),
                        checks);
    }

  private:
    template <class T>
    T take() {
        T value{};
        isGood_ = isGood_ && small_.size() >= sizeof value;
        if (!isGood_) return T{};
        std::memcpy(&value, small_.data(), sizeof value);
        small_ = small_.subspan(sizeof value);
        return value;
    }
    size_t takeCount() {
        const auto count = take<uint64_t>();
        isGood_ = isGood_ && count <= small_.size();
        return isGood_ ? static_cast<size_t>(count) : 0;
    }
    std::span<const std::byte> part(uint64_t offset, uint64_t count, uint64_t size) {
        isGood_ = isGood_ && offset <= file_.size() && count <= (file_.size() - offset) / size;
        if (!isGood_) return {};
        return file_.subspan(static_cast<size_t>(offset), static_cast<size_t>(count * size));
    }

    BlockChecks checksAt(uint64_t offset, uint64_t count) {
        const auto checksums = part(offset, count, sizeof(uint32_t));
        isGood_ = isGood_ && offset % alignof(uint32_t) == 0;
        if (!isGood_) return {};
        return seen_.checksFor(
            {reinterpret_cast<const uint32_t*>(checksums.data()), static_cast<size_t>(count)});
    }

    std::span<const std::byte> file_;
    std::span<const std::byte> small_;  ///< What is left of the section.
    SeenBlocks& seen_;
    bool isGood_ = true;
};

}  // namespace lanescope
