// SPDX-License-Identifier: Apache-2.0
#include "model/pages/TimelineData.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "model/analysis/StepSelection.h"
#include "model/explain/findingQueries.h"
#include "model/index/indexedSummary.h"
#include "model/lod/SumTable.h"
#include "model/numbers/Statistics.h"
#include "model/pages/ExplanationReport.h"
#include "model/pages/TimelineWriter.h"
#include "model/pages/htmlPage.h"
#include "model/reports/reports.h"
#include "model/text/formatValue.h"
#include "model/trace/healthNotes.h"

namespace lanescope::report {

using namespace analysis;
using Json = nlohmann::ordered_json;

namespace {

/// Part of a run with every slice.
struct FullPart {
    TimeRange range;
    std::string what;
};

/// Slices and counter values of a trace that is shown in full.
constexpr uint64_t maxWholeSlices = 60'000;
/// Slices of steps chosen by default.
constexpr uint64_t maxDefaultSlices = 150'000;
/// Slices of a chosen part.
constexpr uint64_t maxChosenSlices = 2'000'000;

uint64_t sliceCount(const Trace& trace, TimeRange range) {
    uint64_t count = 0;
    for (const Track& track : trace.tracks)
        for (const Lane& lane : track.lanes) {
            const SliceRun run = slicesIn(lane, range);
            count += run.end - run.first;
        }
    for (const CounterSeries& series : trace.counters)
        if (!series.isEmpty()) count += series.nearestSample(range.endNs) - series.nearestSample(range.startNs) + 1;
    return count;
}

Result<TimeRange> timeOfSteps(const Trace& trace, StepRange numbers) {
    const Result<RunSteps> steps = findSteps(trace, StepSelection{{}, numbers, {}, false});
    if (!steps) return fail(steps.error());
    std::optional<TimeRange> all;
    for (const WorkerSteps& worker : steps->workers)
        for (const StepSpan& step : worker.steps) {
            TimeRange range = step.range;
            if (!step.launches.isEmpty()) range = range.united(step.launches);
            all = all ? all->united(range) : range;
        }
    if (!all) return fail("{} has no steps {}-{}.", trace.title, numbers.first, numbers.last);
    return *all;
}

/// Returns the index of the first of three steps: those around `middle`, or those of the most usual duration.
size_t firstOfThree(const WorkerSummary& worker, std::optional<uint32_t> middle) {
    const std::vector<StepSummary>& steps = worker.steps;
    const size_t last = steps.size() < 3 ? 0 : steps.size() - 3;
    if (middle) return std::min<size_t>(*middle == 0 ? 0 : *middle - 1, last);
    const int64_t medianNs = upperMedianOf(worker.wallTimes());
    size_t best = 0;
    int64_t bestNs = INT64_MAX;
    for (size_t first = 0; first <= last; ++first) {
        int64_t ns = 0;
        for (size_t step = first; step < std::min(first + 3, steps.size()); ++step)
            ns += std::abs(steps[step].wallNs - medianNs);
        if (ns < bestNs) best = first;
        bestNs = std::min(ns, bestNs);
    }
    return best;
}

std::optional<StepRange> threeSteps(const RunSummary& run, uint32_t worker, std::optional<uint32_t> middle) {
    if (worker >= run.workers.size() || run.source == StepSource::WholeRun) return std::nullopt;
    const auto& steps = run.workers[worker].steps;
    if (steps.empty()) return std::nullopt;
    const size_t first = firstOfThree(run.workers[worker], middle);
    return StepRange{steps[first].number, steps[std::min(first + 2, steps.size() - 1)].number};
}

std::string stepsText(StepRange numbers) {
    return numbers.first == numbers.last ? fmt::format("step {}", numbers.first)
                                         : fmt::format("steps {} to {}", numbers.first, numbers.last);
}

/// Returns the longest part around the middle of a range that has few enough slices.
TimeRange partOf(const Trace& trace, TimeRange range) {
    while (range.durationNs() > 1000 && sliceCount(trace, range) > maxDefaultSlices) {
        const int64_t quarterNs = range.durationNs() / 4;
        range = {range.startNs + quarterNs, range.endNs - quarterNs};
    }
    return range;
}

FullPart defaultPart(const Trace& trace, const RunSummary& run, const explain::Explanation& explanation,
                     const std::optional<explain::FindingPlace>& place) {
    const TimeRange whole = trace.timelineRange();
    if (sliceCount(trace, whole) <= maxWholeSlices) return {whole, "the whole run"};
    const bool isFound = place && place->stepIndex;
    const std::optional<StepRange> numbers =
        isFound ? threeSteps(run, explanation.findings.front().worker, place->stepIndex) : typicalSteps(run);
    if (const Result<TimeRange> time = timeOfSteps(trace, numbers.value_or(StepRange{})); numbers && time) {
        const TimeRange range = partOf(trace, *time);
        return {range, fmt::format("{}{}, {}", range == *time ? "" : "a part of ", stepsText(*numbers),
                                   isFound ? "around the largest finding" : "the most usual ones")};
    }
    if (place) return {partOf(trace, place->view), "around the largest finding"};
    return {partOf(trace, whole), "the middle of the run"};
}

Result<FullPart> chosenPart(const Trace& trace, const RunSummary& run, const explain::Explanation& explanation,
                            const std::optional<explain::FindingPlace>& place, const TimelineRequest& request) {
    if (request.time) {
        const TimeRange range = request.time->intersected(trace.timelineRange());
        if (range.isEmpty()) return fail("The chosen time is outside of {}.", trace.title);
        return FullPart{range, "the chosen time"};
    }
    if (request.steps) {
        const Result<TimeRange> range = timeOfSteps(trace, *request.steps);
        if (!range) return fail(range.error());
        return FullPart{*range, stepsText(*request.steps) + ", as chosen"};
    }
    return defaultPart(trace, run, explanation, place);
}

/// Returns the requested part of a run, or three steps around `place`, that of the largest finding. Fails for steps or
/// a time that the trace does not have, and for more slices than a page can have. O(n log n) in the events.
Result<FullPart> fullPartOf(const Trace& trace, const RunSummary& run, const explain::Explanation& explanation,
                            const std::optional<explain::FindingPlace>& place, const TimelineRequest& request) {
    Result<FullPart> part = chosenPart(trace, run, explanation, place, request);
    const uint64_t count = part ? sliceCount(trace, part->range) : 0;
    if (count <= maxChosenSlices) return part;
    return fail(
        "{}: the chosen part has {} slices and counter values, more than the {} of a page. Choose fewer steps or a "
        "shorter time.",
        trace.title, formatCount(static_cast<int64_t>(count)), formatCount(maxChosenSlices));
}

constexpr size_t maxPlaces = 5, maxTableRows = 500, maxSteps = 4000;

Json jsonOf(const Cell& cell, const NameFilter& filter) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return *whole;
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    if (const auto* words = std::get_if<std::string>(&cell)) return filter(*words);
    return nullptr;
}

Json jsonOf(const ReportTable& table, const NameFilter& filter) {
    Json json{{"name", table.name},
              {"title", table.title},
              {"columns", Json::array()},
              {"rows", Json::array()},
              {"count", table.rows.size()}};
    for (const ReportColumn& column : table.columns)
        json["columns"].push_back({column.name, static_cast<int>(column.unit)});
    for (size_t row = 0; row < std::min(maxTableRows, table.rows.size()); ++row) {
        Json cells = Json::array();
        for (const Cell& cell : table.rows[row]) cells.push_back(jsonOf(cell, filter));
        json["rows"].push_back(std::move(cells));
    }
    return json;
}

Json jsonOf(const StepParts& parts) { return parts.ns; }

Json stepsOf(const RunSummary& run) {
    Json workers = Json::array();
    size_t left = maxSteps;
    for (const WorkerSummary& worker : run.workers) {
        Json steps = Json::array();
        for (const StepSummary& step : worker.steps) {
            if (left == 0) break;
            --left;
            steps.push_back({step.number, step.startNs, step.wallNs, jsonOf(step.parts)});
        }
        workers.push_back({{"label", worker.label()}, {"count", worker.steps.size()}, {"steps", std::move(steps)}});
    }
    return workers;
}

Json answerOf(const RunSummary& run, const explain::Explanation& explanation,
              const std::vector<std::optional<explain::FindingPlace>>& places, const NameFilter& filter) {
    const ExplanationReport report{run, explanation};
    Json card{{"sentence", filter(explanation.sentence)},
              {"what", explanation.what},
              {"title", partsTitleOf(report)},
              {"compute", filter(explanation.compute)},
              {"steps", filter(explanation.steps)},
              {"caveats", Json::array()},
              {"findings", Json::array()},
              {"workers", Json::array()}};
    for (const std::string& caveat : explanation.caveats) card["caveats"].push_back(filter(caveat));
    for (size_t index = 0; index < explanation.findings.size(); ++index) {
        const explain::Finding& finding = explanation.findings[index];
        Json json{{"heading", filter(headingOf(report, finding))},
                  {"brief", filter(finding.brief)},
                  {"sentence", filter(finding.sentence)},
                  {"advice", filter(finding.advice)},
                  {"gain", finding.maxGainNs},
                  {"share", finding.share}};
        if (index < places.size() && places[index]) {
            json["view"] = {places[index]->view.startNs, places[index]->view.endNs};
            json["range"] = {places[index]->range.startNs, places[index]->range.endNs};
        }
        card["findings"].push_back(std::move(json));
    }
    for (const explain::WorkerParts& worker : explanation.workers)
        card["workers"].push_back({{"label", run.workers[worker.worker].label()},
                                   {"mean", worker.meanNs},
                                   {"parts", jsonOf(worker.parts)},
                                   {"critical", worker.worker == run.criticalWorker()}});
    return card;
}

Json factsOf(const Trace& trace, const RunSummary& run, bool isAnonymous, const NameFilter& filter) {
    Json facts = Json::array();
    const auto add = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) facts.push_back({name, filter(value)});
    };
    add("File", trace.title);
    add("Command", run.facts.commandLine);
    if (!isAnonymous) add("Host", trace.facts.host);
    for (const std::string& gpu : run.facts.gpuNames) add("GPU", gpu);
    add("Driver", run.facts.driver);
    add("CUDA", run.facts.cuda);
    add("Recorded by", run.facts.producer);
    for (const HealthNote& note : healthNotesOf(trace))
        if (note.severity != Severity::Info) add("Warning", shownText(note));
    return facts;
}

