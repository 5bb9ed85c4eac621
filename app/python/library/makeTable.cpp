// SPDX-License-Identifier: Apache-2.0
#include "app/python/library/makeTable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "model/explain/Explanation.h"
#include "model/format/parseNumber.h"
#include "model/format/text.h"
#include "model/index/openTrace.h"
#include "model/pages/makeComparison.h"
#include "model/query/TraceQuery.h"
#include "model/reports/reports.h"
#include "model/text/ReportTable.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/OfTable.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/processes.h"

namespace lanescope::python {

Options::Options(const char* const* pairs) {
    for (; pairs != nullptr && pairs[0] != nullptr && pairs[1] != nullptr; pairs += 2)
        given_.emplace_back(pairs[0], pairs[1]);
}

std::string Options::take(std::string_view name) {
    const std::vector<std::string> values = takeAll(name);
    return values.empty() ? std::string() : values.back();
}

std::vector<std::string> Options::takeAll(std::string_view name) {
    std::vector<std::string> values;
    std::erase_if(given_, [&](const auto& option) {
        if (option.first != name) return false;
        values.push_back(option.second);
        return true;
    });
    return values;
}

Result<int64_t> Options::takeCount(std::string_view name, int64_t otherwise) {
    const std::string text = take(name);
    if (text.empty()) return otherwise;
    const auto number = parseNumber<int64_t>(text);
    if (!number || *number < 1) return fail("{}: \"{}\" is not a whole number above 0.", name, printable(text));
    return *number;
}

Result<void> Options::checkAllUsed(std::string_view what) const {
    if (given_.empty()) return {};
    return fail("{}: unknown option \"{}\".", what, printable(given_.front().first));
}

namespace {

/// Removes and returns the options `range`, `steps` and `align`, as in `lanescope compare`.
Result<CompareSelection> takeSelection(Options& options) {
    CompareSelection selection{.range = options.take("range")};
    if (const std::string steps = options.take("steps"); !steps.empty()) {
        const Result<StepRange> numbers = parseStepNumbers(steps);
        if (!numbers) return fail("{}.", numbers.error().sentence);
        selection.numbers = *numbers;
    }
    if (const std::string align = options.take("align"); !align.empty()) {
        const Result<void> parsed = parseAlignment(align, selection);
        if (!parsed) return fail("{}.", parsed.error().sentence);
    }
    return selection;
}

/// The names of a report's columns.
enum class ColumnNames : uint8_t {
    Headers,      ///< As in CSV and JSON: "Total Time (ns)".
    Identifiers,  ///< "total_time_ns".
};
/// Stores each distinct text only once if `Names`.
enum class TextsAre : uint8_t { Plain, Names };

struct EventColumn {
    ColumnInfo info;
    std::function<ColumnValues(size_t first, size_t count)> read;
};

/// Values by row of objects that events belong to; null where `isKnown` is not set.
template <class T>
struct PerRow {
    std::vector<T> values;
    std::vector<bool> isKnown;

