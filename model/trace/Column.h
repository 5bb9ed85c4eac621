// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "model/trace/EventRef.h"
#include "model/trace/PackedBlocks.h"

namespace lanescope {

/// Iterator over any container whose `operator[]` returns by value.
template <class Container>
class IndexIterator {
  public:
    using value_type = typename Container::value_type;
    using reference = value_type;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::random_access_iterator_tag;

    IndexIterator() = default;
    IndexIterator(const Container* container, size_t index)
        : container_(container), index_(static_cast<difference_type>(index)) {}

    value_type operator*() const { return (*container_)[static_cast<size_t>(index_)]; }
    value_type operator[](difference_type n) const { return *(*this + n); }
    IndexIterator& operator++() { return *this += 1; }
    IndexIterator& operator--() { return *this -= 1; }
    IndexIterator operator++(int) {
        IndexIterator old = *this;
        ++index_;
        return old;
    }
    IndexIterator operator--(int) {
        IndexIterator old = *this;
        --index_;
        return old;
    }
    IndexIterator& operator+=(difference_type n) {
        index_ += n;
        return *this;
    }
    IndexIterator& operator-=(difference_type n) { return *this += -n; }
    friend IndexIterator operator+(IndexIterator it, difference_type n) { return it += n; }
    friend IndexIterator operator+(difference_type n, IndexIterator it) { return it += n; }
    friend IndexIterator operator-(IndexIterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const IndexIterator& a, const IndexIterator& b) { return a.index_ - b.index_; }
    bool operator==(const IndexIterator& other) const { return index_ == other.index_; }
    auto operator<=>(const IndexIterator& other) const { return index_ <=> other.index_; }

  private:
    const Container* container_ = nullptr;
    difference_type index_ = 0;
};

/// Number of rows of each table of a trace, by `EventKind`.
using RowCounts = std::array<uint32_t, EventRef::kindLimit>;

/// Column of a table: numbers, enumerators or `EventRef`s, packed in blocks of 256 values with as many bytes as their
/// range needs. Read by value like a vector; grows at its end. A column is owned or mapped from a file. A mapped column
/// is constant and safe to read whatever the file contains; missing rows read as the default value. Any thread can
/// read. About 2 ns per value; `copyTo` is faster for many. A short column takes 24 bytes including a few values,
/// because traces have many lanes with few slices each.
template <class T>
class Column {
  public:
    using value_type = T;
    using const_iterator = IndexIterator<Column>;
    using iterator = const_iterator;
    static constexpr size_t blockSize = PackedBlocks::blockSize;

    Column() noexcept {}
    /// Makes a column that grows in `memory`, which must outlive it.
    explicit Column(LargeMemory* memory) { root_.memory = memory; }
    Column(std::initializer_list<T> values) : Column() {
        for (const T& value : values) push_back(value);
    }
    /// A copy is in no `LargeMemory`.
    Column(const Column& other) : Column() {
        if (other.packedCount_ > 0) startWith(new Whole(*other.root_.whole), other.packedCount_);
        for (const T& value : other.tail()) pushToTail(value);
    }
    Column(Column&& other) noexcept { take(other); }
    Column& operator=(Column other) noexcept {
        release();
        take(other);
        return *this;
    }
    ~Column() { release(); }

