// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <fmt/format.h>

#include <memory>

#include "app/cli/Output.h"
#include "app/cli/recordRun.h"
#include "app/help/HelpFormatter.h"
#include "capture/record/RunFolder.h"

namespace lanescope::cli {

namespace {

int runRecover(const capture::RecoverOptions& options) {
    const Result<capture::CollectedRun> run = capture::recover(options);
    if (!run) return reportFailure(run.error());
    printContent(*run);
    reportWarnings(*run);
    printMessage(fmt::format("{} is kept. Remove it once you do not need it.", options.runFolder.string()));
    return exitOk;
}

}  // namespace

void addRecover(CLI::App& app, int& exitStatus) {
    struct Words {
        std::string folder, output;
        bool overwrite = false;
    };
    auto words = std::make_shared<Words>();
    CLI::App* command = app.add_subcommand("recover", "Rebuild a trace from the logs of an interrupted recording");
    command->add_option("DIR", words->folder, "Folder with the logs, .<trace>.run")->required();
    help::addOutputPath(*command, "-o,--output", "FILE", words->output, "Output trace (default: the original name)");
    command->add_flag("--force", words->overwrite, "Overwrite the trace if it exists");
    command->footer(
        "Also reads truncated logs. The folder is not changed.\n\n"
        "Example:\n"
        "  lanescope recover .job.sqlite.run");
    command->callback([words, &exitStatus] {
        exitStatus = runRecover({words->folder, words->output, words->overwrite, closeRecorded()});
    });
}

}  // namespace lanescope::cli
