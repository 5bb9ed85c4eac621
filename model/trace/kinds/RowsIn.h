// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "model/trace/Trace.h"

namespace lanescope::kinds {

/// A table of the trace, and how what a reader gives becomes a row of it. What the members
/// `startNs`, `endNs`, `timeNs`, `bytes`, `thread`, `stream`, `process`, `gpu` and `correlation` of
/// a row say is known of any that has them; the rest stands in its description. All are O(1).
template <auto member>
struct RowsIn {
    using Table = std::remove_cvref_t<decltype(std::declval<const Trace&>().*member)>;

    static const Table& table(const Trace& trace) { return trace.*member; }
    static Table& table(Trace& trace) { return trace.*member; }
    static uint32_t size(const Trace& trace) { return table(trace).size(); }

    template <class Row>
    static TimeRange timesOf(const Row& row) {
        if constexpr (requires { row.timeNs; })
            return {row.timeNs, row.timeNs};
        else
            return {row.startNs, row.endNs};
    }

    /// Whether the trace has who the row is of, its thread, process or stream, and what else it
    /// names, if that is not `noIndex`.
    template <class Row>
    static bool isPlaced(const Trace& trace, const Row& row) {
        if constexpr (requires { row.thread; }) {
            return row.thread < trace.threads.size();
        } else if constexpr (requires { row.process; }) {
            bool isPlace = row.process < trace.processes.size();
            if constexpr (requires { row.stream; })
                isPlace &= row.stream == noIndex || row.stream < trace.streams.size();
            if constexpr (requires { row.gpu; })
                isPlace &= row.gpu == noIndex || row.gpu < trace.gpus.size();
            return isPlace;
        } else {
            return row.stream < trace.streams.size();
        }
    }

    /// Appends to the columns that are called as members of any row are.
    template <class Row>
    static void appendShared(Trace& trace, TimeRange times, const Row& row) {
        Table& to = table(trace);
        if constexpr (requires { row.timeNs; }) to.timeNs.push_back(times.startNs);
        if constexpr (requires { row.startNs; }) to.startNs.push_back(times.startNs);
        if constexpr (requires { row.endNs; }) to.endNs.push_back(times.endNs);
        if constexpr (requires { row.bytes; }) to.bytes.push_back(row.bytes);
        if constexpr (requires { row.thread; }) to.thread.push_back(row.thread);
        if constexpr (requires { row.stream; }) to.stream.push_back(row.stream);
        if constexpr (requires { row.process; }) to.process.push_back(row.process);
        if constexpr (requires { row.gpu; }) to.gpu.push_back(row.gpu);
        if constexpr (requires { row.correlation; }) to.correlation.push_back(row.correlation);
    }
};

/// What `TraceBuilder::add` takes rows of: beside the above a struct `Row`, whose members are named
/// by a reader, `append` for the columns that no other table has, and what the rows are called
/// where they are counted. The row is one of an event if its `kind` is one.
template <class Kind>
concept Recorded = requires(Trace& trace, TimeRange times, const typename Kind::Row& row) {
    { Kind::kind } -> std::convertible_to<EventKind>;
    { Kind::plural } -> std::convertible_to<std::string_view>;
    { Kind::timesOf(row) } -> std::same_as<TimeRange>;
    { Kind::isPlaced(trace, row) } -> std::same_as<bool>;
    Kind::appendShared(trace, times, row);
    Kind::append(trace, row);
};

}  // namespace lanescope::kinds