    size_t size() const { return packedCount_ + tailCount_; }
    bool empty() const { return size() == 0; }
    T operator[](size_t index) const {
        if (index < packedCount_) [[likely]]
            return root_.whole->valueOf(root_.whole->blocks.at(index));
        // A corrupt file may refer to any row, and validating each reference when loading would take too long.
        const size_t place = index - packedCount_;
        return place < tailCount_ ? tailValues()[place] : T();
    }
    T front() const { return (*this)[0]; }
    T back() const { return (*this)[size() - 1]; }
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, size()}; }

    /// Copies `out.size()` values from row `first` on; they must exist.
    void copyTo(std::span<T> out, size_t first) const;

    // Appends; not for mapped columns.

    void push_back(T value) {
        if (tailCount_ == blockSize - 1)
            packTail(value);
        else
            pushToTail(value);
    }
    /// Changes one value; slow for many.
    void set(size_t index, T value) {
        if (index < packedCount_)
            root_.whole->blocks.set(index, bitsOf(value));
        else
            tailValues()[index - packedCount_] = value;
    }
    void clear() { *this = Column(memory()); }
    /// Returns the memory it grows in.
    LargeMemory* memory() const { return packedCount_ > 0 ? root_.whole->blocks.memory() : root_.memory; }

    /// Returns the full blocks, for storing.
    const PackedBlocks& packed() const {
        static const PackedBlocks none;
        return packedCount_ > 0 ? root_.whole->blocks : none;
    }
    /// Returns the values after the full blocks. Valid until the column is changed or moved: a
    /// short tail is inside the column object.
    std::span<const T> tail() const { return {tailValues(), tailCount_}; }
    static int64_t bitsOf(T value) {
        if constexpr (std::is_same_v<T, EventRef>)
            return value.bits();
        else if constexpr (std::is_floating_point_v<T>)
            return std::bit_cast<int64_t>(double{value});
        else
            return static_cast<int64_t>(value);
    }

    /// Maps `count` values. Returns false if the data is too short.
    bool map(std::span<const PackedBlock> blocks, std::span<const std::byte> data, size_t count,
             BlockChecks checks = {}) {
        clear();
        if (count > blocks.size() * blockSize) return false;
        auto whole = std::make_unique<Whole>(memory());
        if (!whole->blocks.map(blocks, data, checks)) return false;
        if (count == 0) return true;
        startWith(whole.release(), count);
        return true;
    }
    /// Limits a mapped column: values outside of the range read as `minValue`. `noIndex` is kept if it `mayBeNone`.
    void bound(int64_t minValue, int64_t maxValue, bool mayBeNone = false) {
        if (packedCount_ == 0) return;
        root_.whole->minValue = minValue;
        root_.whole->span = static_cast<uint64_t>(maxValue) - static_cast<uint64_t>(minValue);
        root_.whole->mayBeNone = mayBeNone;
    }
    /// Limits a mapped column of events: a row outside of its table reads as invalid. `rows` must outlive the column.
    void bound(const RowCounts* rows) {
        if (packedCount_ > 0) root_.whole->rows = rows;
    }

    friend bool operator==(const Column& a, const Column& b) {
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
    }

  private:
    /// Full blocks with the valid range of their values.
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
                if (static_cast<uint64_t>(bits) - static_cast<uint64_t>(minValue) > span) [[unlikely]]
                    if (!mayBeNone || bits != noIndex) bits = minValue;
                return static_cast<T>(bits);
            }
        }

        PackedBlocks blocks;
        int64_t minValue = 0;
        uint64_t span = ~uint64_t{0};
        const RowCounts* rows = nullptr;
        bool mayBeNone = false;
    };
    /// The memory before the first full block, then the full blocks, which refer to the memory.
    union Root {
        LargeMemory* memory = nullptr;
        Whole* whole;
    };
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(int64_t));
    /// Number of values stored inside the column until it has a full block.
    static constexpr size_t nearValues = sizeof(int64_t) / sizeof(T);
    union Tail {
        std::array<T, nearValues> near{};
        T* far;
    };

    bool isTailFar() const { return packedCount_ > 0 || tailCount_ > nearValues; }
    const T* tailValues() const { return isTailFar() ? tail_.far : tail_.near.data(); }
    T* tailValues() { return isTailFar() ? tail_.far : tail_.near.data(); }
    /// Capacity of a tail outside of the column.
    size_t tailRoom() const {
        if (packedCount_ == 0) return std::bit_ceil(size_t{tailCount_});
        return tail_.far != nullptr ? blockSize : 0;
    }

    void pushToTail(T value) {
        if (packedCount_ == 0 && tailCount_ < nearValues) {
            tail_.near[tailCount_++] = value;
            return;
        }
        const bool isFull = packedCount_ > 0 ? tail_.far == nullptr : std::has_single_bit(size_t{tailCount_});
        if (isFull) growTail();
        tail_.far[tailCount_++] = value;
    }
    void growTail() {
        if (packedCount_ > 0) {
            tail_.far = resized(nullptr, 0, blockSize);
        } else if (tailCount_ > nearValues) {
            tail_.far = resized(tail_.far, tailCount_, 2 * size_t{tailCount_});
        } else {
            T* const grown = resized(nullptr, 0, 2 * nearValues);
            std::copy(tail_.near.begin(), tail_.near.end(), grown);
            tail_.far = grown;
        }
    }

    /// Packs the tail and this value into a block.
    void packTail(T last) {
        std::array<int64_t, blockSize> bits;
        std::transform(tailValues(), tailValues() + tailCount_, bits.begin(), bitsOf);
        bits.back() = bitsOf(last);
        if (packedCount_ == 0) {
            auto whole = std::make_unique<Whole>(root_.memory);
            whole->blocks.append(bits);
            root_.whole = whole.release();  // The tail was outside of the column before.
        } else {
            root_.whole->blocks.append(bits);
        }
        packedCount_ = packedCount_ + blockSize;
        tailCount_ = 0;
    }

    /// Sets the first full blocks of an empty column.
    void startWith(Whole* whole, size_t count) {
        root_.whole = whole;
        tail_.far = nullptr;
        packedCount_ = count;
    }
    static T* resized(T* values, size_t room, size_t newRoom) {
        return static_cast<T*>(resizeBlock(nullptr, values, room * sizeof(T), newRoom * sizeof(T)));
    }
    void release() noexcept {
        if (isTailFar()) releaseBlock(nullptr, tail_.far, tailRoom() * sizeof(T));
        if (packedCount_ > 0) delete root_.whole;
    }
    /// Moves the content of `other`, which is in the same memory; this column must be empty.
    void take(Column& other) noexcept {
        LargeMemory* const memory = other.memory();
        root_ = other.root_;
        tail_ = other.tail_;
        packedCount_ = other.packedCount_;
        tailCount_ = other.tailCount_;
        other.root_.memory = memory;
        other.tail_ = Tail();
        other.packedCount_ = 0;
        other.tailCount_ = 0;
    }

    Root root_;
    Tail tail_;
    uint64_t tailCount_ : 8 = 0;
    uint64_t packedCount_ : 56 = 0;
};

