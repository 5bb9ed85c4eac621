// SPDX-License-Identifier: Apache-2.0
// What the Python package calls in this library; nothing else is visible outside. Every function
// may be called from any thread, but an object may be closed only when nobody uses it. Nothing
// throws: a failure is null or false, and a sentence in `error` that `lanescopeFree` frees.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "app/python/library/arrowExport.h"
#include "app/python/library/makeTable.h"
#include "model/analysis/storedSummary.h"
#include "model/index/openTrace.h"
#include "model/merge/fitClocks.h"
#include "model/pages/TimelineData.h"
#include "model/pages/htmlPage.h"
#include "model/pages/makeComparison.h"
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "model/trace/healthNotes.h"

/// Fits clocks by common sightings (`lanescope::fitClocks`). Sightings are grouped by moment; all moments are causal.
/// `out` receives offset, origin, drift, error and number of moments of each clock, and how often it was set.
/// `settings` receives, for up to `room` of these, clock after clock and by time: its number, the last moment before
/// and the first one after by its own time, the size of the step, and offset, origin and drift from then on. Returns
/// false for an invalid clock, or without memory.
extern "C" __attribute__((visibility("default"))) bool lanescopeFitClocks(uint32_t clocks, int64_t sightings,
                                                                          const uint32_t* moment, const uint32_t* clock,
                                                                          const int64_t* beginNs, const int64_t* endNs,
                                                                          double* out, int64_t room,
                                                                          double* settings) noexcept {
    using namespace lanescope;
    try {
        std::vector<CommonTime> moments;
        for (int64_t row = 0; row < sightings; ++row) {
            if (clock[row] >= clocks) return false;
            if (row == 0 || moment[row] != moment[row - 1]) moments.push_back({{}, true});
            moments.back().sightings.push_back({clock[row], beginNs[row], endNs[row]});
        }
        const ClockFit fit = fitClocks(clocks, moments);
        const auto writeLine = [](const ClockLine& line, double*& to) {
            *to++ = static_cast<double>(line.offsetNs);
            *to++ = static_cast<double>(line.originNs);
            *to++ = line.driftNsPerNs;
        };
        for (uint32_t number = 0; number < clocks; ++number) {
            const FittedClock& each = fit.clocks[number];
            writeLine(each.map, out);
            *out++ = static_cast<double>(each.errorNs);
            *out++ = static_cast<double>(each.moments);
            *out++ = static_cast<double>(each.settings.size());
            for (size_t place = 0; place < each.settings.size() && room > 0; ++place, --room) {
                const ClockSetting& setting = each.settings[place];
                for (const int64_t value : {int64_t{number}, setting.afterNs, setting.beforeNs, setting.byNs})
                    *settings++ = static_cast<double>(value);
                writeLine(each.map.later[place].line, settings);
            }
        }
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

#define LANESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

namespace lanescope::python {

namespace {

using Comparison = std::shared_ptr<const report::ComparisonReport>;
using Explanation = std::shared_ptr<const report::ExplanationReport>;
/// The objects that Python owns.
using Object = std::variant<OpenTrace, TablePtr, Comparison, Explanation>;

char* copied(std::string_view text) {
    auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) return nullptr;
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = 0;
    return copy;
}

/// Returns the value of `work`, or null and its error.
template <class Work>
auto guarded(char** error, const Work& work) noexcept -> std::remove_reference_t<decltype(*work())> {
    try {
        auto result = work();
        if (result) return *result;
        *error = copied(result.error().sentence);
    } catch (const std::bad_alloc&) {
        *error = copied("There is not enough memory.");
    } catch (const std::exception& exception) {
        *error = copied(exception.what());
    }
    return {};
}

Result<std::string> textOf(const TablePtr& table, std::string_view format, Options& options) {
    constexpr int64_t previewRows = 10;
    const Result<int64_t> rows = options.takeCount("rows", previewRows);
    if (!rows) return fail(rows.error());
    const ReportTable shown = previewOf(*table, *rows);
    if (format == "html") return asHtml(shown, table->rowCount());
    std::string text = formatTable(shown, TableFormat::Text);
    text += fmt::format("{} of {} rows\n", formatCount(static_cast<int64_t>(shown.rows.size())),
                        formatCount(table->rowCount()));
    for (const std::string& note : shown.notes) text += note + "\n";
    return text;
}

Result<std::string> textOf(const Comparison& comparison, std::string_view format, Options&) {
    if (format == "json") return report::comparisonAsJson(*comparison);
    if (format != "html") return report::comparisonAsText(*comparison);
    report::ComparisonReport page = *comparison;
    page.top = std::max(page.top, defaultHtmlTop);
    return comparisonPage(page, [](const std::filesystem::path& path) { return openTrace(path); });
}

Result<std::string> textOf(const Explanation& explanation, std::string_view format, Options&) {
    if (format == "json") return report::explanationAsJson(*explanation);
    return format == "html" ? report::explanationAsHtml(*explanation) : report::explanationAsText(*explanation);
}

/// Returns the page of `lanescope page` with its options `steps`, `time` and `anonymous`.
Result<std::string> pageOf(const OpenTrace& open, Options& options) {
    report::TimelineRequest request;
    if (const std::string steps = options.take("steps"); !steps.empty()) {
        const Result<StepRange> numbers = parseStepNumbers(steps);
        if (!numbers) return fail("{}.", numbers.error().sentence);
        request.steps = *numbers;
    }
    if (const std::string time = options.take("time"); !time.empty()) {
        const Result<TimeRange> range = parseRange(time);
        if (!range) return fail("{}.", range.error().sentence);
        request.time = *range;
    }
    request.isAnonymous = !options.take("anonymous").empty();
    if (const auto taken = options.checkAllUsed("page"); !taken) return fail(taken.error());
    return report::tracePage(*open.trace, request);
}

/// Returns the page, or the warnings, one per line; else the title of the trace.
Result<std::string> textOf(const OpenTrace& open, std::string_view format, Options& options) {
    if (format == "html") return pageOf(open, options);
    if (format != "warnings") return printable(open.trace->title);
    std::string text;
    for (const HealthNote& note : healthNotesOf(*open.trace))
        if (note.severity != Severity::Info) text += printable(shownText(note)) + "\n";
    return text;
}

Result<TablePtr> tableOf(const OpenTrace& open, std::string_view name, Options& options) {
    Result<TablePtr> table = makeTable(open, name, options);
    if (const Result<void> sound = checkIndex(*open.trace); !sound) return fail(sound.error());
    return table;
}
Result<TablePtr> tableOf(const Comparison& comparison, std::string_view name, Options&) {
    return makeTable(*comparison, name);
}
Result<TablePtr> tableOf(const TablePtr&, std::string_view, Options&) { return fail("A table has no tables."); }
Result<TablePtr> tableOf(const Explanation&, std::string_view, Options&) {
    return fail("An explanation has no tables.");
}

/// Calls the content of a capsule by `PyCapsule_GetPointer` of the running interpreter, without
/// linking a Python library, and releases it unless it was moved away.
template <class Struct>
void releaseCapsule(void* capsule, const char* name) noexcept {
    using GetPointer = void* (*)(void*, const char*);
    const auto getPointer = reinterpret_cast<GetPointer>(::dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer"));
    if (getPointer == nullptr) return;
    const std::unique_ptr<Struct> held(static_cast<Struct*>(getPointer(capsule, name)));
    if (held && held->release != nullptr) held->release(held.get());
}

}  // namespace

}  // namespace lanescope::python

using namespace lanescope;
using namespace lanescope::python;

/// Increase it whenever a function below changes.
LANESCOPE_EXPORT int lanescopeAbi() { return 6; }

LANESCOPE_EXPORT int lanescopeStoredVersion() { return analysis::storedVersion; }

/// Opens a trace; costs the same as `openTrace`.
LANESCOPE_EXPORT void* lanescopeOpen(const char* path, char** error) {
    return guarded(error, [&]() -> Result<Object*> {
        Result<TracePtr> trace = openTrace(path);
        if (!trace) return fail(trace.error());
        return new Object(OpenTrace{path, std::move(*trace)});
    });
}

/// Compares a trace with files; `options` as in `compareWith`.
LANESCOPE_EXPORT void* lanescopeCompare(const void* trace, const char* const* options, char** error) {
    return guarded(error, [&]() -> Result<Object*> {
        const auto* open = std::get_if<OpenTrace>(static_cast<const Object*>(trace));
        if (open == nullptr) return fail("Only a trace can be compared.");
        Options given(options);
        Result<report::ComparisonReport> report = compareWith(*open, given);
        if (!report) return fail(report.error());
        if (const auto taken = given.checkAllUsed("compare"); !taken) return fail(taken.error());
        return new Object(Comparison(std::make_shared<report::ComparisonReport>(std::move(*report))));
    });
}

/// Explains a trace; `options` as in `explainTrace`.
LANESCOPE_EXPORT void* lanescopeExplain(const void* trace, const char* const* options, char** error) {
    return guarded(error, [&]() -> Result<Object*> {
        const auto* open = std::get_if<OpenTrace>(static_cast<const Object*>(trace));
        if (open == nullptr) return fail("Only a trace can be explained.");
        Options given(options);
        Result<report::ExplanationReport> report = explainTrace(*open, given);
        if (!report) return fail(report.error());
        if (const auto taken = given.checkAllUsed("explain"); !taken) return fail(taken.error());
        return new Object(Explanation(std::make_shared<report::ExplanationReport>(std::move(*report))));
    });
}

/// Returns a table of a trace or of a comparison by `makeTable`.
LANESCOPE_EXPORT void* lanescopeTable(const void* object, const char* name, const char* const* options, char** error) {
    return guarded(error, [&]() -> Result<Object*> {
        Options given(options);
        Result<TablePtr> table = std::visit([&](const auto& each) { return tableOf(each, name, given); },
                                            *static_cast<const Object*>(object));
        if (!table) return fail(table.error());
        if (const auto taken = given.checkAllUsed(name); !taken) return fail(taken.error());
        return new Object(std::move(*table));
    });
}

/// Returns a text of an object: "text" or "html" of a table, with the option `rows`; these and "json" of a comparison
/// or an explanation; "title", "warnings" or the page "html" of a trace. Free it with `lanescopeFree`.
LANESCOPE_EXPORT char* lanescopeText(const void* object, const char* format, const char* const* options, char** error) {
    return guarded(error, [&]() -> Result<char*> {
        Options given(options);
        const Result<std::string> text = std::visit([&](const auto& each) { return textOf(each, format, given); },
                                                    *static_cast<const Object*>(object));
        if (!text) return fail(text.error());
        return copied(*text);
    });
}

/// Returns a page (`report::htmlPage`) of a title, which is text, and content, which is HTML. Free it with
/// `lanescopeFree`.
LANESCOPE_EXPORT char* lanescopePage(const char* title, const char* content, char** error) {
    return guarded(error, [&]() -> Result<char*> {
        const std::string escaped = markupEscaped(title);
        return copied(report::htmlPage(escaped, escaped, content));
    });
}

/// Returns the number of rows of a table; -1 for other objects.
LANESCOPE_EXPORT int64_t lanescopeRows(const void* table) {
    const auto* held = std::get_if<TablePtr>(static_cast<const Object*>(table));
    return held != nullptr ? (*held)->rowCount() : -1;
}

/// Returns the rows of a table as an `ArrowArrayStream`, for a capsule with the destructor
/// `lanescopeReleaseStream`. The table may be closed before.
LANESCOPE_EXPORT void* lanescopeStream(const void* table, char** error) {
    return guarded(error, [&]() -> Result<ArrowArrayStream*> {
        const auto* held = std::get_if<TablePtr>(static_cast<const Object*>(table));
        if (held == nullptr) return fail("Only a table is a stream.");
        auto stream = std::make_unique<ArrowArrayStream>();
        exportStream(*held, *stream);
        return stream.release();
    });
}

/// Returns the columns only, as an `ArrowSchema`.
LANESCOPE_EXPORT void* lanescopeSchema(const void* table, char** error) {
    return guarded(error, [&]() -> Result<ArrowSchema*> {
        const auto* held = std::get_if<TablePtr>(static_cast<const Object*>(table));
        if (held == nullptr) return fail("Only a table has columns.");
        auto schema = std::make_unique<ArrowSchema>();
        exportSchema(**held, *schema);
        return schema.release();
    });
}

/// Destructors of capsules, called with the interpreter's lock held.
LANESCOPE_EXPORT void lanescopeReleaseStream(void* capsule) {
    releaseCapsule<ArrowArrayStream>(capsule, "arrow_array_stream");
}
LANESCOPE_EXPORT void lanescopeReleaseSchema(void* capsule) { releaseCapsule<ArrowSchema>(capsule, "arrow_schema"); }

/// Closes an object of the functions above. Exported data stays valid.
LANESCOPE_EXPORT void lanescopeClose(void* object) { delete static_cast<Object*>(object); }
LANESCOPE_EXPORT void lanescopeFree(char* text) { std::free(text); }
