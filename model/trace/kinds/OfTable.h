// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "model/trace/Trace.h"
#include "model/trace/kinds/eventFacts.h"

namespace lanescope::kinds {

/// Table of the trace with the conversion of a reader's row. Uses the members `startNs`, `endNs`,
/// `timeNs`, `bytes`, `thread`, `stream`, `process`, `gpu`, `correlation` and `stack` of a row if it
/// has them; its description adds the rest. All functions are O(1).
template <auto member>
struct RecordedRows {
    using Table = std::remove_cvref_t<decltype(std::declval<const Trace&>().*member)>;

    static const Table& table(const Trace& trace) { return trace.*member; }
    static Table& table(Trace& trace) { return trace.*member; }
    static uint32_t size(const Trace& trace) { return table(trace).size(); }

    static TimeRange timesOf(const auto& row) {
        if constexpr (requires { row.timeNs; })
            return {row.timeNs, row.timeNs};
        else
            return {row.startNs, row.endNs};
    }

    /// Returns true if the trace has the row's thread, process or stream, and everything else that
    /// it refers to, unless `noIndex`.
    static bool isPlaced(const Trace& trace, const auto& row) {
        if constexpr (requires { row.stack; })
            if (row.stack != noIndex && row.stack >= trace.stacks.size()) return false;
        if constexpr (requires { row.thread; }) {
            return row.thread < trace.threads.size();
        } else if constexpr (requires { row.process; }) {
            bool isPlace = row.process < trace.processes.size();
            if constexpr (requires { row.stream; })
                isPlace &= row.stream == noIndex || row.stream < trace.streams.size();
            if constexpr (requires { row.gpu; }) isPlace &= row.gpu == noIndex || row.gpu < trace.gpus.size();
            return isPlace;
        } else {
            return row.stream < trace.streams.size();
        }
    }

    /// Appends the members that have a column of the same name.
    static void appendShared(Trace& trace, TimeRange times, const auto& row) {
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
        if constexpr (requires { row.stack; }) to.stack.push_back(row.stack);
        if constexpr (requires { to.isStackLent; }) to.isStackLent.push_back(0);
    }
};

/// Requirements of `TraceBuilder::add`: in addition a struct `Row` with members named by a reader, `append` for columns
/// of this table only, and the name under which rows are counted. The row is an event if it has a `kind`.
template <class Kind>
concept Recorded = requires(Trace& trace, TimeRange times, const typename Kind::Row& row) {
    { Kind::kind } -> std::convertible_to<EventKind>;
    { Kind::plural } -> std::convertible_to<std::string_view>;
    { Kind::timesOf(row) } -> std::same_as<TimeRange>;
    { Kind::isPlaced(trace, row) } -> std::same_as<bool>;
    Kind::appendShared(trace, times, row);
    Kind::append(trace, row);
};

/// Origin of the events of a kind.
enum class Origin : uint8_t {
    Recorded,  ///< Each has its own row in a file.
    Derived,   ///< Computed from recorded events when the trace is finished.
    Sampled,   ///< Value of a counter, drawn as a curve.
};

/// Kind of the track of an event, and its subject; `noIndex` for none.
struct TrackSubject {
    TrackKind kind = TrackKind::Process;
    uint32_t subject = noIndex;
    bool operator==(const TrackSubject&) const = default;
};

/// Defaults of a kind: its events are on no track, thread or stream.
struct Unplaced {
    static constexpr std::array<TrackKind, 0> tracks{};
    static TrackSubject trackOf(const Trace&, uint32_t) { return {}; }
    static uint32_t streamOf(const Trace&, uint32_t) { return noIndex; }
    static uint32_t threadOf(const Trace&, uint32_t) { return noIndex; }
    static uint32_t processOf(const Trace&, uint32_t) { return noIndex; }
    static uint32_t gpuOf(const Trace&, uint32_t) { return noIndex; }
    static uint32_t correlationOf(const Trace&, uint32_t) { return 0; }
    static std::optional<int64_t> bytesOf(const Trace&, uint32_t) { return std::nullopt; }
    static constexpr bool isGpuWork = false;
};

/// Kind whose events are the rows of a table. Uses the columns `startNs`, `endNs`, `stream`,
/// `thread`, `process`, `gpu`, `correlation` and `bytes` if the table has them; its description
/// adds the rest. All functions expect a valid row and are O(1).
template <EventKind number, auto member>
struct TableKind : Unplaced, RecordedRows<member> {
    using typename RecordedRows<member>::Table;
    using RecordedRows<member>::table;

    static constexpr EventKind kind = number;
    static constexpr Origin origin = Origin::Recorded;

    static TimeRange rangeOf(const Trace& trace, uint32_t row) {
        return {table(trace).startNs[row], table(trace).endNs[row]};
    }