    void push_back(T value, bool isIt = true) {
        values.push_back(value);
        isKnown.push_back(isIt);
    }
};

template <class T>
constexpr ColumnType columnTypeOf() {
    if constexpr (std::is_floating_point_v<T>) return ColumnType::Float64;
    if constexpr (sizeof(T) == 8) return std::is_signed_v<T> ? ColumnType::Int64 : ColumnType::UInt64;
    return std::is_signed_v<T> ? ColumnType::Int32 : ColumnType::UInt32;
}

/// Passes a column in pieces that fit into a cache: `take(values, index of the first)`.
template <class T, class Take>
void readPieces(const Column<T>& column, size_t first, size_t count, const Take& take) {
    std::array<T, 2048> piece;
    for (size_t done = 0; done < count; done += piece.size()) {
        const std::span<T> values(piece.data(), std::min(piece.size(), count - done));
        column.copyTo(values, first + done);
        take(std::span<const T>(values), done);
    }
}

/// The numbers of a column, unchanged. `column` must outlive the result.
template <class T>
EventColumn asItIs(std::string name, Unit unit, const Column<T>& column) {
    return {{name, name, unit, columnTypeOf<T>()}, [&column](size_t first, size_t count) {
                ColumnValues out{Buffer(count * sizeof(T)), {}, {}, 0};
                column.copyTo({out.values.as<T>(), count}, first);
                return out;
            }};
}

inline EventColumn durations(const Column<int64_t>& startNs, const Column<int64_t>& endNs) {
    return {{"duration_ns", "duration_ns", Unit::Nanoseconds, ColumnType::Int64},
            [&startNs, &endNs](size_t first, size_t count) {
                ColumnValues out{Buffer(count * sizeof(int64_t)), {}, {}, 0};
                auto* values = out.values.as<int64_t>();
                endNs.copyTo({values, count}, first);
                readPieces(startNs, first, count, [values](auto starts, size_t place) {
                    for (size_t row = 0; row < starts.size(); ++row)
                        values[place + row] = TimeRange{starts[row], values[place + row]}.durationNs();
                });
                return out;
            }};
}

/// The value in `perRow` of the row in each value of `column`; null if there is no such row.
template <class T, class Key>
EventColumn resolved(ColumnInfo info, const Column<Key>& column, PerRow<T> perRow) {
    const bool areAllKnown = std::find(perRow.isKnown.begin(), perRow.isKnown.end(), false) == perRow.isKnown.end();
    return {std::move(info), [&column, areAllKnown, perRow = std::move(perRow)](size_t first, size_t count) {
                ColumnValues out{Buffer(count * sizeof(T)), {}, {}, 0};
                auto* values = out.values.template as<T>();
                ValidityBits validity(count);
                readPieces(column, first, count, [&](auto keys, size_t place) {
                    for (size_t row = 0; row < keys.size(); ++row) {
                        const auto key = static_cast<size_t>(keys[row]);
                        const bool isThere = key < perRow.values.size();
                        values[place + row] = isThere ? perRow.values[key] : T{};
                        if (!isThere || (!areAllKnown && !perRow.isKnown[key])) validity.setNull(place + row);
                    }
                });
                validity.moveTo(out);
                return out;
            }};
}

template <class T, class Key>
EventColumn resolved(std::string name, Unit unit, const Column<Key>& column, PerRow<T> perRow) {
    return resolved({name, name, unit, columnTypeOf<T>()}, column, std::move(perRow));
}

/// `nameOf(value)` of each value of `column`, which are numbers below `limit`; each name once.
template <class Key, class NameOf>
EventColumn named(std::string name, const Column<Key>& column, size_t limit, const NameOf& nameOf) {
    Names names;
    PerRow<int32_t> numbers;
    numbers.values.assign(limit, 0);
    numbers.isKnown.assign(limit, true);
    std::vector<bool> isNamed(limit);
    readPieces(column, 0, column.size(), [&](auto keys, size_t) {
        for (const Key value : keys) {
            const auto key = static_cast<size_t>(value);
            if (key >= limit || isNamed[key]) continue;
            isNamed[key] = true;
            numbers.values[key] = names.numberOf(nameOf(value));
        }
    });
    return resolved({name, name, Unit::Text, ColumnType::Name, std::make_shared<Dictionary>(names)}, column,
                    std::move(numbers));
}

/// The recorded events of one kind, by start. Stores no rows: a batch is read from the trace on
/// request, its columns on all cores.
class EventTable : public Table {
  public:
    EventTable(TracePtr trace, std::string name, uint32_t rowCount, std::vector<EventColumn> columns)
        : Table(std::move(name)), trace_(std::move(trace)), rowCount_(rowCount), read_(std::move(columns)) {
        for (const EventColumn& column : read_) columns_.push_back(column.info);
    }

    int64_t rowCount() const override { return rowCount_; }
    Batch rows(int64_t first, int64_t maxRows) const override {
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

  private:
    TracePtr trace_;  // source of the columns
    uint32_t rowCount_;
    std::vector<EventColumn> read_;
};

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

/// The rows of a report, stored as columns: some ten bytes per cell. A column is text if any cell
/// is, else real numbers if any cell is, else whole numbers; if all cells are empty, its unit
/// decides. A listing that arrives in parts is typed by its first part and by its units.
class RowTable : public Table {
  public:
    RowTable(const ReportTable& table, ColumnNames names)
        : RowTable(
              table.name, [&table](const auto& add) { add(table); }, names, TextsAre::Plain) {}

