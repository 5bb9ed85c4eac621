// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "model/format/AtomicFile.h"
#include "model/index/IndexFormat.h"
#include "model/index/traceFields.h"

namespace lanescope {

/// Visits fields and stores them: small ones one after the other in memory, columns in the file.
class FieldWriter {
  public:
    /// `isWanted` is asked now and then; once it says no, or what is small takes more than
    /// `mostSmall` bytes, nothing more is written.
    FieldWriter(AtomicFile& file, size_t mostSmall, std::function<bool()> isWanted)
        : file_(file), mostSmall_(mostSmall), isWanted_(std::move(isWanted)) {}

    template <class T>
    void operator()(const T& value) {
        if constexpr (std::is_floating_point_v<T>)
            put(double{value});
        else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
            put(static_cast<int64_t>(value));
        else
            forEachField(value, *this);
    }
    void operator()(const std::string& text) {
        put(uint64_t{text.size()});
        append(text.data(), text.size());
    }
    template <class T>
    void operator()(const std::optional<T>& value) {
        (*this)(value.has_value());
        if (value) (*this)(*value);
    }
    template <class T>
    void operator()(const Rare<T>& value) {
        (*this)(value.isThere());
        if (value.isThere()) (*this)(*value);
    }
    template <class T, size_t size>
    void operator()(const std::array<T, size>& values) {
        for (const T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(const std::vector<T>& values) {
        put(uint64_t{values.size()});
        for (const T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(const RecordColumn<T>& records) {
        for (const Column<int64_t>& field : records.fields()) (*this)(field);
    }
    template <class T>
    void operator()(const Column<T>& column) {
        const auto found = ahead_.find(&column);
        put(found != ahead_.end() ? found->second : store(column));
    }
    void operator()(const StringTable& strings);

    /// Puts the tiles of all lanes and counters one behind the other, the shortest levels first,
    /// before anything else: a picture needs levels of about one length, so that it touches few
    /// places of the file. The trace must be the one that is visited then.
    void storeTilesAhead(const Trace& trace);

    /// Fills the file up to a multiple of eight bytes, where a column's blocks may begin.
    void align();
    const std::vector<std::byte>& small() const { return small_; }
    bool isCancelled() const { return isCancelled_; }
    bool isTooLarge() const { return isTooLarge_; }

  private:
    template <class T>
    void put(T value) {
        append(&value, sizeof value);
    }
    void append(const void* bytes, size_t count) {
        isTooLarge_ = isTooLarge_ || count > mostSmall_ - small_.size();
        if (isTooLarge_) return;
        const auto* from = static_cast<const std::byte*>(bytes);
        small_.insert(small_.end(), from, from + count);
    }
    template <class T>
    StoredColumn store(const Column<T>& column) {
        std::vector<int64_t> rest;
        for (const T& value : column.tail()) rest.push_back(Column<T>::bitsOf(value));
        return store(column.packed(), rest);
    }
    StoredColumn store(const PackedBlocks& packed, std::vector<int64_t>& rest);

    AtomicFile& file_;
    size_t mostSmall_;
    std::function<bool()> isWanted_;
    std::vector<std::byte> small_;
    std::unordered_map<const void*, StoredColumn> ahead_;  ///< By column.
    bool isCancelled_ = false, isTooLarge_ = false;
};

}  // namespace lanescope
