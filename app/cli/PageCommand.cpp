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
    Result<Output> output = Output::open(options.output, {options.file});
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
    CLI::Option* const steps = help::addParsed(
        *command, "--steps", "A-B", parseStepNumbers, options->request.steps,
        "Show steps A to B in full, by number: 10-12, or 7 (default: three steps around the largest finding)");
    help::addParsed(*command, "--time", "START:END", parseRange, options->request.time,
                    "Show this time in full: START:END in timeline time, in seconds or with a unit (s, ms, us, ns)")
        ->excludes(steps);
    command->add_flag("--anonymous", options->request.isAnonymous, "Omit folders, and names of hosts and users");
    addOutputFile(*command, options->output);
    command->footer(
        "The page has the whole run coarsely, and a part of it with every slice, flow and gap.\n\nExamples:\n  "
        "lanescope page run.sqlite -o run.html\n  lanescope page run.sqlite --steps 10-12 --anonymous -o run.html");
    command->callback([options, &exitStatus] { exitStatus = statusOf(writePage(*options)); });
}

}  // namespace lanescope::cli
