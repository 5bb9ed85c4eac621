// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtTest>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>

namespace lanescope::test {

/// The rows of a data-driven test: each call adds one by its name. `row` returns the values in the test.
template <class... Values>
class Rows {
  public:
    Rows() { QTest::addColumn<std::tuple<Values...>>("values"); }
    void operator()(const char* name, const Values&... values) const {
        QTest::newRow(name) << std::tuple<Values...>(values...);
    }
    void operator()(const QString& name, const Values&... values) const { (*this)(qPrintable(name), values...); }
};

/// Adds a column, which the test fetches by name, and a row for each of its values.
template <class Value>
void rows(const char* column, std::initializer_list<std::pair<const char*, Value>> values) {
    QTest::addColumn<Value>(column);
    for (const auto& [name, value] : values) QTest::newRow(name) << value;
}

/// The same with rows that are named like their numbers.
template <class Number>
void numberRows(const char* column, std::initializer_list<Number> numbers) {
    QTest::addColumn<Number>(column);
    for (const Number number : numbers) QTest::newRow(std::to_string(number).c_str()) << number;
}

/// Returns the values of the current row. Ends the test if `Rows` has other types.
template <class... Values>
const std::tuple<Values...>& row() {
    using Row = std::tuple<Values...>;
    return *static_cast<const Row*>(QTest::qData("values", qMetaTypeId<Row>()));
}

}  // namespace lanescope::test
