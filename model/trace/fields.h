// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace lanescope {

// Lists of the members of a struct: one `forEachField(object, visitor)` beside each, which names
// all in the order in which an index stores them. Whoever stores, reads, sorts, bounds or compares
// goes through these lists, so a member is added there and nowhere else.

template <class Self, class T>
concept Of = std::same_as<std::remove_const_t<Self>, T>;

/// What the numbers of a field are rows of.
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

/// A field that holds rows of something else; from a file they may be out of its bounds.
template <class Field>
struct RowField {
    Field& field;
    RowsOf of;
    bool mayBeNone = false;  ///< `noIndex` stands for none, -1 in a signed field.
};
template <class Field>
RowField<Field> rowOf(RowsOf of, Field& field) {
    return {field, of, false};
}
template <class Field>
RowField<Field> rowOrNone(RowsOf of, Field& field) {
    return {field, of, true};
}

/// A field of `uint32_t` that holds numbers and no rows. Of those it must be said which it is, so
/// that nobody forgets it.
template <class Field>
struct NumberField {
    Field& field;
};
template <class Field>
NumberField<Field> number(Field& field) {
    return {field};
}

template <class Visitor, class Field>
void visitField(Visitor& visit, Field& field) {
    visit(field);
}
/// A visitor that cares has functions `row` and `number`.
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

template <class Visitor, class... Fields>
void visitEach(Visitor& visit, Fields&&... fields) {
    (visitField(visit, fields), ...);
}

}  // namespace lanescope
