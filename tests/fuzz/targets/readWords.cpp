// SPDX-License-Identifier: Apache-2.0
//
// Target for short texts from users and the environment: ranges, steps, options, patterns, names.

#include "model/analysis/StepSelection.h"
#include "model/analysis/stepRanges.h"
#include "model/compare/CompareSelection.h"
#include "model/format/optionValues.h"
#include "model/format/text.h"
#include "model/reports/reports.h"
#include "model/text/formatValue.h"
#include "model/text/kernelNames.h"
#include "tests/fuzz/targets/Sheet.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/support/simulatedTraining.h"
#ifdef LANESCOPE_HAS_CAPTURE
#include "capture/collector/symbolNames.h"
#include "capture/log/maskSecrets.h"
#include "capture/options/AgentOptions.h"
#endif

namespace lanescope::fuzz {

namespace {

void readNumbers(std::string_view text) {
    if (const auto range = parseRange(text))
        require(range->startNs <= range->endNs, "A range that ends before it begins.");
    (void)parseDuration(text);
    if (const auto steps = parseStepRange(text))
        require(steps->first >= 0 && steps->first <= steps->last, "Steps out of order.");
    (void)parseStepNumbers(text);
}

/// Selects the start, ranges and steps of a comparison, one line each, in a run.
void selectSteps(std::string_view text) {
    static const TracePtr trace = simulatedTraining({.steps = 4, .layers = 1});
    CompareSelection selection;
    if (!parseAlignment(takeUntil(text, '\n'), selection)) return;
    selection.range = takeUntil(text, '\n');
    if (const auto numbers = parseStepNumbers(takeUntil(text, '\n'))) selection.numbers = *numbers;
    require(selection.isDefault() == selection.sentence().empty(), "A choice is not described.");
    const auto steps = stepSelectionFor(*trace, selection);
    if (!steps) return require(!steps.error().sentence.empty(), "It was refused without a word.");
    (void)findSteps(*trace, *steps);
}

void readNames(std::string_view text) {
    const std::string pattern = rangePattern(text);
    require(rangePattern(pattern).size() <= pattern.size(), "A pattern grows by itself.");
    require(text.size() > 4096 || matchesPattern(text, text), "A text is not like itself.");
    // A name and a pattern, one line each, matched by the agent and the gate.
    std::string_view wanted = text;
    const std::string_view name = takeUntil(wanted, '\n');
    if (matchesPattern(name, wanted))
        require(matchesPattern(name, "*" + std::string(wanted)), "A star takes something away.");
    (void)withoutParameters(text);
    (void)kernelBaseName(text);
    (void)knownKernelName(text);
    require(isUtf8(validUtf8(text)), "What was made UTF-8 is none.");
    require(isUtf8(printable(std::string(text))), "What is printed is no UTF-8.");
}

#ifdef LANESCOPE_HAS_CAPTURE
void readOptions(std::string_view text) {
    agent::AgentOptions options, again;
    agent::readOptionText(text, options);
    // Values without their trigger are read and not written.
    const std::string written = agent::optionText(options);
    agent::readOptionText(written, again);
    require(agent::optionText(again) == written, "Options change by being written and read.");
    agent::WindowOptions windows;
    agent::setRange(text, windows);
    (void)agent::setTriggerRange(text, windows);
    for (const agent::WindowOptions& each : {options.windows, windows})
        require(each.count().value_or(1) > 0, "There are no windows.");
    (void)agent::matchesProgram(options.only, text, text);
}

void readCommandLine(std::string_view text) {
    std::vector<std::string> words;
    for (std::string_view rest = text; !rest.empty();) {
        const size_t end = std::min(rest.find('\0'), rest.size());
        words.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    require(log::maskSecrets(words).size() == words.size(), "Words were lost.");
    (void)capture::shortFunctionName(text);
}
#endif

}  // namespace

void readWords(Bytes bytes) {
    if (bytes.empty()) return;
    const std::string_view text = textOf(bytes.subspan(1));
    switch (bytes[0] % 4) {
        case 0: readNumbers(text); return selectSteps(text);
        case 1: return readNames(text);
#ifdef LANESCOPE_HAS_CAPTURE
        case 2: return readOptions(text);
        case 3: return readCommandLine(text);
#endif
        default: return;
    }
}

}  // namespace lanescope::fuzz