/// Returns gzip's bytes of `text` as Base64; empty if it cannot be compressed.
std::string packedText(const std::string& text) {
    z_stream stream{};
    constexpr int gzipWindow = 15 + 16, defaultMemory = 8;
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzipWindow, defaultMemory, Z_DEFAULT_STRATEGY) != Z_OK)
        return {};
    std::string bytes(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(text.size());
    stream.avail_out = static_cast<uInt>(bytes.size());
    const int status = deflate(&stream, Z_FINISH);
    bytes.resize(status == Z_STREAM_END ? stream.total_out : 0);
    deflateEnd(&stream);
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string base64;
    base64.reserve(bytes.size() / 3 * 4 + 4);
    for (size_t at = 0; at < bytes.size(); at += 3) {
        const auto byte = [&](size_t index) -> uint32_t {
            return at + index < bytes.size() ? static_cast<unsigned char>(bytes[at + index]) : 0;
        };
        const uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (size_t index = 0; index < 4; ++index)
            base64 += at + index > bytes.size() ? '=' : letters[group >> (18 - 6 * index) & 63];
    }
    return base64;
}

}  // namespace

std::optional<StepRange> typicalSteps(const RunSummary& run) {
    return threeSteps(run, run.criticalWorker(), std::nullopt);
}

Result<std::string> timelineHtml(const Trace& trace, const RunSummary& run, const explain::Explanation& explanation,
                                 const TimelineRequest& request) {
    const NameFilter filter = request.isAnonymous ? NameFilter(trace) : NameFilter();
    std::vector<std::optional<explain::FindingPlace>> places;
    for (const explain::Finding& finding : explanation.findings) {
        if (places.size() == maxPlaces) break;
        Result<explain::FindingPlace> place = placeOf(trace, run, finding, explanation.findings);
        places.push_back(place ? std::optional(*place) : std::nullopt);
    }
    const Result<FullPart> full =
        fullPartOf(trace, run, explanation, places.empty() ? std::nullopt : places.front(), request);
    if (!full) return fail(full.error());
    const Result<IdleGaps> gaps = IdleGaps::of(trace);
    Json description{{"title", request.label.empty() ? filter(trace.title) : request.label},
                     {"what", full->what},
                     {"gpus", trace.gpus.size()},
                     {"processes", trace.processes.size()},
                     {"card", answerOf(run, explanation, places, filter)},
                     {"facts", factsOf(trace, run, request.isAnonymous, filter)},
                     {"steps", stepsOf(run)},
                     {"tables", Json::array()}};
    for (const Report* report : {&kernelSummaryReport, &memcpyBandwidthReport})
        if (ReportTable table = makeReport(*report, {trace}); !table.rows.empty())
            description["tables"].push_back(jsonOf(table, filter));
    const std::string data =
        packedText(packedTimeline(trace, full->range, filter, gaps ? &*gaps : nullptr, std::move(description)));
    if (data.empty()) return fail("{}: the page could not be compressed. Choose fewer steps.", trace.title);
    return fmt::format(
        "<div class=\"timeline\"><noscript>The timeline needs scripts.</noscript></div>\n<script "
        "type=\"application/octet-stream\" class=\"trace\">{}</script>\n",
        data);
}

Result<std::string> tracePage(const Trace& trace, const TimelineRequest& request) {
    std::optional<RunSummary> stored = readIndexedSummary(trace.path);
    const Result<RunSummary> run = stored ? Result<RunSummary>(std::move(*stored)) : summarizeRun(trace);
    if (!run) return fail(run.error());
    const explain::Explanation explanation = explain::explain(*run);
    Result<std::string> timeline = timelineHtml(trace, *run, explanation, request);
    if (!timeline) return timeline;
    const std::string title = markupEscaped((request.isAnonymous ? NameFilter(trace) : NameFilter())(trace.title));
    return htmlPage(title, title, *timeline, PageKind::Timeline);
}

}  // namespace lanescope::report
