// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace lanescope {

// Lists of the members of structs: one `forEachField(object, visitor)` next to each struct visits
// all members in the order of an index. Code that stores, reads, sorts, bounds or compares uses
// these lists, so a new member is added in one place.

template <class Self, class T>
concept Of = std::same_as<std::remove_const_t<Self>, T>;

/// Table that the numbers of a field refer to.
enum class RowsOf : uint8_t {
    Strings,
    Threads,
    Streams,
    Processes,
    Gpus,
    LaunchConfigs,
    Memcpys,
    Nvtx,
    Backwards,
    StreamWaits,
    Stacks,
};

/// Field of row numbers of another table; in a file they may be out of bounds.
template <class Field>
struct RowField {
    Field& field;
    RowsOf of;
    bool mayBeNone = false;  ///< `noIndex` means none, -1 in a signed field.
};
auto rowOf(RowsOf of, auto& field) { return RowField{field, of}; }
auto rowOrNone(RowsOf of, auto& field) { return RowField{field, of, true}; }

/// Field of `uint32_t` that are numbers, not rows. The mark is mandatory, so that none is forgotten.
template <class Field>
struct NumberField {
    Field& field;
};
auto number(auto& field) { return NumberField{field}; }

void visitField(auto& visit, auto& field) { visit(field); }
/// Visitors that distinguish them have functions `row` and `number`.
template <class Visitor, class Field>
void visitField(Visitor& visit, RowField<Field> row) {
    if constexpr (requires { visit.row(row); })
        visit.row(row);
    else
        visit(row.field);
}
template <class Visitor, class Field>
void visitField(Visitor& visit, NumberField<Field> number) {
    if constexpr (requires { visit.number(number.field); })
        visit.number(number.field);
    else
        visit(number.field);
}

void visitEach(auto& visit, auto&&... fields) { (visitField(visit, fields), ...); }

}  // namespace lanescope
