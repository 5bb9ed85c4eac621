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

/// Memory of a column as Arrow wants it: aligned to 64 bytes, and not set to anything at first.
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
    Name,  ///< UTF-8 by its number in a dictionary.
};

/// Some rows of a column: numbers, numbers of names, or where texts end.
struct ColumnValues {
    Buffer values;
    Buffer text;      ///< Of `ColumnType::Text`.
    Buffer validity;  ///< A bit for each row; none if no row is null.
    int64_t nullCount = 0;
};

/// Fills a column of texts or a dictionary, in order.
ColumnValues textsAsColumn(std::span<const std::string> texts);

/// Marks rows as null, if any is; all are valid at first.
class ValidityBits {
  public:
    explicit ValidityBits(size_t rows) : rows_(rows) {}
    void setNull(size_t row);
    /// Gives the bits to a column.
    void moveTo(ColumnValues& column);

  private:
    size_t rows_;
    int64_t nullCount_ = 0;
    Buffer bits_;
};

/// The distinct names of a column, numbered as they come. Names are made valid UTF-8.
class Names {
  public:
    int32_t numberOf(std::string_view name);
    const std::vector<std::string>& texts() const { return texts_; }

  private:
    std::vector<std::string> texts_;
    std::unordered_map<std::string, int32_t> numbers_;
};

/// A dictionary that nothing is added to any more.
struct Dictionary {
    explicit Dictionary(const Names& names) : texts(names.texts()), values(textsAsColumn(texts)) {}
    std::vector<std::string> texts;
    ColumnValues values;
};

struct ColumnInfo {
    std::string name;   ///< For programs.
    std::string title;  ///< For people, with the unit beside it.
    Unit unit = Unit::Text;
    ColumnType type = ColumnType::Int64;
    std::shared_ptr<const Dictionary> dictionary = {};  ///< Of `ColumnType::Name`.
};

/// Some rows of a table. Columns may hold more than those, from `offset` on.
struct Batch {
    size_t offset = 0;
    size_t rows = 0;
    std::vector<std::shared_ptr<const ColumnValues>> columns;
};

/// Rows and typed columns; does not change. Any thread may read it.
class Table {
  public:
    explicit Table(std::string name) : name_(std::move(name)) {}
    virtual ~Table() = default;
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    const std::string& name() const { return name_; }
    /// Sentences below the table.
    const std::vector<std::string>& notes() const { return notes_; }
    const std::vector<ColumnInfo>& columns() const { return columns_; }
    virtual int64_t rowCount() const = 0;
    /// At most `most` rows from row `first` on, which the table has; at least one.
    virtual Batch rows(int64_t first, int64_t most) const = 0;

  protected:
    std::string name_;
    std::vector<std::string> notes_;
    std::vector<ColumnInfo> columns_;
};
using TablePtr = std::shared_ptr<const Table>;

/// Bytes of a number of this type; of a text its end, of a name its number.
constexpr size_t sizeOf(ColumnType type) {
    const bool isWide =
        type == ColumnType::Int64 || type == ColumnType::UInt64 || type == ColumnType::Float64;
    return isWide ? 8 : 4;
}

}  // namespace lanescope::python
