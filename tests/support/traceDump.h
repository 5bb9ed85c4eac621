// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/index/indexFields.h"

namespace lanescope {

/// Text of the whole content of a trace, so that any difference between two traces shows. Visits
/// the fields that an index stores.
class TraceDump {
  public:
    template <class T>
    void operator()(const T& value) {
        if constexpr (std::is_floating_point_v<T>)
            put(std::bit_cast<int64_t>(double{value}));
        else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
            put(static_cast<int64_t>(value));
        else
            forEachField(value, *this);
    }
    void operator()(const std::string& text) {
        put(static_cast<int64_t>(text.size()));
        text_ += text;
    }
    void operator()(const StringTable& strings) {
        for (uint32_t i = 0; i < strings.size(); ++i) (*this)(std::string(strings.at(i)));
    }
    template <class T>
    void operator()(const std::optional<T>& value) {
        (*this)(value.has_value());
        if (value) (*this)(*value);
    }
    template <class T>
    void operator()(const Rare<T>& value) {
        (*this)(*value);
    }
    template <class T, size_t size>
    void operator()(const std::array<T, size>& values) {
        for (const T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(const std::vector<T>& values) {
        put(static_cast<int64_t>(values.size()));
        for (const T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(const RecordColumn<T>& records) {
        for (const Column<int64_t>& field : records.fields()) (*this)(field);
    }
    template <class T>
    void operator()(const Column<T>& column) {
        put(static_cast<int64_t>(column.size()));
        for (const T value : column) put(Column<T>::bitsOf(value));
    }

    const std::string& text() const { return text_; }

  private:
    void put(int64_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }

    std::string text_;
};

inline std::string dumpOf(const Trace& trace) {
    TraceDump dump;
    dump(trace);
    return dump.text();
}

}  // namespace lanescope
