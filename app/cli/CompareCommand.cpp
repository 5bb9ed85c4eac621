#include "app/cli/CompareCommand.h"

#include <memory>

#include "app/cli/Command.h"
#include "app/cli/Output.h"
#include "app/cli/loadForCommand.h"
#include "model/compare/Comparison.h"
#include "model/export/formatTable.h"

namespace lanescope {

namespace {

struct CompareOptions {
    std::string baseline;
    std::string candidate;
    std::string format = "text";
    std::string align;
    std::string output;
    size_t top = 0;
    bool isTopGiven = false;
};

constexpr size_t defaultTop = 10;

Result<Comparison> compareFiles(const CompareOptions& options, const Trace& baseline,
                                const Trace& candidate) {
    TimeRange baselineRange = baseline.range;
    TimeRange candidateRange = candidate.range;
    if (!options.align.empty()) {
        const Result<AlignedRanges> aligned = alignedRanges(baseline, candidate, options.align);
        if (!aligned) return fail(aligned.error());
        baselineRange = aligned->baseline;
        candidateRange = aligned->candidate;
    }
    return compare(Baseline{baseline, baselineRange}, Candidate{candidate, candidateRange});
}

/// What was compared and what came of it, in sentences.
std::string headOf(const Comparison& comparison) {
    std::string text =
        fmt::format("Baseline   {}\nCandidate  {}\n\n", printable(comparison.baselineTitle),
                    printable(comparison.candidateTitle));
    for (const std::string& line : summaryLines(comparison)) text += line + "\n";
    return comparison.differences.empty() ? text : text + "\n";
}

Result<void> runCompare(const CompareOptions& options) {
    const Result<TableFormat> format = tableFormatFrom(options.format);
    if (!format) return fail(format.error());
    const Result<TracePtr> baseline = loadForCommand(options.baseline);
    if (!baseline) return fail(baseline.error());
    const Result<TracePtr> candidate = loadForCommand(options.candidate);
    if (!candidate) return fail(candidate.error());
    Result<Comparison> comparison = compareFiles(options, **baseline, **candidate);
    if (!comparison) return fail(comparison.error());
    // Programs get every row unless they ask for fewer. The sentences are about all of them.
    const bool isText = *format == TableFormat::Text;
    const std::string head = isText ? headOf(*comparison) : std::string();
    if (options.isTopGiven || isText) {
        const size_t top = options.isTopGiven ? options.top : defaultTop;
        *comparison = largestDifferences(std::move(*comparison), top);
    }

    std::optional<std::filesystem::path> path;
    if (!options.output.empty()) path = options.output;
    Result<Output> output = Output::open(path, {options.baseline, options.candidate});
    if (!output) return fail(output.error());
    const bool hasTable = !isText || !comparison->differences.empty();
    output->write(head + (hasTable ? formatTable(toTable(*comparison), *format) : std::string()));
    const Result<void> closed = output->close();
    reportHealth(**baseline);
    reportHealth(**candidate);
    return closed;
}

}  // namespace

void addCompare(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<CompareOptions>();
    CLI::App* command =
        app.add_subcommand("compare", "Say where a run lost time against another, name by name");
    command->add_option("BASELINE", options->baseline, "The run to compare against")->required();
    command->add_option("CANDIDATE", options->candidate, "The run that is asked about")->required();
    command->add_option("-f,--format", options->format, "text, csv or json")
        ->check(CLI::IsMember({"text", "csv", "json"}))
        ->capture_default_str();
    command->add_option("--align", options->align,
                        "Compare only from the first NVTX range of this name to the last, over as "
                        "many as both runs have; leaves start-up out. A # stands for any number: "
                        "\"step #\" is step 0, step 1 and so on");
    CLI::Option* top = command->add_option(
        "--top", options->top, "Rows of each group, weightiest first (text: 10, else all)");
    top->check([](const std::string& text) {
        const bool isNumber = text.find_first_not_of("0123456789") == std::string::npos;
        const bool isPositive = text.find_first_not_of('0') != std::string::npos;
        return isNumber && isPositive ? std::string()
                                      : fmt::format("\"{}\" is no number of rows above 0", text);
    });
    command->add_option("-o,--output", options->output, "File to write instead of stdout");
    command->footer(
        "Examples:\n"
        "  lanescope compare before.sqlite after.sqlite\n"
        "  lanescope compare before.sqlite after.sqlite --align \"step #\" --top 5\n"
        "  lanescope compare before.sqlite after.sqlite -f csv -o lost.csv");
    command->callback([options, top, &exitStatus] {
        options->isTopGiven = top->count() > 0;
        const Result<void> result = runCompare(*options);
        exitStatus = result ? static_cast<int>(exitOk) : reportFailure(result.error());
    });
}

}  // namespace lanescope