template <class T>
void Column<T>::copyTo(std::span<T> out, size_t first) const {
    std::array<int64_t, blockSize> bits;
    size_t done = 0;
    while (done < out.size() && first + done < packedCount_) {
        const size_t index = first + done;
        const size_t within = index % blockSize;
        const size_t count = std::min({blockSize - within, out.size() - done, size_t{packedCount_} - index});
        root_.whole->blocks.unpack(index / blockSize, bits);
        for (size_t i = 0; i < count; ++i) out[done + i] = root_.whole->valueOf(bits[within + i]);
        done += count;
    }
    for (; done < out.size(); ++done) out[done] = (*this)[first + done];
}

/// Column of records, stored as one packed column per field. `Record` lists its fields in a
/// function `forEachField(record, visitor)` next to it.
template <class Record>
class RecordColumn {
  public:
    using value_type = Record;
    using const_iterator = IndexIterator<RecordColumn>;

    RecordColumn() : RecordColumn(nullptr) {}
    /// Makes a column that grows in `memory`, which must outlive it.
    explicit RecordColumn(LargeMemory* memory) {
        Record record;
        forEachField(record, [&](auto&) { fields_.emplace_back(memory); });
    }

    size_t size() const { return fields_.front().size(); }
    bool empty() const { return size() == 0; }
    Record operator[](size_t index) const {
        Record record;
        auto field = fields_.begin();
        forEachField(record, [&](auto& value) {
            value = static_cast<std::remove_reference_t<decltype(value)>>((*field++)[index]);
        });
        return record;
    }
    Record back() const { return (*this)[size() - 1]; }
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, size()}; }

    void push_back(const Record& record) {
        auto field = fields_.begin();
        forEachField(record, [&](auto& value) { field++->push_back(static_cast<int64_t>(value)); });
    }
    void set(size_t index, const Record& record) {
        auto field = fields_.begin();
        forEachField(record, [&](auto& value) { field++->set(index, static_cast<int64_t>(value)); });
    }

    /// Returns one column per field, in the order of `forEachField`, for storing.
    std::vector<Column<int64_t>>& fields() { return fields_; }
    const std::vector<Column<int64_t>>& fields() const { return fields_; }

  private:
    std::vector<Column<int64_t>> fields_;
};

/// Reads rows of a column that are mostly near the ones before, such as all rows in order: a block of 256 at a time,
/// several times as fast as row by row. The column must outlive it and not change. One thread.
template <class T>
class ColumnReader {
  public:
    explicit ColumnReader(const Column<T>& column) : column_(column) {}

    /// Returns the value of a row, as `Column` does.
    T operator[](size_t row) {
        if (row - first_ < count_) return values_[row - first_];
        if (!isWorthReading(row / blockSize)) return column_[row];
        read(row);
        return values_[row - first_];
    }

  private:
    static constexpr size_t blockSize = Column<T>::blockSize;
    /// Rows outside of the block in memory, all in one other block, after which that is read.
    static constexpr size_t maxMisses = 16;

    /// Reading a block takes as long as some dozen rows.
    bool isWorthReading(size_t block) {
        if (block * blockSize >= column_.size()) return false;  // in a corrupt file
        if (block * blockSize == first_ + count_) return true;
        misses_ = block == missed_ ? misses_ + 1 : 1;
        missed_ = block;
        return misses_ > maxMisses;
    }
    void read(size_t row) {
        misses_ = 0;
        first_ = row / blockSize * blockSize;
        count_ = std::min(blockSize, column_.size() - first_);
        column_.copyTo(std::span(values_).first(count_), first_);
    }

    const Column<T>& column_;
    size_t first_ = 0, count_ = 0;  ///< The rows in memory.
    size_t missed_ = 0, misses_ = 0;
    std::array<T, blockSize> values_;
};

}  // namespace lanescope
