// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include "model/trace/EventRef.h"
#include "model/trace/IndexIterator.h"
#include "model/trace/PackedBlocks.h"

namespace lanescope {

/// How many rows each table of a trace has, by `EventKind`.
using RowCounts = std::array<uint32_t, EventRef::kindLimit>;

/// One column of a table: numbers, enumerators or `EventRef`s, packed in blocks of 256 values of
/// as many bytes as their spread needs. Read by value, like a vector; grows at its end. A column
/// is either owned, or mapped from a file: then it cannot change, and what it reads is safe
/// whatever the file holds; a row that it does not have reads as the default value. Reading is for
/// any thread. About 2 ns a value; `copyTo` is quicker for long runs.
template <class T>
class Column {
  public:
    using value_type = T;
    using const_iterator = IndexIterator<Column>;
    using iterator = const_iterator;
    static constexpr size_t blockSize = PackedBlocks::blockSize;

    Column() = default;
    /// Grows in `memory`, which must outlive it.
    explicit Column(LargeMemory* memory) : packed_(memory) {}
    Column(std::initializer_list<T> values) {
        for (const T& value : values) push_back(value);
    }

    size_t size() const { return packedCount_ + tail_.size(); }
    bool empty() const { return size() == 0; }
    T operator[](size_t index) const {
        if (index < packedCount_) [[likely]]
            return valueOf(packed_.at(index));
        // A damaged file may name any row, and checking each of its columns would take too long.
        const size_t place = index - packedCount_;
        return place < tail_.size() ? tail_[place] : T();
    }
    T front() const { return (*this)[0]; }
    T back() const { return (*this)[size() - 1]; }
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, size()}; }

    /// Copies `out.size()` values from row `first` on; they must exist.
    void copyTo(std::span<T> out, size_t first) const;

    // While building; not for mapped columns.

    void push_back(T value) {
        tail_.push_back(value);
        if (tail_.size() == blockSize) packTail();
    }
    /// Changes one value; meant for few.
    void set(size_t index, T value) {
        if (index < packedCount_)
            packed_.set(index, bitsOf(value));
        else
            tail_[index - packedCount_] = value;
    }
    void clear() { *this = Column(memory()); }
    /// What it grows in, to make others that follow it.
    LargeMemory* memory() const { return packed_.memory(); }

    // For storing.

    /// The whole blocks, and the values behind them.
    const PackedBlocks& packed() const { return packed_; }
    std::span<const T> tail() const { return tail_; }
    static int64_t bitsOf(T value) {
        if constexpr (std::is_same_v<T, EventRef>)
            return value.bits();
        else if constexpr (std::is_floating_point_v<T>)
            return std::bit_cast<int64_t>(double{value});
        else
            return static_cast<int64_t>(value);
    }

    /// Makes it a mapped column of `count` values. False if they are not all there.
    bool map(std::span<const PackedBlock> blocks, std::span<const std::byte> data, size_t count,
             BlockChecks checks = {}) {
        *this = Column(memory());
        if (count > blocks.size() * blockSize || !packed_.map(blocks, data, checks)) return false;
        packedCount_ = count;
        return true;
    }
    /// Of a mapped column: what does not lie between the two reads as `least`. `noIndex` stays if
    /// it `mayBeNone`.
    void bound(int64_t least, int64_t greatest, bool mayBeNone = false) {
        least_ = least;
        span_ = static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least);
        mayBeNone_ = mayBeNone;
    }
    /// Of a mapped column of events: one that is not in its table reads as invalid. `rows` must
    /// outlive the column.
    void bound(const RowCounts* rows) { rows_ = rows; }

    friend bool operator==(const Column& a, const Column& b) {
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
    }

  private:
    T valueOf(int64_t bits) const {
        if constexpr (std::is_same_v<T, EventRef>) {
            const EventRef event = EventRef::fromBits(static_cast<uint32_t>(bits));
            const auto kind = static_cast<size_t>(event.kind());
            if (rows_ != nullptr && event.row() >= (*rows_)[kind]) [[unlikely]]
                return {};
            return event;
        } else if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(std::bit_cast<double>(bits));
        } else {
            if (static_cast<uint64_t>(bits) - static_cast<uint64_t>(least_) > span_) [[unlikely]]
                if (!mayBeNone_ || bits != noIndex) bits = least_;
            return static_cast<T>(bits);
        }
    }

    void packTail() {
        std::array<int64_t, blockSize> bits;
        std::transform(tail_.begin(), tail_.end(), bits.begin(), bitsOf);
        packed_.append(bits);
        packedCount_ += blockSize;
        tail_.clear();
    }

    PackedBlocks packed_;
    size_t packedCount_ = 0;
    std::vector<T> tail_;
    int64_t least_ = 0;
    uint64_t span_ = ~uint64_t{0};
    const RowCounts* rows_ = nullptr;
    bool mayBeNone_ = false;
};

template <class T>
void Column<T>::copyTo(std::span<T> out, size_t first) const {
    std::array<int64_t, blockSize> bits;
    size_t done = 0;
    while (done < out.size() && first + done < packedCount_) {
        const size_t index = first + done;
        const size_t within = index % blockSize;
        const size_t count =
            std::min({blockSize - within, out.size() - done, packedCount_ - index});
        packed_.unpack(index / blockSize, bits);
        for (size_t i = 0; i < count; ++i) out[done + i] = valueOf(bits[within + i]);
        done += count;
    }
    for (; done < out.size(); ++done) out[done] = (*this)[first + done];
}

}  // namespace lanescope
