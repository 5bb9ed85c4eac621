// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <memory>

#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "model/remote/TraceServer.h"

namespace lanescope::cli {

void addServe(CLI::App& app, int& exitStatus) {
    struct ServeOptions {
        std::vector<std::string> files;
        bool isOnPipes = false;
    };
    auto options = std::make_shared<ServeOptions>();
    CLI::App* command = app.add_subcommand("serve", "Serve traces to a viewer on another machine");
    command->add_option("FILE", options->files, "Traces that may be read")->required();
    command->add_flag("--stdio", options->isOnPipes, "Read requests from stdin and write answers to stdout")
        ->required();
    command->footer(
        "The viewer starts this program by ssh for an address such as ssh://host/data/run.sqlite. It opens no port, "
        "and ends with its input.");
    command->callback([options, &exitStatus] {
        if (::isatty(STDIN_FILENO) != 0 || ::isatty(STDOUT_FILENO) != 0) {
            exitStatus =
                reportFailure({"--stdio: a viewer must be at the other end. Open ssh://host/path in "
                               "lanescope-viewer."});
            return;
        }
        ::signal(SIGPIPE, SIG_IGN);
        serveTraces({options->files.begin(), options->files.end()}, STDIN_FILENO, STDOUT_FILENO);
    });
}

}  // namespace lanescope::cli
