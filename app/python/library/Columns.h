// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/text/ReportTable.h"

namespace lanescope::python {

/// Memory of a column in Arrow's layout: aligned to 64 bytes, initially uninitialized.
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(size_t bytes);

    const void* data() const { return data_.get(); }
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data_.get());
    }

  private:
    struct Free {
        void operator()(std::byte* data) const { std::free(data); }
    };
    std::unique_ptr<std::byte, Free> data_;
};

enum class ColumnType : uint8_t {
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float64,
    Text,  ///< UTF-8.
    Name,  ///< UTF-8, as an index into a dictionary.
};

/// Some rows of a column: numbers, name indices, or ends of texts.
struct ColumnValues {
    Buffer values;
    Buffer text;      ///< For `ColumnType::Text`.
    Buffer validity;  ///< One bit per row; empty if no row is null.
    int64_t nullCount = 0;
};

/// Fills a column of texts or a dictionary, in order.
ColumnValues textsAsColumn(std::span<const std::string> texts);

/// Marks rows as null; all are valid at first.
class ValidityBits {
  public:
    explicit ValidityBits(size_t rows) : rows_(rows) {}
    void setNull(size_t row);
    /// Moves the bits into a column.
    void moveTo(ColumnValues& column);

  private:
    size_t rows_;
    int64_t nullCount_ = 0;
    Buffer bits_;
};

/// The distinct names of a column, numbered by first occurrence. Names are converted to valid UTF-8.
class Names {
  public:
    int32_t numberOf(std::string_view name);
    const std::vector<std::string>& texts() const { return texts_; }

  private:
    std::vector<std::string> texts_;
    std::unordered_map<std::string, int32_t> numbers_;
};

/// An immutable dictionary.
struct Dictionary {
    explicit Dictionary(const Names& names) : texts(names.texts()), values(textsAsColumn(texts)) {}
    std::vector<std::string> texts;
    ColumnValues values;
};

struct ColumnInfo {
    std::string name;   ///< For programs.
    std::string title;  ///< For people, next to the unit.
    Unit unit = Unit::Text;
    ColumnType type = ColumnType::Int64;
    std::shared_ptr<const Dictionary> dictionary = {};  ///< For `ColumnType::Name`.
};

/// Some rows of a table. Columns may contain more rows; these start at `offset`.
struct Batch {
    size_t offset = 0;
    size_t rows = 0;
    std::vector<std::shared_ptr<const ColumnValues>> columns;
};

/// Rows and typed columns; immutable. Any thread may read it.
class Table {
  public:
    explicit Table(std::string name) : name_(std::move(name)) {}
    virtual ~Table() = default;
    Table& operator=(Table&&) = delete;

    const std::string& name() const { return name_; }
    /// Sentences below the table.
    const std::vector<std::string>& notes() const { return notes_; }
    const std::vector<ColumnInfo>& columns() const { return columns_; }
    virtual int64_t rowCount() const = 0;
    /// Returns up to `maxRows` rows, and no fewer than one, from the existing row `first` on.
    virtual Batch rows(int64_t first, int64_t maxRows) const = 0;

  protected:
    std::string name_;
    std::vector<std::string> notes_;
    std::vector<ColumnInfo> columns_;
};
using TablePtr = std::shared_ptr<const Table>;

/// Returns the bytes of a number of this type; of a text's end, of a name's index.
constexpr size_t sizeOf(ColumnType type) {
    const bool isWide = type == ColumnType::Int64 || type == ColumnType::UInt64 || type == ColumnType::Float64;
    return isWide ? 8 : 4;
}

}  // namespace lanescope::python