    /// `forEachPart` calls its argument with each part; the columns are the same each time.
    using Parts = std::function<void(const std::function<void(const ReportTable&)>&)>;
    RowTable(std::string name, const Parts& forEachPart, ColumnNames names, TextsAre texts) : Table(std::move(name)) {
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

    int64_t rowCount() const override { return rowCount_; }
    Batch rows(int64_t first, int64_t maxRows) const override {
        const auto next = std::upper_bound(parts_.begin(), parts_.end(), first,
                                           [](int64_t row, const Part& part) { return row < part.firstRow; });
        const Part& part = *std::prev(next);
        const auto offset = static_cast<size_t>(first - part.firstRow);
        return {offset, std::min(part.rows - offset, static_cast<size_t>(maxRows)), part.columns};
    }

  private:
    struct Part {
        int64_t firstRow = 0;
        size_t rows = 0;
        std::vector<std::shared_ptr<const ColumnValues>> columns;
    };

    void describeColumns(const ReportTable& part, ColumnNames names, TextsAre texts) {
        const ColumnType text = texts == TextsAre::Names ? ColumnType::Name : ColumnType::Text;
        for (size_t column = 0; column < part.columns.size(); ++column) {
            const ReportColumn& from = part.columns[column];
            std::string name = names == ColumnNames::Headers ? validUtf8(headerOf(from)) : identifierOf(from);
            columns_.push_back({std::move(name), from.name, from.unit, typeOf(part, column, text)});
        }
    }

    void add(const ReportTable& part, std::vector<Names>& names) {
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

    std::vector<Part> parts_;
    int64_t rowCount_ = 0;
};

/// Returns the events of a kind by its identifier, such as "kernel"; fails with the list of kinds
/// for another name. O(n), with a small constant.
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

/// Returns a report; one that arrives in parts is never entirely in memory as cells.
TablePtr reportTable(const Report& report, const ReportQuery& query, ColumnNames names) {
    const auto forEachPart = [&](const std::function<void(const ReportTable&)>& add) {
        makeReportInParts(report, query, [&add](const ReportTable& part) {
            add(part);
            return true;
        });
    };
    return std::make_shared<RowTable>(std::string(report.info.name), forEachPart, names,
                                      report.list != nullptr ? TextsAre::Names : TextsAre::Plain);
}

Result<TablePtr> statsTable(const Trace& trace, Options& options) {
    const std::string by = options.take("by");
    const std::string rangeName = options.take("range_name");
    const std::string rangeText = options.take("range");
    const Result<std::vector<std::string>> names = reportsAsked({options.take("report")}, by);
    if (!names) return fail(names.error());
    const Result<const Report*> report = findReport(names->front());
    if (!report) return fail(report.error());
    if (const auto used = checkRangeNameIsUsed(*names, rangeName); !used) return fail(used.error());
    std::optional<TimeRange> range;
    if (!rangeText.empty()) {
        const Result<TimeRange> parsed = parseRange(rangeText);
        if (!parsed) return fail("{}.", parsed.error().sentence);
        range = *parsed;
    }
    const Result<void> selected = checkSelection(trace, *names, range, rangeName);
    if (!selected) return fail(selected.error());
    return reportTable(**report, {trace, range, rangeName}, ColumnNames::Headers);
}

Result<analysis::RunSummary> summaryOf(const OpenTrace& open, const CompareSelection& selection) {
    return summarizeFile(open.path.string(), selection,
                         [&open](const std::filesystem::path&) -> Result<TracePtr> { return open.trace; });
}

Result<TablePtr> stepsTable(const OpenTrace& open, Options& options) {
    const Result<CompareSelection> selection = takeSelection(options);
    if (!selection) return fail(selection.error());
    const Result<analysis::RunSummary> run = summaryOf(open, *selection);
    if (!run) return fail(run.error());
    ReportTable table{.name = "steps", .title = "Steps", .columns = {}, .rows = {}};
    table.columns = {{"Rank", Unit::Identifier},  {"PID", Unit::Identifier},     {"GPU", Unit::Identifier},
                     {"Step", Unit::Identifier},  {"Name", Unit::Text},          {"Start", Unit::Timestamp},
                     {"Wall", Unit::Nanoseconds}, {"On CPU", Unit::Nanoseconds}, {"MFU", Unit::Percent}};
    for (size_t part = 0; part < analysis::stepPartCount; ++part)
        table.columns.push_back({std::string(analysis::identifier(analysis::StepPart(part))), Unit::Nanoseconds});
    for (const analysis::WorkerSummary& worker : run->workers) {
        for (const analysis::StepSummary& step : worker.steps) {
            const std::optional<double> mfu = worker.mfuOf(step);
            std::vector<Cell> row{worker.rank ? Cell(int64_t{*worker.rank}) : Cell(),
                                  int64_t{worker.pid},
                                  worker.gpuId,
                                  step.number,
                                  step.name,
                                  step.startNs,
                                  step.wallNs,
                                  step.onCpuNs ? Cell(*step.onCpuNs) : Cell(),
                                  mfu ? Cell(100 * *mfu) : Cell()};
            row.insert(row.end(), step.parts.ns.begin(), step.parts.ns.end());
            table.rows.push_back(std::move(row));
        }
    }
    return std::make_shared<RowTable>(table, ColumnNames::Identifiers);
}

Result<TablePtr> sqlTable(const OpenTrace& open, Options& options) {
    const std::string sql = options.take("query");
    QueryLimits limits;
    const Result<int64_t> rows = options.takeCount("rows", limits.rows);
    if (!rows) return fail(rows.error());
    const Result<int64_t> seconds = options.takeCount("seconds", limits.time.count() / 1000);
    if (!seconds) return fail(seconds.error());
    constexpr int64_t day = 86'400;
    limits.rows = *rows;
    limits.time = std::chrono::seconds(std::min(*seconds, day));
    Result<TimedQuery> query = TimedQuery::open(open.path);
    if (!query) return fail(query.error());
    auto result = query->run(sql, limits);
    if (!result) return fail({sentenceOf(result.error(), sql)});
    if (result->isCut)
        result->table.notes.push_back(
            fmt::format("Only the first {} rows are shown. Get more with rows=.", result->table.rows.size()));
    if (std::string doubt = query->doubt(); !doubt.empty()) result->table.notes.push_back(std::move(doubt));
    // The columns have the names in the query.
    for (ReportColumn& column : result->table.columns)
        if (column.unit == Unit::Timestamp) column.unit = Unit::Identifier;
    return std::make_shared<RowTable>(result->table, ColumnNames::Headers);
}

bool isNull(const ColumnValues& column, size_t row) {
    const auto* bits = column.validity.as<uint8_t>();
    return bits != nullptr && (bits[row / 8] >> row % 8 & 1) == 0;
}

Cell cellOf(const ColumnInfo& info, const ColumnValues& column, size_t row) {
    if (isNull(column, row)) return {};
    const Buffer& values = column.values;
    switch (info.type) {
        case ColumnType::Int32: return int64_t{values.as<int32_t>()[row]};
        case ColumnType::UInt32: return int64_t{values.as<uint32_t>()[row]};
        case ColumnType::Int64: return values.as<int64_t>()[row];
        case ColumnType::UInt64: return fmt::format("{}", values.as<uint64_t>()[row]);
        case ColumnType::Float64: return values.as<double>()[row];
        case ColumnType::Name: return info.dictionary->texts[static_cast<size_t>(values.as<int32_t>()[row])];
        case ColumnType::Text: break;
    }
    const auto* ends = values.as<int32_t>() + row;
    return std::string(column.text.as<char>() + ends[0], column.text.as<char>() + ends[1]);
}

}  // namespace

Result<TablePtr> makeTable(const OpenTrace& open, std::string_view name, Options& options) {
    if (name == "events") return eventTable(open.trace, options.take("kind"));
    if (name == "stats") return statsTable(*open.trace, options);
    if (name == "steps") return stepsTable(open, options);
    if (name == "sql") return sqlTable(open, options);
    if (name != "nccl") return fail("Unknown table \"{}\".", name);
    const Result<const Report*> report = findReport("nccl_trace");
    if (!report) return fail(report.error());
    return reportTable(**report, {*open.trace}, ColumnNames::Identifiers);
}

Result<TablePtr> makeTable(const report::ComparisonReport& comparison, std::string_view name) {
    for (const ReportTable& table : report::comparisonTables(comparison))
        if (table.name == name) return std::make_shared<RowTable>(table, ColumnNames::Headers);
    return fail("Unknown table \"{}\"; choose from: {}.", name, fmt::join(report::comparisonTableNames(), ", "));
}

Result<report::ComparisonReport> compareWith(const OpenTrace& open, Options& options) {
    ComparisonRequest request{.baseline = {open.path.string()}};
    for (std::string& candidate : options.takeAll("candidate")) request.candidates.push_back({std::move(candidate)});
    if (request.candidates.empty()) return fail("Name a run to compare with.");
    request.earlier = options.takeAll("spread");
    Result<CompareSelection> selection = takeSelection(options);
    if (!selection) return fail(selection.error());
    request.selection = std::move(*selection);
    const Result<int64_t> top = options.takeCount("top", defaultTextTop);
    if (!top) return fail(top.error());
    if (const auto checked = checkFiles(request); !checked) return fail(checked.error());
    Result<report::ComparisonReport> report =
        makeComparison(request, [&open](const std::filesystem::path& path) -> Result<TracePtr> {
            return path == open.path ? open.trace : openTrace(path);
        });
    if (report) report->top = static_cast<size_t>(*top);
    return report;
}

Result<report::ExplanationReport> explainTrace(const OpenTrace& open, Options& options) {
    explain::MutedRules muted;
    for (const std::string& name : options.takeAll("mute")) {
        const Result<const explain::Rule*> rule = explain::parseRule(name);
        if (!rule) return fail(rule.error());
        muted.insert(*rule);
    }
    const Result<CompareSelection> selection = takeSelection(options);
    if (!selection) return fail(selection.error());
    Result<analysis::RunSummary> run = summaryOf(open, *selection);
    if (!run) return fail(run.error());
    report::ExplanationReport report{std::move(*run), {}};
    report.explanation = explain::explain(report.run, muted);
    return report;
}

ReportTable previewOf(const Table& table, int64_t maxRows) {
    ReportTable shown{.name = table.name(), .notes = table.notes()};
    for (const ColumnInfo& column : table.columns()) shown.columns.push_back({column.title, column.unit});
    for (int64_t first = 0; first < std::min(maxRows, table.rowCount());) {
        const Batch batch = table.rows(first, maxRows - first);
        for (size_t row = 0; row < batch.rows; ++row) {
            std::vector<Cell>& cells = shown.rows.emplace_back();
            for (size_t column = 0; column < shown.columns.size(); ++column)
                cells.push_back(cellOf(table.columns()[column], *batch.columns[column], batch.offset + row));
        }
        first += static_cast<int64_t>(batch.rows);
    }
    return shown;
}

std::string asHtml(const ReportTable& table, int64_t rowCount) {
    std::string html = "<table><thead><tr>";
    for (const ReportColumn& column : table.columns) html += fmt::format("<th>{}</th>", markupEscaped(column.name));
    html += "</tr></thead><tbody>";
    for (const std::vector<Cell>& row : table.rows) {
        html += "<tr>";
        for (size_t column = 0; column < row.size(); ++column)
            html += fmt::format("<td>{}</td>", markupEscaped(formatCell(row[column], table.columns[column].unit)));
        html += "</tr>";
    }
    html += fmt::format("</tbody></table><p>{} of {} rows</p>", formatCount(static_cast<int64_t>(table.rows.size())),
                        formatCount(rowCount));
    for (const std::string& note : table.notes) html += fmt::format("<p>{}</p>", markupEscaped(note));
    return html;
}

}  // namespace lanescope::python
