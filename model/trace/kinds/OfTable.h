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
#include "model/trace/kinds/Details.h"

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

/// Where the events of a kind come from.
enum class Origin : uint8_t {
    Recorded,  ///< Each has a row of its own in a file.
    Derived,   ///< Made of recorded ones when the trace was finished.
    Sampled,   ///< A value of a counter, which is drawn as a curve.
};

/// The kind of track an event is drawn on, and which one of that kind; subject `noIndex` for none.
struct TrackSubject {
    TrackKind kind = TrackKind::Process;
    uint32_t subject = noIndex;
    bool operator==(const TrackSubject&) const = default;
};

/// What a kind is of that says nothing else: the events are on no track, no thread and no stream.
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

/// A kind whose events are the rows of a table. What the columns `startNs`, `endNs`, `stream`,
/// `thread`, `process`, `gpu`, `correlation` and `bytes` say is known of any kind whose table has
/// them; the rest stands in its description. All take a row that the table has, and are O(1).
template <EventKind number, auto member>
struct OfTable : Unplaced, RowsIn<member> {
    using typename RowsIn<member>::Table;
    using RowsIn<member>::table;

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
    /// Its own, or that of its thread or stream.
    static uint32_t processOf(const Trace& trace, uint32_t row) {
        if constexpr (requires(const Table& t) { t.process; })
            return table(trace).process[row];
        else if constexpr (requires(const Table& t) { t.thread; })
            return trace.threads[table(trace).thread[row]].process;
        else
            return trace.streams[table(trace).stream[row]].process;
    }
    /// Its own, or that of its stream.
    static uint32_t gpuOf(const Trace& trace, uint32_t row) {
        if constexpr (requires(const Table& t) { t.gpu; }) return table(trace).gpu[row];
        const uint32_t stream = streamOf(trace, row);
        return stream != noIndex ? trace.streams[stream].gpu : noIndex;
    }
    static uint32_t correlationOf([[maybe_unused]] const Trace& trace,
                                  [[maybe_unused]] uint32_t row) {
        if constexpr (requires(const Table& t) { t.correlation; })
            return table(trace).correlation[row];
        else
            return 0;
    }
    static std::optional<int64_t> bytesOf([[maybe_unused]] const Trace& trace,
                                          [[maybe_unused]] uint32_t row) {
        if constexpr (requires(const Table& t) { t.bytes; })
            return table(trace).bytes[row];
        else
            return std::nullopt;
    }
};

/// A kind of work that a call gave to a stream of a GPU: drawn on that stream.
template <EventKind number, auto member>
struct GpuWork : OfTable<number, member> {
    static constexpr bool isGpuWork = true;
    static constexpr std::array tracks{TrackKind::Stream};
    static TrackSubject trackOf(const Trace& trace, uint32_t row) {
        return {TrackKind::Stream, OfTable<number, member>::streamOf(trace, row)};
    }
};

/// What a description of a kind says; `CONTRIBUTING.md` has a list of what else a new kind needs.
///
/// - `kind`, `origin`; `isGpuWork` if a call of the same correlation launched it on a stream.
/// - `identifier`: in files and JSON, never changed. `name`, `plural`: for people.
/// - `nameOf`: what one event is called. `categoryOf`: what it is drawn as.
/// - `tracks`: every kind of track that such events may be drawn on; `trackOf`: which one it is. If
///   it has a `trackTitle` and a `trackSubtitle`, tracks of its own are made for it.
/// - `describe`: the lines of the details panel.
/// - `nameKey`, if a search has no faster way: events of the same key have the same name.
/// - `forEachCount`, if some of them are counted under another name than `plural`, or as several.
/// - `Row` and `append`, if it is recorded: what a reader gives of an event (`RowsIn.h`).
template <class Kind>
concept EventDescription = (Kind::origin != Origin::Recorded ||
                            Recorded<Kind>)&&requires(const Trace& trace, uint32_t row,
                                                      Details& details) {
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
