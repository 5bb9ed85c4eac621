// SPDX-License-Identifier: Apache-2.0
#include "app/cli/ViewCommand.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "app/cli/Command.h"
#include "model/system/process.h"

namespace lanescope::cli {

namespace {

constexpr const char* viewerName = "lanescope-viewer";

/// Becomes the viewer, which compares if there are two files; returns only if that fails.
Error becomeViewer(const std::vector<std::string>& files) {
    std::vector<char*> arguments{const_cast<char*>(viewerName)};
    if (files.size() == 2) arguments.push_back(const_cast<char*>("--compare"));
    for (const std::string& file : files) arguments.push_back(const_cast<char*>(file.c_str()));
    arguments.push_back(nullptr);

    // The viewer of the same build stands beside this program; that one first.
    const std::filesystem::path self = system::ownProgram();
    if (!self.empty()) ::execv((self.parent_path() / viewerName).c_str(), arguments.data());
    ::execvp(viewerName, arguments.data());
    if (errno == ENOENT)
        return {fmt::format(
            "There is no {0} beside this program or in PATH: it is a package of its own, "
            "for the machine with your screen. Install {0} of the same release there "
            "and copy the trace to it.",
            viewerName)};
    return {fmt::format("Cannot start {}: {}.", viewerName, std::strerror(errno))};
}

}  // namespace

void addView(CLI::App& app, int& exitStatus) {
    auto files = std::make_shared<std::vector<std::string>>();
    CLI::App* command = app.add_subcommand("view", "Open traces in the viewer");
    command->add_option("FILE", *files, "Traces to open; two are compared side by side");
    command->footer(
        "Examples:\n"
        "  lanescope view run.sqlite\n"
        "  lanescope view before.sqlite after.sqlite");
    command->callback([files, &exitStatus] { exitStatus = reportFailure(becomeViewer(*files)); });
}

}  // namespace lanescope::cli
