// SPDX-License-Identifier: Apache-2.0
#include "app/python/library/EventTable.h"

#include <fmt/format.h>

#include <cctype>
#include <limits>
#include <stdexcept>
#include <thread>

#include "model/format/text.h"
#include "model/index/openTrace.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/processes.h"

namespace lanescope::python {

namespace {

/// Returns, for example, "total_time_ns" for "Total Time" in nanoseconds, "alg_bw_gbps" for "Alg BW" in GB/s.
std::string identifierOf(const ReportColumn& column) {
    std::string name;
    for (const char letter : column.name) {
        const auto character = static_cast<unsigned char>(letter);
        name += std::isalnum(character) != 0 ? static_cast<char>(std::tolower(character)) : '_';
    }
    switch (column.unit) {
        case Unit::Nanoseconds:
        case Unit::Timestamp: return name + "_ns";
        case Unit::Bytes: return name + "_bytes";
        case Unit::GigabytesPerSecond: return name + "_gbps";
        case Unit::TeraflopsPerSecond: return name + "_tflops";
        case Unit::Percent: return name + "_percent";
        case Unit::Text:
        case Unit::Count:
        case Unit::Identifier: break;
    }
    return name;
}

ColumnType typeOf(const ReportTable& table, size_t column, ColumnType text) {
    bool isReal = false, isWhole = false;
    for (const std::vector<Cell>& row : table.rows) {
        if (std::holds_alternative<std::string>(row[column])) return text;
        isReal |= std::holds_alternative<double>(row[column]);
        isWhole |= std::holds_alternative<int64_t>(row[column]);
    }
    const Unit unit = table.columns[column].unit;
    if (!isReal && !isWhole && unit == Unit::Text) return text;
    if (!isWhole && (unit == Unit::GigabytesPerSecond || unit == Unit::TeraflopsPerSecond || unit == Unit::Percent))
        isReal = true;
    return isReal ? ColumnType::Float64 : ColumnType::Int64;
}

/// Returns the text of a non-text cell in a text column: a number as in CSV.
std::string textOf(const Cell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return validUtf8(*text);
    if (const auto* whole = std::get_if<int64_t>(&cell)) return fmt::format("{}", *whole);
    if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
    return {};
}

template <class T>
T numberOf(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return static_cast<T>(*whole);
    if (const auto* real = std::get_if<double>(&cell)) return static_cast<T>(*real);
    return {};
}

/// Converts the cells of a column by `valueOf`.
template <class T, class ValueOf>
ColumnValues columnOf(const ReportTable& table, const ValueOf& valueOf) {
    ColumnValues values{Buffer(table.rows.size() * sizeof(T)), {}, {}, 0};
    for (size_t row = 0; row < table.rows.size(); ++row) values.values.as<T>()[row] = valueOf(table.rows[row]);
    return values;
}

ColumnValues valuesOf(const ReportTable& table, size_t column, ColumnType type, Names& names) {
    switch (type) {
        case ColumnType::Name:
            return columnOf<int32_t>(table, [&](const auto& row) { return names.numberOf(textOf(row[column])); });
        case ColumnType::Float64:
            return columnOf<double>(table, [&](const auto& row) { return numberOf<double>(row[column]); });
        case ColumnType::Text: {
            std::vector<std::string> texts;
            for (const std::vector<Cell>& row : table.rows) texts.push_back(textOf(row[column]));
            return textsAsColumn(texts);
        }
        default: return columnOf<int64_t>(table, [&](const auto& row) { return numberOf<int64_t>(row[column]); });
    }
}

/// Converts the indexed `rows` by `valueOf`.
template <class T, class Rows, class ValueOf>
PerRow<T> perRow(const Rows& rows, const ValueOf& valueOf) {
    PerRow<T> result;
    for (const auto& row : rows) result.push_back(valueOf(row));
    return result;
}

PerRow<int32_t> ranksOf(const Trace& trace, const std::vector<uint32_t>& processes) {
    PerRow<int32_t> ranks;
    for (const uint32_t process : processes) {
        const std::optional<int> rank = trace.processes[process].rank;
        ranks.push_back(rank.value_or(0), rank.has_value());
    }
    return ranks;
}

/// Adds the facts of each event's process; `keys` contains rows of the objects with `processes`.
void addProcess(const Trace& trace, const Column<uint32_t>& keys, const std::vector<uint32_t>& processes,
                std::vector<EventColumn>& columns) {
    columns.push_back(resolved("pid", Unit::Identifier, keys, perRow<uint32_t>(processes, [&trace](uint32_t process) {
                                   return trace.processes[process].pid;
                               })));
    columns.push_back(resolved("rank", Unit::Identifier, keys, ranksOf(trace, processes)));
}

std::vector<uint32_t> processesOf(const std::vector<Stream>& owners) {
    return perRow<uint32_t>(owners, [](const Stream& each) { return each.process; }).values;
}
std::vector<uint32_t> processesOf(const std::vector<Thread>& owners) {
    return perRow<uint32_t>(owners, [](const Thread& each) { return each.process; }).values;
}

PerRow<int64_t> gpuNumbers(const Trace& trace) {
    return perRow<int64_t>(trace.gpus, [](const Gpu& gpu) { return gpu.id; });
}

/// Adds the columns derived from columns that several tables have.
template <class Table>
void addPlace(const Trace& trace, const Table& table, std::vector<EventColumn>& columns) {
    if constexpr (requires { table.bytes; }) columns.push_back(asItIs("bytes", Unit::Bytes, table.bytes));
    if constexpr (requires { table.gpu; })
        columns.push_back(resolved("gpu", Unit::Identifier, table.gpu, gpuNumbers(trace)));
    if constexpr (requires { table.stream; }) {
        columns.push_back(resolved(
            "gpu", Unit::Identifier, table.stream,
            perRow<int64_t>(trace.streams, [&trace](const Stream& stream) { return trace.gpus[stream.gpu].id; })));
        columns.push_back(
            resolved("stream", Unit::Identifier, table.stream,
                     perRow<int64_t>(trace.streams, [](const Stream& stream) { return stream.streamId; })));
    }
    if constexpr (requires { table.thread; })
        columns.push_back(resolved("tid", Unit::Identifier, table.thread,
                                   perRow<uint32_t>(trace.threads, [](const Thread& thread) { return thread.tid; })));
    if constexpr (requires { table.process; }) {
        std::vector<uint32_t> processes(trace.processes.size());
        for (uint32_t row = 0; row < processes.size(); ++row) processes[row] = row;
        addProcess(trace, table.process, processes, columns);
    } else if constexpr (requires { table.thread; }) {
        addProcess(trace, table.thread, processesOf(trace.threads), columns);
    } else {
        addProcess(trace, table.stream, processesOf(trace.streams), columns);
    }
    if constexpr (requires { table.correlation; })
        columns.push_back(asItIs("correlation", Unit::Identifier, table.correlation));
}

EventColumn strings(std::string name, const Trace& trace, const Column<StringIndex>& column) {
    return named(std::move(name), column, trace.strings.size(),
                 [&trace](StringIndex text) { return trace.strings.at(text); });
}

/// Converts the values of a one-byte enumeration by `nameOf`.
template <class Enumeration>
EventColumn enumerated(std::string name, const Column<Enumeration>& column) {
    return named(std::move(name), column, std::numeric_limits<uint8_t>::max() + size_t{1},
                 [](Enumeration value) { return lanescope::name(value); });
}

// Adds the columns of one kind only. A kind without an overload gets the name of each event.

void addOwn(kinds::Kernel, const Trace& trace, std::vector<EventColumn>& columns) {
    const KernelTable& table = trace.kernels;
    const LaunchConfigColumn& configs = trace.launchConfigs;
    const auto text = [&](std::string name, auto textOf) {
        columns.push_back(
            named(std::move(name), table.config, configs.size(), [&](uint32_t row) { return textOf(configs[row]); }));
    };
    // As in the file, because programs compare it with their own SQL queries.
    text("name", [&trace](const LaunchConfig& config) { return sourceName(trace, config); });
    text("full_name", [&trace](const LaunchConfig& config) { return trace.strings.at(config.demangledName); });
    const auto number = [&](std::string name, Unit unit, auto numberOf) {
        columns.push_back(resolved(std::move(name), unit, table.config, perRow<uint32_t>(configs, numberOf)));
    };
    for (size_t axis = 0; axis < 3; ++axis)
        number(std::string("grid_") + "xyz"[axis], Unit::Count,
               [axis](const LaunchConfig& config) { return config.grid[axis]; });
    for (size_t axis = 0; axis < 3; ++axis)
        number(std::string("block_") + "xyz"[axis], Unit::Count,
               [axis](const LaunchConfig& config) { return config.block[axis]; });
    number("registers_per_thread", Unit::Count, [](const LaunchConfig& config) { return config.registersPerThread; });
    number("static_shared_bytes", Unit::Bytes, [](const LaunchConfig& config) { return config.staticSharedBytes; });
    number("dynamic_shared_bytes", Unit::Bytes, [](const LaunchConfig& config) { return config.dynamicSharedBytes; });
    columns.push_back(asItIs("graph_node", Unit::Identifier, table.graphNode));
}

void addOwn(kinds::Memcpy, const Trace& trace, std::vector<EventColumn>& columns) {
    const MemcpyTable& table = trace.memcpys;
    columns.push_back(enumerated("kind", table.kind));
    columns.push_back(enumerated("source_memory", table.sourceMemory));
    columns.push_back(enumerated("destination_memory", table.destinationMemory));
    columns.push_back(resolved("source_gpu", Unit::Identifier, table.sourceDevice, gpuNumbers(trace)));
    columns.push_back(resolved("destination_gpu", Unit::Identifier, table.destinationDevice, gpuNumbers(trace)));
}

void addOwn(kinds::Memset, const Trace& trace, std::vector<EventColumn>& columns) {
    columns.push_back(enumerated("memory", trace.memsets.memory));
    columns.push_back(asItIs("value", Unit::Identifier, trace.memsets.value));
}

void addOwn(kinds::Api, const Trace& trace, std::vector<EventColumn>& columns) {
    columns.push_back(strings("name", trace, trace.apiCalls.name));
    columns.push_back(asItIs("return_value", Unit::Identifier, trace.apiCalls.returnValue));
}

void addOwn(kinds::Nvtx, const Trace& trace, std::vector<EventColumn>& columns) {
    const NvtxTable& table = trace.nvtx;
    columns.push_back(strings("text", trace, table.text));
    columns.push_back(strings("domain", trace, table.domain));
    columns.push_back(strings("category", trace, table.category));
    columns.push_back(strings("payload", trace, table.payload));
    columns.push_back(named("style", table.style, 3, [](NvtxStyle style) {
        return style == NvtxStyle::PushPop ? "push_pop" : style == NvtxStyle::StartEnd ? "start_end" : "mark";
    }));
}

void addOwn(kinds::Graph, const Trace& trace, std::vector<EventColumn>& columns) {
    columns.push_back(asItIs("graph", Unit::Identifier, trace.graphs.graph));
}

template <class Kind>
void addOwn(Kind, const Trace& trace, std::vector<EventColumn>& columns) {
    columns.push_back({{"name", "name", Unit::Text, ColumnType::Text}, [&trace](size_t first, size_t count) {
                           std::vector<std::string> names;
                           for (size_t row = first; row < first + count; ++row)
                               names.push_back(Kind::nameOf(trace, static_cast<uint32_t>(row)));
                           return textsAsColumn(names);
                       }});
}

template <class Kind>
TablePtr tableOf(const TracePtr& trace) {
    const auto& table = Kind::table(*trace);
    std::vector<EventColumn> columns;
    columns.push_back(asItIs("start_ns", Unit::Timestamp, table.startNs));
    columns.push_back(asItIs("end_ns", Unit::Timestamp, table.endNs));
    columns.push_back(durations(table.startNs, table.endNs));
    addOwn(Kind{}, *trace, columns);
    addPlace(*trace, table, columns);
    return std::make_shared<EventTable>(trace, std::string(Kind::identifier), table.size(), std::move(columns));
}

}  // namespace

RowTable::RowTable(const ReportTable& table, ColumnNames names)
    : RowTable(
          table.name, [&table](const auto& add) { add(table); }, names, TextsAre::Plain) {}

RowTable::RowTable(std::string name, const Parts& forEachPart, ColumnNames names, TextsAre texts)
    : Table(std::move(name)) {
    std::vector<Names> dictionaries;
    forEachPart([&](const ReportTable& part) {
        if (columns_.empty()) describeColumns(part, names, texts);
        dictionaries.resize(columns_.size());
        add(part, dictionaries);
        notes_ = part.notes;
    });
    for (size_t column = 0; column < columns_.size(); ++column)
        if (columns_[column].type == ColumnType::Name)
            columns_[column].dictionary = std::make_shared<Dictionary>(dictionaries[column]);
    for (std::string& note : notes_) note = printable(note);
}

void RowTable::describeColumns(const ReportTable& part, ColumnNames names, TextsAre texts) {
    const ColumnType text = texts == TextsAre::Names ? ColumnType::Name : ColumnType::Text;
    for (size_t column = 0; column < part.columns.size(); ++column) {
        const ReportColumn& from = part.columns[column];
        std::string name = names == ColumnNames::Headers ? validUtf8(headerOf(from)) : identifierOf(from);
        columns_.push_back({std::move(name), from.name, from.unit, typeOf(part, column, text)});
    }
}

void RowTable::add(const ReportTable& part, std::vector<Names>& names) {
    if (part.rows.empty()) return;
    parts_.push_back({rowCount_, part.rows.size(), {}});
    rowCount_ += static_cast<int64_t>(part.rows.size());
    for (size_t column = 0; column < columns_.size(); ++column) {
        ColumnValues values = valuesOf(part, column, columns_[column].type, names[column]);
        ValidityBits validity(part.rows.size());
        for (size_t row = 0; row < part.rows.size(); ++row)
            if (std::holds_alternative<std::monostate>(part.rows[row][column])) validity.setNull(row);
        validity.moveTo(values);
        parts_.back().columns.push_back(std::make_shared<ColumnValues>(std::move(values)));
    }
}

Batch RowTable::rows(int64_t first, int64_t maxRows) const {
    const auto next = std::upper_bound(parts_.begin(), parts_.end(), first,
                                       [](int64_t row, const Part& part) { return row < part.firstRow; });
    const Part& part = *std::prev(next);
    const auto offset = static_cast<size_t>(first - part.firstRow);
    return {offset, std::min(part.rows - offset, static_cast<size_t>(maxRows)), part.columns};
}

EventTable::EventTable(TracePtr trace, std::string name, uint32_t rowCount, std::vector<EventColumn> columns)
    : Table(std::move(name)), trace_(std::move(trace)), rowCount_(rowCount), read_(std::move(columns)) {
    for (const EventColumn& column : read_) columns_.push_back(column.info);
}

Batch EventTable::rows(int64_t first, int64_t maxRows) const {
    const auto count = static_cast<size_t>(std::min(maxRows, rowCount() - first));
    Batch batch{0, count, {}};
    batch.columns.resize(read_.size());
    Tasks tasks;
    for (size_t column = 0; column < read_.size(); ++column)
        tasks.emplace_back([this, &batch, column, first, count] {
            batch.columns[column] =
                std::make_shared<ColumnValues>(read_[column].read(static_cast<size_t>(first), count));
        });
    // Threads cost more than a few rows.
    constexpr size_t parallelRowsThreshold = 10'000;
    runTasks(count < parallelRowsThreshold ? 1 : std::max(1u, std::thread::hardware_concurrency()), tasks);
    // Consumers of a row stream expect an exception as its error.
    if (const Result<void> sound = checkIndex(*trace_); !sound) throw std::runtime_error(sound.error().sentence);
    return batch;
}

Result<TablePtr> eventTable(const TracePtr& trace, std::string_view kind) {
    TablePtr found;
    std::string names;
    forEachKind([&](auto each) {
        if constexpr (each.origin == kinds::Origin::Recorded) {
            if (each.identifier == kind) found = tableOf<decltype(each)>(trace);
            names += (names.empty() ? "" : ", ") + std::string(each.identifier);
        }
    });
    if (found) return found;
    return fail("Unknown kind of events \"{}\"; choose from: {}.", kind, names);
}

}  // namespace lanescope::python
