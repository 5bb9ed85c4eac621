// SPDX-License-Identifier: Apache-2.0
#include "model/compare/CompareSelection.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "model/analysis/stepRanges.h"
#include "model/format/text.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

constexpr int64_t noLimit = std::numeric_limits<int64_t>::max();

/// Returns the start of range number `occurrence` called `name`, counted by process, in the process that has it first.
std::optional<int64_t> occurrenceStart(const Trace& trace, std::string_view name, int occurrence) {
    const NvtxTable& nvtx = trace.nvtx;
    const bool isPattern = name.find('#') != std::string_view::npos;
    std::vector<int> seen(trace.processes.size());
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        if (nvtx.style[row] == NvtxStyle::Mark) continue;
        const std::string_view text = trace.strings.at(nvtx.text[row]);
        if (text != name && !(isPattern && rangePattern(text) == name)) continue;
        if (seen[trace.threads[nvtx.thread[row]].process]++ == occurrence) return nvtx.startNs[row];
    }
    return std::nullopt;
}

/// Returns the number of the first step of any process that begins at `timeNs` or later, or nullopt.
std::optional<int64_t> firstStepFrom(const RunSteps& run, int64_t timeNs) {
    std::optional<int64_t> first;
    for (const WorkerSteps& worker : run.workers) {
        for (const StepSpan& step : worker.steps) {
            // A range is a time of the CPU.
            const TimeRange& found = step.launches.isEmpty() ? step.range : step.launches;
            if (found.startNs < timeNs) continue;
            first = std::min(first.value_or(step.number), step.number);
            break;
        }
    }
    return first;
}

/// Returns `first + number`, saturated.
int64_t shifted(int64_t first, int64_t number) { return number > noLimit - first ? noLimit : first + number; }

Result<StepSelection> selectionFromRange(const Trace& trace, const CompareSelection& selection) {
    const std::optional<int64_t> timeNs = occurrenceStart(trace, selection.alignedRange, selection.occurrence);
    if (!timeNs && !occurrenceStart(trace, selection.alignedRange, 0))
        return fail({printable(noSuchRange(trace, selection.alignedRange).value().sentence)});
    if (!timeNs)
        return fail("No process of {} has as many NVTX ranges \"{}\": number {} was asked for, counted from 0.",
                    printable(trace.title), printable(selection.alignedRange), selection.occurrence);
    StepSelection result{.rangeName = selection.range, .keepsWarmUp = true};
    const Result<RunSteps> steps = findSteps(trace, result);
    if (!steps) return fail(steps.error());
    if (steps->source == StepSource::WholeRun) {
        result.stretch = TimeRange{*timeNs, trace.range.endNs};
        return result;
    }
    const std::optional<int64_t> first = firstStepFrom(*steps, *timeNs);
    if (!first)
        return fail("No step of {} begins with or after its range \"{}\".", printable(trace.title),
                    printable(selection.alignedRange));
    const StepRange wanted = selection.numbers.value_or(StepRange{0, noLimit});
    result.numbers = {shifted(*first, wanted.first), shifted(*first, wanted.last)};
    return result;
}

}  // namespace

std::string CompareSelection::sentence() const {
    std::string text;
    const auto add = [&text](std::string part) { text += (text.empty() ? "" : ", ") + part; };
    if (!range.empty()) add(fmt::format("ranges \"{}\"", range));
    if (numbers) {
        if (numbers->first == numbers->last)
            add(fmt::format("step {}", numbers->first));
        else
            add(fmt::format("steps {}-{}", numbers->first, numbers->last));
    }
    if (alignment == Alignment::Start) add("warm-up included");
    if (alignment == Alignment::Occurrence)
        add(fmt::format("from range \"{}\" number {} on", alignedRange, occurrence));
    return text;
}

Result<void> parseAlignment(std::string_view text, CompareSelection& selection) {
    using Alignment = CompareSelection::Alignment;
    if (text == "step" || text == "start") {
        selection.alignment = text == "step" ? Alignment::Warmed : Alignment::Start;
        return {};
    }
    // A '#' before digits at the end counts ranges; any other belongs to the name.
    size_t digits = text.size();
    while (digits > 0 && isDigit(text[digits - 1])) --digits;
    std::string_view name = text;
    selection.occurrence = 0;
    if (digits < text.size() && digits > 0 && text[digits - 1] == '#') {
        name = text.substr(0, digits - 1);
        const auto [stop, error] =
            std::from_chars(text.data() + digits, text.data() + text.size(), selection.occurrence);
        if (error != std::errc()) return fail("There are not as many ranges as \"{}\" asks for", printable(text));
    }
    if (name.empty())
        return fail(
            "\"{}\" names no range; write step, start, or the name of an NVTX range, such as \"epoch\" or \"epoch#2\"",
            printable(text));
    selection.alignment = Alignment::Occurrence;
    selection.alignedRange = name;
    return {};
}

Result<StepSelection> stepSelectionFor(const Trace& trace, const CompareSelection& selection) {
    if (selection.alignment == CompareSelection::Alignment::Occurrence) return selectionFromRange(trace, selection);
    return StepSelection{.rangeName = selection.range,
                         .numbers = selection.numbers,
                         .keepsWarmUp = selection.alignment == CompareSelection::Alignment::Start};
}

}  // namespace lanescope
