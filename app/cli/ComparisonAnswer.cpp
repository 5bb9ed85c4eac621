// SPDX-License-Identifier: Apache-2.0
#include "app/cli/ComparisonAnswer.h"

#include <algorithm>
#include <filesystem>

#include "app/cli/Output.h"
#include "app/help/HelpFormatter.h"
#include "model/pages/ComparisonReport.h"

namespace lanescope::cli {

std::string_view conditionsHelp() {
    return R"(Conditions of --fail-if:
  WHAT [NAME] [.MEASURE] >|>=|<|<= THRESHOLD, combined with "and"
  step                 p50 (default), p95, mean, min, max, count
  part NAME            time: compute, exposed_communication, idle, copies, ...
  kernel NAME          time (default), exposed, count
  collective NAME      time (default), exposed, count, bytes, bandwidth
  copy KIND            the same; HtoD, DtoH, DtoD, PtoP or "HtoD from pinned"
  memset               time (default), exposed, count, bytes
  range NAME           time of a step inside the NVTX range
  mfu                  share of the peak matrix rate that the steps use
  slower, faster       result of the comparison of the programs; has no threshold and needs
                       several runs per side, or --spread. "slower in PART", "slower in range
                       NAME" (idle time there) and "slower in any" select parts of the step
  Times, counts and bytes are per step; "exposed" is time without overlap.
  Quote names with spaces, dots or <>; * in a name is a wildcard.
  THRESHOLD is a change in percent of the baseline (3% or +3%), a change if it has a sign
  (+2ms, -0.5 GB/s), or else the candidate's own value (70 ms, 40 GB/s, 1000).)";
}

std::string compareHelp() {
    return std::string(conditionsHelp()) + R"(

Exit status:
  0  no condition is met
  1  a condition is met
  2  invalid command line
  3  no result: a file cannot be read, there is nothing to compare, a condition cannot be
     evaluated, or the result cannot be written

Examples:
  lanescope compare before.sqlite after.sqlite
  lanescope compare before.sqlite after.sqlite --range "step #" --steps 5-20 --top 5
  lanescope compare main.sqlite a.sqlite b.sqlite -f html -o report.html
  lanescope compare --baseline main-*.sqlite --candidate pr-*.sqlite --fail-if slower
  lanescope compare before.sqlite after.sqlite --spread lanescope-bench-1
  lanescope compare --history runs today.sqlite --fail-if slower
  lanescope compare main.sqlite pr.sqlite --fail-if 'step.p50 > +3%' \
      --fail-if 'kernel "*flash_fwd*" > +5%' --fail-if 'copy HtoD.bandwidth < 40 GB/s')";
}

using namespace analysis;
using namespace compare;
using namespace report;

namespace {

/// One met condition decides, even if others could not be evaluated.
int statusOf(const ComparisonReport& report) {
    int status = exitOk;
    for (const ComparedCandidate& candidate : report.candidates) {
        if (candidate.comparison.answer.outcome == Outcome::Nothing) status = exitNoAnswer;
        for (const ConditionOutcome& condition : candidate.conditions) {
            if (condition.state == ConditionState::Met) return exitMet;
            if (condition.state == ConditionState::NotComparable) status = exitNoAnswer;
        }
    }
    return status;
}

/// Prints the conditions that decided the exit status if the report itself is not on stdout.
void printConditions(const ComparisonReport& report) {
    for (const ComparedCandidate& candidate : report.candidates) {
        const std::string& title = candidate.summary.facts.title;
        if (candidate.comparison.answer.outcome == Outcome::Nothing)
            printMessage(fmt::format("{}: {}", title, candidate.comparison.answer.sentence));
        for (const ConditionOutcome& condition : candidate.conditions)
            if (condition.state != ConditionState::NotMet)
                printMessage(fmt::format("{}: {}", title, condition.sentence));
    }
}

std::string checkTop(const std::string& text) {
    const bool isNumber = text.find_first_not_of("0123456789") == std::string::npos;
    const bool isPositive = text.find_first_not_of('0') != std::string::npos;
    return isNumber && isPositive ? std::string() : fmt::format("\"{}\" is not a number of rows above 0", text);
}

std::string checkTable(const std::string& name) {
    const std::vector<std::string_view> names = comparisonTableNames();
    if (std::ranges::find(names, name) != names.end()) return {};
    return fmt::format("unknown table \"{}\"; choose from: {}", name, fmt::join(names, ", "));
}

}  // namespace

void ComparisonAnswer::addTo(CLI::App& command) {
    help::addRepeated(command, "--fail-if", "CONDITION", parseCondition, conditionTexts_,
                      "Exit with 1 if this condition holds, for example 'step.p50 > +3%'; repeatable (see below)");
    command.add_flag("--skip-missing", request.isMissingFine,
                     "Skip a condition on a name that no run has, instead of reporting it as not comparable");
    help::addValue(command, "--top", "N", top_, "Rows of each list, most significant first (text: 10, html: 50)")
        ->check(checkTop);
    addFormat(command, format_, {"text", "csv", "json", "html"});
    help::addValue(command, "--table", "TABLE", tables_,
                   fmt::format("With -f csv: print only this table; repeatable. Several tables are combined into "
                               "one; its column Table names the table of each row. Tables: {}",
                               fmt::join(comparisonTableNames(), ", ")))
        ->allow_extra_args(false)
        ->check(checkTable);
}

Result<void> ComparisonAnswer::check() const {
    if (!tables_.empty() && format_ != "csv")
        return fail("--table: selects tables of CSV output. Add -f csv, or remove --table. See --help.");
    return {};
}

int ComparisonAnswer::compareAndPrint(const std::string& output) {
    for (const std::string& text : conditionTexts_) {
        Result<Condition> condition = parseCondition(text);
        // Invalid ones were rejected before.
        if (condition) request.conditions.push_back(std::move(*condition));
    }
    const Result<int> status = print(output);
    return status ? *status : reportFailure(status.error(), exitNoAnswer);
}

Result<std::string> ComparisonAnswer::formatted(const ComparisonReport& report) const {
    if (format_ == "csv") return comparisonAsCsv(report, tables_);
    if (format_ == "json") return comparisonAsJson(report);
    if (format_ == "html") return comparisonPage(report, loadForCommand);
    return comparisonAsText(report);
}

Result<int> ComparisonAnswer::print(const std::string& output) const {
    std::vector<std::filesystem::path> inputs;
    for (const std::string& file : request.comparedFiles()) inputs.emplace_back(file);
    for (const std::string& file : request.earlier) inputs.emplace_back(file);
    // Opened first: an unwritable output must fail before the comparison.
    Result<Output> opened = Output::open(output, inputs);
    if (!opened) return fail(opened.error());
    Result<ComparisonReport> report = makeComparison(request, loadForCommand);
    if (!report) return fail(report.error());
    report->lineWidth = opened->lineWidth();
    report->top = top_ > 0 ? top_ : format_ == "html" ? defaultHtmlTop : defaultTextTop;
    const Result<std::string> text = formatted(*report);
    if (!text) return fail(text.error());
    opened->write(*text);
    if (const Result<void> closed = opened->close(); !closed) return fail(closed.error());
    if (!output.empty() || format_ != "text") printConditions(*report);
    return statusOf(*report);
}

}  // namespace lanescope::cli
