#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "model/format/Sqlite.h"

namespace lanescope {

/// One prepared INSERT. The first error is kept by the `FirstError` that all inserters of a file
/// share; after it nothing is written any more. One thread.
class Inserter {
  public:
    using FirstError = std::optional<Error>;

    /// `sql` is fixed text: "INSERT INTO T (a, b) VALUES (?1, ?2)".
    Inserter(Database& database, std::string_view sql, FirstError& error) : error_(&error) {
        auto prepared = database.prepare(sql);
        if (prepared)
            statement_ = std::move(*prepared);
        else if (!*error_)
            *error_ = prepared.error();
    }

    /// Writes one row: a value per `?`, integers, reals, texts, `nullptr` for NULL, or an optional.
    template <class... Values>
    void insert(const Values&... values) {
        if (*error_) return;
        int index = 0;
        (bind(++index, values), ...);
        if (auto done = statement_.run(); !done) *error_ = done.error();
        ++rows_;
    }

    int64_t rows() const { return rows_; }

  private:
    template <class Value>
    void bind(int index, const Value& value) {
        if constexpr (std::is_same_v<Value, std::nullptr_t>)
            statement_.bindNull(index);
        else if constexpr (std::is_enum_v<Value> || std::is_integral_v<Value>)
            statement_.bind(index, static_cast<int64_t>(value));
        else if constexpr (std::is_floating_point_v<Value>)
            statement_.bind(index, static_cast<double>(value));
        else if constexpr (std::is_convertible_v<const Value&, std::string_view>)
            statement_.bind(index, std::string_view(value));
        else if (value)
            bind(index, *value);
        else
            statement_.bindNull(index);
    }

    Statement statement_;
    FirstError* error_;
    int64_t rows_ = 0;
};

/// For columns in which 0 means that there is nothing: NULL then.
template <class T>
std::optional<T> unlessZero(T value) {
    return value != 0 ? std::optional<T>(value) : std::nullopt;
}

}  // namespace lanescope
