// SPDX-License-Identifier: Apache-2.0
#include "app/cli/InfoCommand.h"

#include <memory>

#include "app/cli/Command.h"
#include "app/cli/Output.h"
#include "app/cli/loadForCommand.h"
#include "app/cli/topologyInfo.h"
#include "app/cli/traceInfo.h"
#include "app/help/takes.h"
#include "model/index/openTrace.h"
#include "model/load/TraceFormat.h"

namespace lanescope::cli {

namespace {

struct InfoOptions {
    std::string file;
    std::string format = "text";
    bool isTopology = false;
};

Result<void> runInfo(const InfoOptions& options) {
    const Result<TracePtr> trace = loadForCommand(options.file);
    if (!trace) return fail(trace.error());
    Result<Output> output = Output::open(std::nullopt, {});
    if (!output) return fail(output.error());
    output->giveOutOnly([&trace] { return checkIndex(**trace); });
    const bool isJson = options.format == "json";
    const std::string text = options.isTopology
                                 ? (isJson ? topologyAsJson(**trace) : topologyAsText(**trace))
                                 : (isJson ? infoAsJson(**trace) : infoAsText(**trace));
    output->write(text);
    return output->close();
}

}  // namespace

void addInfo(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<InfoOptions>();
    CLI::App* command =
        app.add_subcommand("info", "Print what a trace holds: host, processes, GPUs, health");
    command->add_option("FILE", options->file, readableFormats())->required();
    help::takesOneOf(command->add_option("-f,--format", options->format, "How it is printed"),
                     {"text", "json"})
        ->capture_default_str();
    command->add_flag(
        "--topology", options->isTopology,
        "How the GPUs are joined, whether NVLink was used, and what was copied over each "
        "link");
    command->footer(
        "Examples:\n"
        "  lanescope info run.sqlite\n"
        "  lanescope info run.sqlite --topology\n"
        "  lanescope info run.sqlite --format json");
    command->callback([options, &exitStatus] {
        const Result<void> result = runInfo(*options);
        exitStatus = result ? static_cast<int>(exitOk) : reportFailure(result.error());
    });
}

}  // namespace lanescope::cli
