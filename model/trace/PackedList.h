// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "model/numbers/LargeMemory.h"
#include "model/trace/Column.h"
#include "model/trace/PackedBlocks.h"

namespace lanescope {

/// List of records, for computed data that grows with the events. Each 256 records are packed to the bits that the
/// range of each field needs, a fifth of their size. Read by value like a vector; grows at its end. A `Reader` is
/// several times as fast for many. Movable.
///
/// `Record` has `fieldCount`, `fields()`, which returns all values as 64-bit numbers, and `fromFields(values)`.
template <class Record>
class PackedList {
  public:
    using value_type = Record;
    using const_iterator = IndexIterator<PackedList>;
    using iterator = const_iterator;
    using Fields = std::array<int64_t, Record::fieldCount>;
    static constexpr size_t blockSize = PackedBlocks::blockSize;

    PackedList() = default;
    /// Makes a list that grows in `memory`, which must outlive it.
    explicit PackedList(LargeMemory* memory) : memory_(memory) {}
    PackedList(std::initializer_list<Record> records) : rest_(records) {}
    PackedList(const PackedList& other) : memory_(other.memory_) { append(other); }
    PackedList(PackedList&& other) noexcept = default;
    PackedList& operator=(PackedList other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(packed_, other.packed_);
        std::swap(rest_, other.rest_);
        return *this;
    }
    ~PackedList() = default;

    size_t size() const { return packedCount() + rest_.size(); }
    bool empty() const { return size() == 0; }
    Record operator[](size_t index) const {
        const size_t packed = packedCount();
        if (index >= packed) return rest_[index - packed];
        Fields values;
        for (size_t field = 0; field < values.size(); ++field) values[field] = (*packed_)[field].at(index);
        return Record::fromFields(values);
    }
    /// Returns the value of one field, in the order of `fields`.
    template <size_t field>
    int64_t valueOf(size_t index) const {
        const size_t packed = packedCount();
        return index < packed ? (*packed_)[field].at(index) : rest_[index - packed].fields()[field];
    }
    Record front() const { return (*this)[0]; }
    Record back() const { return (*this)[size() - 1]; }
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, size()}; }
    LargeMemory* memory() const { return memory_; }

    void push_back(const Record& record) {
        rest_.push_back(record);
        if (rest_.size() == blockSize) pack();
    }
    void append(const PackedList& more) {
        for (Reader each(more); !each.isAtEnd(); each.next()) push_back(*each);
    }

    /// Reads records in order, a block at a time. The list must outlive it and not change.
    class Reader {
      public:
        /// Starts with the record of number `first`.
        explicit Reader(const PackedList& list, size_t first = 0)
            : list_(list), size_(list.size()), packed_(list.packedCount()), next_(first) {
            next();
        }
        Reader& operator=(Reader&&) = delete;

        bool isAtEnd() const { return index() >= size_; }
        /// The current record, unless at the end.
        const Record& operator*() const { return current_; }
        const Record* operator->() const { return &current_; }
        size_t index() const { return next_ - 1; }
        void next() {
            const size_t index = next_++;
            if (index >= packed_) {
                if (index < size_) current_ = list_.rest_[index - packed_];
                return;
            }
            if (index / blockSize != block_) unpack(index / blockSize);
            Fields values;
            for (size_t field = 0; field < values.size(); ++field) values[field] = values_[field][index % blockSize];
            current_ = Record::fromFields(values);
        }

      private:
        void unpack(size_t block) {
            block_ = block;
            for (size_t field = 0; field < values_.size(); ++field)
                (*list_.packed_)[field].unpack(block, values_[field]);
        }

        const PackedList& list_;
        const size_t size_, packed_;
        size_t next_;
        size_t block_ = SIZE_MAX;
        Record current_;
        /// Filled by `unpack` only, as most lists are short.
        std::array<std::array<int64_t, blockSize>, Record::fieldCount> values_;
    };

  private:
    using Packed = std::array<PackedBlocks, Record::fieldCount>;

    size_t packedCount() const { return packed_ ? packed_->front().blockCount() * blockSize : 0; }
    void pack() {
        if (!packed_) {
            packed_ = std::make_unique<Packed>();
            for (PackedBlocks& field : *packed_) field = PackedBlocks(memory_);
        }
        std::array<std::array<int64_t, blockSize>, Record::fieldCount> values;
        for (size_t i = 0; i < blockSize; ++i) {
            const Fields of = rest_[i].fields();
            for (size_t field = 0; field < of.size(); ++field) values[field][i] = of[field];
        }
        for (size_t field = 0; field < values.size(); ++field) (*packed_)[field].append(values[field]);
        rest_.clear();
    }

    LargeMemory* memory_ = nullptr;
    std::unique_ptr<Packed> packed_;
    std::vector<Record> rest_;  ///< The last ones, less than a block.
};

}  // namespace lanescope
