// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <memory>

#include "app/cli/Output.h"
#include "app/cli/commandOptions.h"
#include "app/help/HelpFormatter.h"
#include "model/analysis/StepSelection.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "model/pages/TimelineData.h"
#include "model/reports/reports.h"

namespace lanescope::cli {

namespace {

struct PageOptions {
    std::string file;
    std::string output;
    report::TimelineRequest request;
};

Result<void> writePage(const PageOptions& options) {
    const Result<TracePtr> trace = loadForCommand(options.file);
    if (!trace) return fail(trace.error());
    std::optional<std::filesystem::path> path;
    if (!options.output.empty()) path = options.output;
    Result<Output> output = Output::open(path, {options.file});
    if (!output) return fail(output.error());
    output->emitOnlyWhile([&trace] { return checkIndex(**trace); });
    const Result<std::string> page = report::tracePage(**trace, options.request);
    if (!page) return fail(page.error());
    output->write(*page);
    const Result<void> closed = output->close();
    if (closed) reportTraceWarnings(**trace);
    return closed;
}

}  // namespace

void addPage(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<PageOptions>();
    CLI::App* command = app.add_subcommand("page", "Write a timeline as one HTML file for any browser");
    command->add_option("FILE", options->file, readableFormats())->required();
    CLI::Option* steps =
        command
            ->add_option_function<std::string>(
                "--steps",
                [options](const std::string& text) {
                    if (const auto numbers = parseStepNumbers(text)) options->request.steps = *numbers;
                },
                "Show steps A to B in full, by number: 10-12, or 7 (default: three steps around the largest finding)")
            ->type_name("A-B")
            ->check([](const std::string& text) { return checkText(parseStepNumbers(text)); });
    command
        ->add_option_function<std::string>(
            "--time",
            [options](const std::string& text) {
                if (const auto range = parseRange(text)) options->request.time = *range;
            },
            "Show this time in full: START:END in timeline time, in seconds or with a unit (s, ms, us, ns)")
        ->type_name("START:END")
        ->check([](const std::string& text) { return checkText(parseRange(text)); })
        ->excludes(steps);
    command->add_flag("--anonymous", options->request.isAnonymous, "Omit folders, and names of hosts and users");
    help::acceptOutputPath(command->add_option("-o,--output", options->output, "Output file (default: stdout)"),
                           "FILE");
    command->footer(
        "The page has the whole run coarsely, and a part of it with every slice, flow and gap.\n\nExamples:\n  "
        "lanescope page run.sqlite -o run.html\n  lanescope page run.sqlite --steps 10-12 --anonymous -o run.html");
    command->callback([options, &exitStatus] {
        const Result<void> result = writePage(*options);
        exitStatus = result ? static_cast<int>(exitOk) : reportFailure(result.error());
    });
}

}  // namespace lanescope::cli
