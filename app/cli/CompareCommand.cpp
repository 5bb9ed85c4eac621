// SPDX-License-Identifier: Apache-2.0
#include "app/cli/CompareCommand.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/cli/Command.h"
#include "app/cli/Output.h"
#include "app/cli/compareHelp.h"
#include "app/cli/loadForCommand.h"
#include "app/help/takes.h"
#include "model/export/comparison/ComparisonReport.h"
#include "model/requests/makeComparison.h"
#include "model/values/formatValue.h"

namespace lanescope::cli {

using namespace compare;
using namespace gate;
using namespace report;

namespace {

/// What the exit status of `compare` means, beside `exitOk` and `exitUsage`.
enum CompareStatus : int { exitMet = 1, exitNotComparable = 3 };

struct CompareOptions {
    std::string baseline;                                  ///< By place; one run a side.
    std::vector<std::string> candidates;                   ///< By place, each a program of its own.
    std::vector<std::string> baselineRuns, candidateRuns;  ///< By option, instead.
    std::string format = "text";
    std::string output;
    ComparisonRequest request;
    std::vector<std::string> conditionTexts;
    std::vector<std::string> tables;
    size_t top = 0;
    bool isTopGiven = false;
};

/// Names the runs of both sides, which stand by place or by option, not both.
Result<void> nameRuns(CompareOptions& options) {
    const bool areByOption = !options.baselineRuns.empty() || !options.candidateRuns.empty();
    if (areByOption && !options.baseline.empty())
        return fail(
            "Name the runs either as BASELINE CANDIDATE... or by --baseline and "
            "--candidate, not both; --help tells more.");
    if (areByOption && (options.baselineRuns.empty() || options.candidateRuns.empty()))
        return fail(
            "--baseline and --candidate go together: name the runs of both sides; --help tells "
            "more.");
    if (!areByOption && options.candidates.empty() && !options.request.earlier.empty())
        return fail(
            "--spread took every file behind it for an earlier run: name the two that are compared "
            "before it, BASELINE CANDIDATE --spread EARLIER EARLIER; --help tells more.");
    if (!areByOption && options.candidates.empty())
        return fail(
            "Name two runs, BASELINE and CANDIDATE, or several a side by --baseline and "
            "--candidate; --help tells more.");
    if (!options.tables.empty() && options.format != "csv")
        return fail(
            "--table chooses among the tables of CSV: add -f csv, or leave it away; --help tells "
            "more.");
    if (areByOption) {
        options.request.baseline = options.baselineRuns;
        options.request.candidates = {options.candidateRuns};
    } else {
        options.request.baseline = {options.baseline};
        for (const std::string& file : options.candidates)
            options.request.candidates.push_back({file});
    }
    return checkFiles(options.request);
}

/// One met condition decides, whatever else could not be compared.
int statusOf(const ComparisonReport& report) {
    int status = exitOk;
    for (const ComparedCandidate& candidate : report.candidates) {
        if (candidate.comparison.answer.outcome == Outcome::Nothing) status = exitNotComparable;
        for (const ConditionOutcome& condition : candidate.conditions) {
            if (condition.state == ConditionState::Met) return exitMet;
            if (condition.state == ConditionState::NotComparable) status = exitNotComparable;
        }
    }
    return status;
}

/// Says what decided the exit status, where the report itself went elsewhere.
void sayConditions(const ComparisonReport& report) {
    for (const ComparedCandidate& candidate : report.candidates) {
        const std::string title = printable(candidate.summary.facts.title);
        if (candidate.comparison.answer.outcome == Outcome::Nothing)
            say(fmt::format("{}: {}", title, candidate.comparison.answer.sentence));
        for (const ConditionOutcome& condition : candidate.conditions)
            if (condition.state != ConditionState::NotMet)
                say(fmt::format("{}: {}", title, condition.sentence));
    }
}

Result<std::string> formatted(const ComparisonReport& report, const CompareOptions& options) {
    if (options.format == "csv") return comparisonAsCsv(report, options.tables);
    if (options.format == "json") return comparisonAsJson(report);
    if (options.format == "html") return comparisonAsHtml(report);
    return comparisonAsText(report);
}

/// The exit status, or why there is no answer.
Result<int> runCompare(const CompareOptions& options) {
    std::vector<std::filesystem::path> inputs;
    for (const std::string& file : options.request.comparedFiles()) inputs.emplace_back(file);
    for (const std::string& file : options.request.earlier) inputs.emplace_back(file);
    std::optional<std::filesystem::path> path;
    if (!options.output.empty()) path = options.output;
    // Opened first: nobody waits for a comparison that cannot be written.
    Result<Output> output = Output::open(path, inputs);
    if (!output) return fail(output.error());
    Result<ComparisonReport> report = makeComparison(options.request, loadForCommand);
    if (!report) return fail(report.error());
    report->top = options.isTopGiven         ? options.top
                  : options.format == "html" ? defaultHtmlTop
                                             : defaultTextTop;
    const Result<std::string> text = formatted(*report, options);
    if (!text) return fail(text.error());
    output->write(*text);
    const Result<void> closed = output->close();
    if (!closed) return fail(closed.error());
    if (path || options.format != "text") sayConditions(*report);
    return statusOf(*report);
}

int runAndReport(CompareOptions& options) {
    for (const std::string& text : options.conditionTexts) {
        Result<Condition> condition = parseCondition(text);
        // The others were refused.
        if (condition) options.request.conditions.push_back(std::move(*condition));
    }
    const Result<void> named = nameRuns(options);
    if (!named) {
        reportFailure(named.error());
        return exitUsage;
    }
    const Result<int> status = runCompare(options);
    if (status) return *status;
    reportFailure(status.error());
    return exitNotComparable;
}

/// What CLI11 shows of an error: a sentence without its full stop, to which the caller adds one.
template <class T>
std::string checkText(const Result<T>& result) {
    return result ? std::string() : result.error().sentence;
}

std::string checkTop(const std::string& text) {
    const bool isNumber = text.find_first_not_of("0123456789") == std::string::npos;
    const bool isPositive = text.find_first_not_of('0') != std::string::npos;
    return isNumber && isPositive ? std::string()
                                  : fmt::format("\"{}\" is no number of rows above 0", text);
}

std::string checkTable(const std::string& name) {
    const std::vector<std::string_view> names = comparisonTableNames();
    if (std::find(names.begin(), names.end(), name) != names.end()) return {};
    return fmt::format("There is no table \"{}\"; there are: {}", name, fmt::join(names, ", "));
}

void addSelectionOptions(CLI::App& command, const std::shared_ptr<CompareOptions>& options) {
    command
        .add_option("--range", options->request.selection.range,
                    "NVTX ranges that are the steps; # stands for any number: \"step #\" "
                    "(default: found)")
        ->type_name("NAME");
    command
        .add_option_function<std::string>(
            "--steps",
            [options](const std::string& text) {
                const Result<StepRange> numbers = parseStepNumbers(text);
                if (numbers) options->request.selection.numbers = *numbers;
            },
            "Only steps A to B of each run, counted from 0: 5-20, or 7 alone")
        ->type_name("A-B")
        ->check([](const std::string& text) { return checkText(parseStepNumbers(text)); });
    command
        .add_option_function<std::string>(
            "--align",
            [options](const std::string& text) {
                (void)parseAlignment(text, options->request.selection);  // checked before
            },
            "Where each run begins. step: with the first step after warm-up (default); start: "
            "with its very first; RANGE or RANGE#K: with the first step from the K-th NVTX "
            "range of that name on, where --steps then counts from")
        ->type_name("WHERE")
        ->check([](const std::string& text) {
            CompareSelection ignored;
            return checkText(parseAlignment(text, ignored));
        });
}

void addGateOptions(CLI::App& command, const std::shared_ptr<CompareOptions>& options) {
    command
        .add_option("--fail-if", options->conditionTexts,
                    "Exit with 1 if this holds, such as 'step.p50 > +3%'; may be given many "
                    "times (see below)")
        ->type_name("CONDITION")
        ->allow_extra_args(false)
        ->check([](const std::string& text) { return checkText(parseCondition(text)); });
    command.add_flag(
        "--skip-missing", options->request.isMissingFine,
        "A condition on a name that no run has is skipped, rather than not comparable");
}

}  // namespace

void addCompare(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<CompareOptions>();
    CLI::App* command =
        app.add_subcommand("compare", "Say whether runs are slower than another, and why");
    command->add_option("BASELINE", options->baseline, "The run to compare against");
    command->add_option("CANDIDATE", options->candidates,
                        "The run that is asked about, or several, each of another program");
    command
        ->add_option("--baseline", options->baselineRuns,
                     "Several runs of the program to compare against; needs --candidate")
        ->type_name("TRACE");
    command
        ->add_option("--candidate", options->candidateRuns,
                     "Several runs of the program that is asked about; needs --baseline")
        ->type_name("TRACE");
    command
        ->add_option("--spread", options->request.earlier,
                     "Earlier runs of one of the programs, at least two: how much its runs "
                     "differ from each other; stands behind the runs that are compared")
        ->type_name("TRACE");
    addSelectionOptions(*command, options);
    addGateOptions(*command, options);
    CLI::Option* top = command->add_option(
        "--top", options->top, "Rows of each list, weightiest first (text: 10, html: 50)");
    top->type_name("N")->check(checkTop);
    help::takesOneOf(command->add_option("-f,--format", options->format, "How it is printed"),
                     {"text", "csv", "json", "html"})
        ->capture_default_str();
    command
        ->add_option(
            "--table", options->tables,
            fmt::format("With -f csv: only this table; may be given many times. Of several, or "
                        "without it of all, the rows stand in one, under a column Table. "
                        "Tables: {}",
                        fmt::join(comparisonTableNames(), ", ")))
        ->type_name("TABLE")
        ->allow_extra_args(false)
        ->check(checkTable);
    command->add_option("-o,--output", options->output, "File to write instead of stdout")
        ->type_name("FILE");
    command->footer(std::string(compareHelp()));
    command->callback([options, top, &exitStatus] {
        options->isTopGiven = top->count() > 0;
        exitStatus = runAndReport(*options);
    });
}

}  // namespace lanescope::cli