    static uint32_t streamOf([[maybe_unused]] const Trace& trace, [[maybe_unused]] uint32_t row) {
        if constexpr (requires(const Table& t) { t.stream; })
            return table(trace).stream[row];
        else
            return noIndex;
    }
    static uint32_t threadOf([[maybe_unused]] const Trace& trace, [[maybe_unused]] uint32_t row) {
        if constexpr (requires(const Table& t) { t.thread; })
            return table(trace).thread[row];
        else
            return noIndex;
    }
    /// Its own process, or that of its thread or stream.
    static uint32_t processOf(const Trace& trace, uint32_t row) {
        if constexpr (requires(const Table& t) { t.process; })
            return table(trace).process[row];
        else if constexpr (requires(const Table& t) { t.thread; })
            return trace.threads[table(trace).thread[row]].process;
        else
            return trace.streams[table(trace).stream[row]].process;
    }
    /// Its own GPU, or that of its stream.
    static uint32_t gpuOf(const Trace& trace, uint32_t row) {
        if constexpr (requires(const Table& t) { t.gpu; }) return table(trace).gpu[row];
        const uint32_t stream = streamOf(trace, row);
        return stream != noIndex ? trace.streams[stream].gpu : noIndex;
    }
    static uint32_t correlationOf([[maybe_unused]] const Trace& trace, [[maybe_unused]] uint32_t row) {
        if constexpr (requires(const Table& t) { t.correlation; })
            return table(trace).correlation[row];
        else
            return 0;
    }
    static std::optional<int64_t> bytesOf([[maybe_unused]] const Trace& trace, [[maybe_unused]] uint32_t row) {
        if constexpr (requires(const Table& t) { t.bytes; })
            return table(trace).bytes[row];
        else
            return std::nullopt;
    }
};

/// Kind of work that a call submitted to a stream of a GPU: drawn on that stream.
template <EventKind number, auto member>
struct GpuWork : TableKind<number, member> {
    static constexpr bool isGpuWork = true;
    static constexpr std::array tracks{TrackKind::Stream};
    static TrackSubject trackOf(const Trace& trace, uint32_t row) {
        return {TrackKind::Stream, TableKind<number, member>::streamOf(trace, row)};
    }
};

/// Members of the description of a kind; `CONTRIBUTING.md` lists the other places that a new kind needs.
///
/// - `kind`, `origin`; `isGpuWork` if a call of the same correlation launched it on a stream.
/// - `identifier`: in files and JSON, never changed. `name`, `plural`: for people.
/// - `nameOf`: label of an event. `categoryOf`: its category.
/// - `tracks`: every kind of track that may show such events; `trackOf`: the track of an event.
///   With `trackTitle` and `trackSubtitle`, the kind gets tracks of its own.
/// - `describe`: the lines of the details panel.
/// - `nameKey`, if a search has no faster way: events of the same key have the same name.
/// - `forEachCount`, if some of them are counted under another name than `plural`, or as several.
/// - `Row` and `append`, if it is recorded: the fields that a reader fills (`RecordedRows.h`).
template <class Kind>
concept EventDescription = (Kind::origin != Origin::Recorded ||
                            Recorded<Kind>)&&requires(const Trace& trace, uint32_t row, Details& details) {
    { Kind::kind } -> std::convertible_to<EventKind>;
    { Kind::origin } -> std::convertible_to<Origin>;
    { Kind::isGpuWork } -> std::convertible_to<bool>;
    { Kind::identifier } -> std::convertible_to<std::string_view>;
    { Kind::name } -> std::convertible_to<std::string_view>;
    { Kind::plural } -> std::convertible_to<std::string_view>;
    { Kind::size(trace) } -> std::same_as<uint32_t>;
    { Kind::rangeOf(trace, row) } -> std::same_as<TimeRange>;
    { Kind::nameOf(trace, row) } -> std::same_as<std::string>;
    { Kind::categoryOf(trace, row) } -> std::same_as<SliceCategory>;
    { Kind::tracks } -> std::convertible_to<std::span<const TrackKind>>;
    { Kind::trackOf(trace, row) } -> std::same_as<TrackSubject>;
    { Kind::streamOf(trace, row) } -> std::same_as<uint32_t>;
    { Kind::threadOf(trace, row) } -> std::same_as<uint32_t>;
    { Kind::processOf(trace, row) } -> std::same_as<uint32_t>;
    { Kind::gpuOf(trace, row) } -> std::same_as<uint32_t>;
    { Kind::correlationOf(trace, row) } -> std::same_as<uint32_t>;
    { Kind::bytesOf(trace, row) } -> std::same_as<std::optional<int64_t>>;
    Kind::describe(trace, row, details);
};

}  // namespace lanescope::kinds
