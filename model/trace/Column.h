// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
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
/// any thread. About 2 ns a value; `copyTo` is quicker for long runs. A short one is small: of
/// many lanes of few slices each, it is the columns and not the slices that would take the memory.
template <class T>
class Column {
  public:
    using value_type = T;
    using const_iterator = IndexIterator<Column>;
    using iterator = const_iterator;
    static constexpr size_t blockSize = PackedBlocks::blockSize;

    Column() = default;
    /// Grows in `memory`, which must outlive it.
    explicit Column(LargeMemory* memory) : memory_(memory) {}
    Column(std::initializer_list<T> values) {
        for (const T& value : values) push_back(value);
    }
    /// A copy is in no `LargeMemory`.
    Column(const Column& other)
        : packedCount_(other.packedCount_),
          whole_(other.whole_ ? std::make_unique<Whole>(*other.whole_) : nullptr),
          tail_(other.tail_) {}
    Column(Column&& other) noexcept
        : memory_(other.memory_),
          packedCount_(std::exchange(other.packedCount_, 0)),
          whole_(std::move(other.whole_)),
          tail_(std::move(other.tail_)) {}
    Column& operator=(Column other) noexcept {
        memory_ = other.memory_;
        packedCount_ = other.packedCount_;
        whole_ = std::move(other.whole_);
        tail_ = std::move(other.tail_);
        return *this;
    }
    ~Column() = default;

    size_t size() const { return packedCount_ + tail_.size(); }
    bool empty() const { return size() == 0; }
    T operator[](size_t index) const {
        if (index < packedCount_) [[likely]]
            return whole_->valueOf(whole_->blocks.at(index));
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
            whole_->blocks.set(index, bitsOf(value));
        else
            tail_[index - packedCount_] = value;
    }
    void clear() { *this = Column(memory()); }
    /// What it grows in, to make others that follow it.
    LargeMemory* memory() const { return memory_; }

    // For storing.

    /// The whole blocks, and the values behind them.
    const PackedBlocks& packed() const {
        static const PackedBlocks none;
        return whole_ ? whole_->blocks : none;
    }
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
        if (count > blocks.size() * blockSize) return false;
        auto whole = std::make_unique<Whole>(memory_);
        if (!whole->blocks.map(blocks, data, checks)) return false;
        packedCount_ = count;
        if (!blocks.empty()) whole_ = std::move(whole);
        return true;
    }
    /// Of a mapped column: what does not lie between the two reads as `least`. `noIndex` stays if
    /// it `mayBeNone`.
    void bound(int64_t least, int64_t greatest, bool mayBeNone = false) {
        if (!whole_) return;
        whole_->least = least;
        whole_->span = static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least);
        whole_->mayBeNone = mayBeNone;
    }
    /// Of a mapped column of events: one that is not in its table reads as invalid. `rows` must
    /// outlive the column.
    void bound(const RowCounts* rows) {
        if (whole_) whole_->rows = rows;
    }

    friend bool operator==(const Column& a, const Column& b) {
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
    }

  private:
    /// The whole blocks, and between what their values must lie.
    struct Whole {
        explicit Whole(LargeMemory* memory) : blocks(memory) {}

        T valueOf(int64_t bits) const {
            if constexpr (std::is_same_v<T, EventRef>) {
                const EventRef event = EventRef::fromBits(static_cast<uint32_t>(bits));
                const auto kind = static_cast<size_t>(event.kind());
                if (rows != nullptr && event.row() >= (*rows)[kind]) [[unlikely]]
                    return {};
                return event;
            } else if constexpr (std::is_floating_point_v<T>) {
                return static_cast<T>(std::bit_cast<double>(bits));
            } else {
                if (static_cast<uint64_t>(bits) - static_cast<uint64_t>(least) > span) [[unlikely]]
                    if (!mayBeNone || bits != noIndex) bits = least;
                return static_cast<T>(bits);
            }
        }

        PackedBlocks blocks;
        int64_t least = 0;
        uint64_t span = ~uint64_t{0};
        const RowCounts* rows = nullptr;
        bool mayBeNone = false;
    };

    void packTail() {
        std::array<int64_t, blockSize> bits;
        std::transform(tail_.begin(), tail_.end(), bits.begin(), bitsOf);
        if (!whole_) whole_ = std::make_unique<Whole>(memory_);
        whole_->blocks.append(bits);
        packedCount_ += blockSize;
        tail_.clear();
    }

    LargeMemory* memory_ = nullptr;
    size_t packedCount_ = 0;
    std::unique_ptr<Whole> whole_;  // none before the first whole block
    std::vector<T> tail_;
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
        whole_->blocks.unpack(index / blockSize, bits);
        for (size_t i = 0; i < count; ++i) out[done + i] = whole_->valueOf(bits[within + i]);
        done += count;
    }
    for (; done < out.size(); ++done) out[done] = (*this)[first + done];
}

}  // namespace lanescope
