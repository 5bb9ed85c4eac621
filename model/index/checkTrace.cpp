// SPDX-License-Identifier: Apache-2.0
#include "model/index/checkTrace.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <type_traits>

#include "model/analysis/RunSummary.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/index/IndexFile.h"
#include "model/index/indexFields.h"
#include "model/index/indexedSummary.h"
#include "model/index/openTrace.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

/// The members of a trace, in the order of its `forEachField`.
constexpr std::array<std::string_view, 42> partNames{
    "producer",      "producer kind", "GPU API",      "time range",      "start time",     "facts",
    "GPU facts",     "warnings",      "event counts", "names",           "GPUs",           "connections",
    "processes",     "threads",       "streams",      "launch settings", "kernels",        "copies",
    "migrations",    "memsets",       "graphs",       "memory events",   "memory pools",   "allocations",
    "memory faults", "API calls",     "call stacks",  "graph nodes",     "CPU states",     "synchronizations",
    "event marks",   "event waits",   "stream waits", "NVTX ranges",     "backward calls", "projections",
    "NCCL calls",    "counters",      "counter rows", "tracks",          "launch links",   "sums"};

template <class T>
bool areEqual(const T& one, const T& other) {
    if constexpr (std::is_floating_point_v<T>)
        return Column<T>::bitsOf(one) == Column<T>::bitsOf(other);
    else
        return one == other;
}

template <class T>
bool areEqual(const Column<T>& one, const Column<T>& other) {
    if (one.size() != other.size()) return false;
    constexpr size_t step = 1024;
    std::array<T, step> left, right;
    for (size_t first = 0; first < one.size(); first += step) {
        const size_t count = std::min(step, one.size() - first);
        one.copyTo(std::span(left).first(count), first);
        other.copyTo(std::span(right).first(count), first);
        const auto isSame = [](const T& a, const T& b) { return Column<T>::bitsOf(a) == Column<T>::bitsOf(b); };
        if (!std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(count), right.begin(), isSame))
            return false;
    }
    return true;
}

bool areEqual(const StringTable& one, const StringTable& other) {
    if (one.size() != other.size()) return false;
    for (uint32_t index = 0; index < one.size(); ++index)
        if (one.at(index) != other.at(index)) return false;
    return true;
}

/// Visits the fields of a trace and lists their places, each with the function that compares it with another.
class FieldList {
  public:
    struct Field {
        bool (*isEqual)(const void*, const void*) = nullptr;
        const void* value = nullptr;
        size_t count = 0;  ///< Of a list, whose values follow; it has no function.
        size_t part = 0;
    };

    explicit FieldList(const Trace& trace) {
        forEachField(trace, [this](const auto& field) {
            (*this)(field);
            ++part_;
        });
    }
    const std::vector<Field>& fields() const { return fields_; }

