// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "model/format/Inserter.h"
#include "model/format/health.h"

namespace lanescope {

// Conversions of absent values to SQL NULL.

auto nullIfZero(auto value) { return value != 0 ? std::optional(value) : std::nullopt; }

inline std::optional<int64_t> nullIfNegative(int64_t value) {
    return value >= 0 ? std::optional<int64_t>(value) : std::nullopt;
}

/// Returns nullopt for an empty text. `text` must outlive the result.
inline std::optional<std::string_view> nullIfEmpty(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

/// Time and place of GPU work, the shared columns of the tables of GPU work.
struct GpuWorkRow {
    int64_t startNs, endNs;
    int64_t globalPid, deviceId, contextId, streamId, correlationId;
};

/// A row of `LANESCOPE_STACKS`: a frame and the calling stack. Ids as in the table and in `StringIds`; 0: none, except
/// for `id` and `function`.
struct StackRow {
    int64_t id, parent, function, file, line, module = 0, operators = 0, code = 0;
};

/// A row of `CUDA_GRAPH_NODE_EVENTS` and the stack at the creation of the node.
struct GraphNodeRow {
    int64_t timeNs, globalTid;
    int64_t nameId;  ///< Id of `GraphNodes::eventName` in `StringIds`.
    uint64_t node;
    uint64_t original;  ///< 0: not a copy.
    std::optional<int64_t> stack;
};

/// Writer of the tables of a trace file, for recordings and exports. A row consists of `column = value` pairs, as for
/// an `Inserter`, or of a struct if both sources share more than columns. Prepares one statement per table at the first
/// row. Writes nothing after the first error. One thread.
class TableWriter {
  public:
    /// `error` and the database must outlive the writer.
    TableWriter(const Database& database, FirstError& error) : database_(&database), error_(&error) {}

    template <class Table, class... Cells>
    requires tables::RowOf<Table, Cells...>
    void add(const Table& table, const Cells&... cells) { inserterOf(table).write(cells...); }
    /// Adds a row of a table of GPU work, with further cells.
    template <class Table, class... Cells>
    void add(const Table& t, const GpuWorkRow& work, const Cells&... cells) {
        add(t, t.start = work.startNs, t.end = work.endNs, t.globalPid = work.globalPid, t.deviceId = work.deviceId,
            t.contextId = work.contextId, t.streamId = work.streamId, t.correlationId = work.correlationId, cells...);
    }
    void add(const StackRow& row);
    void add(const GraphNodeRow& row);
    /// Adds a row to `ThreadNames`; the name with the highest priority applies.
    void addThreadName(int64_t globalTid, int64_t nameId, int64_t priority);
    /// Adds a row to `LANESCOPE_HEALTH`. `code` is for programs, `sentence` for users.
    void addHealth(Severity severity, std::string_view code, std::string_view sentence,
                   std::optional<int64_t> globalPid, std::optional<int64_t> timeNs, std::optional<int64_t> count);
    /// Adds a row to `LANESCOPE_PROPERTIES`, about the whole run if `globalPid` is nullopt.
    void addProperty(std::optional<int64_t> globalPid, std::string_view name, std::string_view value);
    /// Adds an event with the name of a domain or, if `category` is set, of a category of ranges.
    void addRangeName(int64_t timeNs, int64_t globalTid, int64_t domain, std::optional<int64_t> category,
                      std::string_view name, std::optional<int64_t> nameId = {});

  private:
    RowInserter& inserterOf(const tables::Table& table);

    const Database* database_;
    FirstError* error_;
    std::unordered_map<const tables::Table*, RowInserter> inserters_;
};

}  // namespace lanescope
