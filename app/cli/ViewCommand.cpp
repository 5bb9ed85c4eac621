// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "app/cli/Output.h"
#include "app/cli/WebDoor.h"
#include "app/cli/commandOptions.h"
#include "app/help/HelpFormatter.h"
#include "model/format/Subprocess.h"
#include "model/index/openTrace.h"
#include "model/pages/TimelineData.h"
#include "model/system/system.h"

namespace lanescope::cli {

namespace {

constexpr const char* viewerName = "lanescope-viewer";

struct ViewOptions {
    std::vector<std::string> files;
    bool isMerged = false;
    MergeArguments merge;
    bool isForBrowser = false;
    std::string address = "127.0.0.1";
    uint16_t port = 0;
};

/// Returns the files for the viewer: one merged trace of several files if requested, or for a folder.
Result<std::vector<std::string>> filesToOpen(const ViewOptions& options) {
    const bool isFolder = std::any_of(options.files.begin(), options.files.end(), [](const std::string& file) {
        std::error_code ignored;
        return std::filesystem::is_directory(file, ignored);
    });
    const bool isCut = !options.merge.cut.isWhole();
    if (!options.isMerged && !isFolder && !isCut) return options.files;
    if (isCut && options.files.empty()) return fail("--ranks and --steps: need traces. Name them, or their folder.");
    const auto files = filesToRead(options.files);
    if (!files) return fail(files.error());
    if (files->size() == 1 && !isCut) return std::vector{files->front().string()};
    const Result<std::filesystem::path> merged = mergeForCommand(*files, options.merge);
    if (!merged) return fail(merged.error());
    return std::vector{merged->string()};
}

/// Answers a browser until this process is ended.
Result<void> serveBrowser(const ViewOptions& options) {
    const auto files = filesToOpen(options);
    if (!files) return fail(files.error());
    if (files->size() != 1) return fail("--web: shows one trace. Name one.");
    Result<WebDoor> door = WebDoor::open(options.address, options.port);
    if (!door) return fail(door.error());
    const Result<TracePtr> trace = loadForCommand(files->front());
    if (!trace) return fail(trace.error());
    reportTraceWarnings(**trace);
    auto printed = printOutput(
        fmt::format("{0}\nOpen this address in a browser here. For a browser on another machine, run there: ssh "
                    "-L {1}:{2}:{1} HOST\n",
                    door->url(), door->port(), door->address()));
    if (!printed) return printed;
    door->serve([&trace](const report::TimelineRequest& request) -> Result<std::string> {
        Result<std::string> page = report::tracePage(**trace, request);
        if (const Result<void> sound = checkIndex(**trace); !sound) return fail(sound.error());
        return page;
    });
    return {};
}

/// Replaces this process by the viewer, which compares two files; returns only if that fails.
Error becomeViewer(const std::vector<std::string>& files) {
    std::vector<char*> arguments{const_cast<char*>(viewerName)};
    if (files.size() == 2) arguments.push_back(const_cast<char*>("--compare"));
    for (const std::string& file : files) arguments.push_back(const_cast<char*>(file.c_str()));
    arguments.push_back(nullptr);

    // The viewer of the same build is installed next to this program; it is tried first.
    const std::filesystem::path self = system::ownProgram();
    if (!self.empty()) ::execv((self.parent_path() / viewerName).c_str(), arguments.data());
    const std::filesystem::path found = findProgram(viewerName);
    if (!found.empty()) ::execv(found.c_str(), arguments.data());
    if (found.empty())
        return {
            fmt::format("{0}: not found next to this program or in PATH. Install the package {0} of the same release "
                        "on the machine with your screen, and copy the trace to it.",
                        viewerName)};
    return {fmt::format("Cannot start {}: {}.", viewerName, std::strerror(errno))};
}

}  // namespace

void addView(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<ViewOptions>();
    CLI::App* command = app.add_subcommand("view", "Open traces in the viewer");
    command->add_option("FILE", options->files,
                        "Traces to open; two are compared side by side, those of a folder are merged");
    command->add_flag("--merge", options->isMerged, "The traces belong to ranks of one job: merge them");
    addMergeOptions(*command, options->merge);
    CLI::Option* web = command->add_flag("--web", options->isForBrowser,
                                         "Show one trace in a browser, at an address with a secret; Ctrl+C ends it");
    command->add_option("--address", options->address, "IP address of this machine for --web")
        ->type_name("IP")
        ->needs(web)
        ->capture_default_str();
    help::acceptNumber(command->add_option("--port", options->port, "Port for --web (default: any free one)"), "N", 0,
                       UINT16_MAX)
        ->needs(web)
        ->default_str("");
    command->footer(
        "Examples:\n  lanescope view run.sqlite\n  lanescope view before.sqlite after.sqlite\n  lanescope view --merge "
        "rank0.json.gz rank1.json.gz\n  lanescope view --merge traces/ --ranks 0,17,517 --steps 120-124\n  lanescope "
        "view fleet.sqlite\n  lanescope view --web run.sqlite");
    command->callback([options, &exitStatus] {
        const auto openViewer = [&] {
            const auto files = filesToOpen(*options);
            return reportFailure(files ? becomeViewer(*files) : files.error());
        };
        exitStatus = options->isForBrowser ? statusOf(serveBrowser(*options)) : openViewer();
    });
}

}  // namespace lanescope::cli