    template <class T>
    void operator()(const T& value) {
        if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
            add(value);
        else
            forEachField(value, *this);
    }
    void operator()(const std::string& text) { add(text); }
    void operator()(const StringTable& strings) { add(strings); }
    template <class T>
    void operator()(const Column<T>& column) {
        add(column);
    }
    template <class T>
    void operator()(const std::optional<T>& value) {
        addCount(value.has_value() ? 1 : 0);
        if (value) (*this)(*value);
    }
    template <class T>
    void operator()(const Rare<T>& value) {
        addCount(value.hasValue() ? 1 : 0);
        if (value.hasValue()) (*this)(*value);
    }
    template <class T, size_t size>
    void operator()(const std::array<T, size>& values) {
        for (const T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(const std::vector<T>& values) {
        addCount(values.size());
        for (const T& value : values) (*this)(value);
    }

  private:
    template <class T>
    void add(const T& value) {
        const auto isEqual = [](const void* one, const void* other) {
            return areEqual(*static_cast<const T*>(one), *static_cast<const T*>(other));
        };
        fields_.push_back({isEqual, &value, 0, part_});
    }
    void addCount(size_t count) { fields_.push_back({nullptr, nullptr, count, part_}); }

    std::vector<Field> fields_;
    size_t part_ = 0;
};

bool isSame(const FieldList::Field& one, const FieldList::Field& other) {
    if (one.isEqual != other.isEqual || one.count != other.count) return false;
    return one.isEqual == nullptr || one.isEqual(one.value, other.value);
}

struct WholeReader {
    template <class T>
    void operator()(const T& value) {
        if constexpr (!std::is_arithmetic_v<T> && !std::is_enum_v<T>) forEachField(value, *this);
    }
    void operator()(const std::string&) {}
    void operator()(const StringTable& strings) { strings.checkAll(); }
    template <class T>
    void operator()(const std::optional<T>&) {}  // small, and checked on opening
    template <class T, size_t size>
    void operator()(const std::array<T, size>&) {}
    template <class T>
    void operator()(const Rare<T>& value) {
        if (value.hasValue()) (*this)(*value);
    }
    template <class T>
    void operator()(const std::vector<T>& values) {
        for (const T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(const Column<T>& column) {
        column.packed().checkAll();
    }
};

class TraceCheck {
  public:
    explicit TraceCheck(const std::filesystem::path& path) : path_(path) {}

    std::vector<Finding> run(const LoadProgress& progress) {
        const LoadProgress unpacking = partOf(progress, 0, 0.2);
        Result<TraceSource> source = TraceSource::open(path_, unpacking);
        if (source && !source->startsLikeSqlite()) {
            const auto format = findFormat(*source, traceFormats());
            if (!format) {
                bad(format.error().sentence);
                return std::move(findings_);
            }
            good(fmt::format("It is {}, which has no checksums; corruption cannot be detected.", (*format)->name));
            checkEvents(partOf(progress, 0.2, 0.9));
            checkIndexes();
            return std::move(findings_);
        }
        const Result<const Database*> database = source ? source->database() : fail(source.error());
        if (!database) {
            bad(database.error().sentence);
            return std::move(findings_);
        }
        if (const auto ignored = (*database)->ignoredFiles()) good(ignored->sentence);
        checkPages(**database);
        checkTables(**database);
        checkEvents(partOf(progress, 0.2, 0.9));
        checkIndexes();
        return std::move(findings_);
    }

  private:
    void good(std::string sentence) { findings_.push_back({true, std::move(sentence)}); }
    void bad(std::string sentence) { findings_.push_back({false, std::move(sentence)}); }

    void checkPages(const Database& database) {
        const size_t pages = database.readEveryPage();
        if (const auto trouble = database.trouble()) return bad(trouble->sentence);
        const auto doubt = database.doubt();
        if (doubt) {
            bad(doubt->sentence);
            if (const std::vector<uint64_t> differing = database.differingPages(); !differing.empty())
                bad(fmt::format("{} of {} pages {}: {} {}.", formatCount(int64_t(differing.size())),
                                formatCount(int64_t(pages)), differing.size() == 1 ? "differs" : "differ",
                                differing.size() == 1 ? "page" : "pages", listOf(differing)));
        } else if (pages > 0) {
            good(fmt::format("All {} pages are unchanged.", formatCount(static_cast<int64_t>(pages))));
        } else if (wasSealed(database)) {
            bad("The checksums are missing: another program modified the trace, or its recording was interrupted.");
        } else {
            good(
                "The trace has no checksums, as traces of other tools and of older versions: changed values cannot be "
                "detected.");
        }
    }

    static std::string listOf(const std::vector<uint64_t>& pages) {
        constexpr size_t maxShown = 20;
        std::string list;
        for (size_t at = 0; at < std::min(pages.size(), maxShown); ++at)
            list += fmt::format("{}{}", at > 0 ? ", " : "", pages[at]);
        return pages.size() > maxShown ? list + " and more" : list;
    }

    /// Runs SQLite's own integrity check.
    void checkTables(const Database& database) {
        constexpr int maxShown = 10;
        auto statement = database.prepare("PRAGMA integrity_check(10)");
        if (!statement) return bad(statement.error().sentence);
        int found = 0;
        auto row = statement->step();
        for (; row && *row && found < maxShown; row = statement->step()) {
            const std::string_view text = statement->text(0);
            if (text == "ok") continue;
            bad(fmt::format("SQLite finds: {}", printable(text)));
            ++found;
        }
        if (!row) return bad(row.error().sentence);
        if (found == 0) good("The layout of the tables is valid.");
    }

    /// Returns true if a note reports unreadable or invalid contents of the file.
    static bool isOfReading(HealthCode code) {
        return isUnread(code) || code == HealthCode::RowsLeftOut || code == HealthCode::ValuesIgnored ||
               code == HealthCode::BytesBehindPacked;
    }

    void checkEvents(const LoadProgress& progress) {
        Result<TracePtr> trace = loadTrace(path_, progress);
        if (!trace) return bad(trace.error().sentence);
        loaded_ = std::move(*trace);
        int found = 0;
        for (const HealthNote& note : loaded_->health) {
            if (!isOfReading(note.code)) continue;
            bad(printable(note.sentence));
            ++found;
        }
        if (found == 0) good("Every event can be read.");
    }

    void checkIndexes() {
        const std::optional<SourceKey> source = sourceKeyOf(path_);
        for (const std::filesystem::path& index : indexPaths(path_)) {
            std::error_code error;
            if (!std::filesystem::exists(index, error)) continue;
            const TracePtr trace = source ? readIndex(index, *source, path_) : nullptr;
            if (trace == nullptr) {
                good(
                    fmt::format("The index {} is not used: it belongs to another state of the file, to another version "
                                "or to another user. It is rebuilt when the trace is opened.",
                                index.string()));
            } else if (const uint32_t blocks = countCorruptBlocks(*trace); blocks > 0) {
                bad(fmt::format("The index {} is corrupt in {} places. Remove it with \"lanescope index --remove\".",
                                index.string(), blocks));
            } else {
                compareIndex(index, *trace);
            }
        }
        checkSummary();
    }

    /// An index contains nothing that is not computed from the trace, so it equals the loaded one.
    void compareIndex(const std::filesystem::path& index, const Trace& indexed) {
        if (loaded_ == nullptr) return good(fmt::format("The index {} is intact.", index.string()));
        const std::vector<std::string_view> parts = differingParts(*loaded_, indexed);
        if (parts.empty())
            good(fmt::format("The index {} is intact and equals one made from the trace just now.", index.string()));
        else
            bad(fmt::format("The index {} differs from the trace: {}. Remove it with \"lanescope index --remove\".",
                            index.string(), fmt::join(parts, ", ")));
    }

    void checkSummary() {
        const std::optional<analysis::RunSummary> stored = loaded_ ? readIndexedSummary(path_) : std::nullopt;
        if (!stored) return;
        const Result<analysis::RunSummary> made = analysis::summarizeRun(*loaded_);
        if (made && *made == *stored)
            good("The summary of the index equals a new one.");
        else
            bad("The summary of the index differs from the trace. Remove it with \"lanescope index --remove\".");
    }

    const std::filesystem::path path_;
    TracePtr loaded_;  ///< Null if unreadable.
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<std::string_view> differingParts(const Trace& one, const Trace& other) {
    const FieldList ofOne(one), ofOther(other);
    std::vector<std::string_view> names;
    auto left = ofOne.fields().begin(), right = ofOther.fields().begin();
    for (size_t part = 0; part < partNames.size(); ++part) {
        const auto isOther = [part](const FieldList::Field& field) { return field.part != part; };
        const auto leftEnd = std::find_if(left, ofOne.fields().end(), isOther);
        const auto rightEnd = std::find_if(right, ofOther.fields().end(), isOther);
        if (!std::equal(left, leftEnd, right, rightEnd, isSame)) names.push_back(partNames[part]);
        left = leftEnd;
        right = rightEnd;
    }
    if (!std::equal(left, ofOne.fields().end(), right, ofOther.fields().end(), isSame)) names.push_back("other data");
    return names;
}

uint32_t countCorruptBlocks(const Trace& trace) {
    WholeReader whole;
    whole(trace);
    return trace.corruptBlocks != nullptr ? trace.corruptBlocks->load() : 0;
}

std::vector<Finding> checkTrace(const std::filesystem::path& path, const LoadProgress& progress) {
    return TraceCheck(path).run(progress);
}

}  // namespace lanescope
