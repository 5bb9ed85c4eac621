// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/Column.h"

namespace lanescope {

/// A column of records, kept as one packed column for each of their fields. `Record` names its
/// fields by a function `forEachField(record, visitor)` beside it.
template <class Record>
class RecordColumn {
  public:
    using value_type = Record;
    using const_iterator = IndexIterator<RecordColumn>;

    RecordColumn() : RecordColumn(nullptr) {}
    /// Grows in `memory`, which must outlive it.
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
        forEachField(record,
                     [&](auto& value) { field++->set(index, static_cast<int64_t>(value)); });
    }

    /// One for each field, in the order of `forEachField`; for storing.
    std::vector<Column<int64_t>>& fields() { return fields_; }
    const std::vector<Column<int64_t>>& fields() const { return fields_; }

  private:
    std::vector<Column<int64_t>> fields_;
};

}  // namespace lanescope
