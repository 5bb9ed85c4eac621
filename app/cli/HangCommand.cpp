// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "app/cli/Output.h"
#include "capture/watch/HangReport.h"
#include "model/format/files.h"

namespace lanescope::cli {

namespace {

Result<capture::HangReport> readReports(const std::vector<std::string>& folders) {
    std::vector<capture::HangReport> reports;
    for (const std::string& path : folders) {
        const Result<Folder> folder = Folder::openNamed(path);
        if (!folder) return fail(folder.error());
        for (const std::string& name : folder->names()) {
            if (!name.starts_with("hang-") || !name.ends_with(".json")) continue;
            const std::filesystem::path file = folder->path() / name;
            const Result<std::string> text = readRegularFile(file, capture::maxHangJsonBytes);
            if (!text) return fail(text.error());
            Result<capture::HangReport> report = capture::readHangJson(*text, file.string());
            if (!report) return fail(report.error());
            reports.push_back(std::move(*report));
        }
    }
    return capture::joined(reports);
}

Result<int> runHang(const std::vector<std::string>& folders, bool isJson) {
    const Result<capture::HangReport> report = readReports(folders);
    if (!report) return fail(report.error());
    if (report->processes.empty()) {
        printMessage(fmt::format("{}: no hang report. Name an output folder of 'lanescope watch'.", folders.front()));
        return exitNoAnswer;
    }
    const auto printed = printOutput(isJson ? capture::hangJson(*report) : capture::hangText(*report));
    if (!printed) return fail(printed.error());
    return exitOk;
}

}  // namespace

void addHang(CLI::App& app, int& exitStatus) {
    struct Words {
        std::vector<std::string> folders;
        std::string format = "text";
    };
    auto words = std::make_shared<Words>();
    CLI::App* command =
        app.add_subcommand("hang", "Report why a watched job makes no progress: rank, collective, line");
    command->add_option("DIR", words->folders, "Output folders of 'lanescope watch', of one or more hosts")->required();
    addFormat(*command, words->format, {"text", "json"});
    command->footer(
        "Reads the latest hang report of each host.\nExits with 3 if there is none.\n\nExample:\n  lanescope hang "
        "/shared/job");
    command->callback(
        [words, &exitStatus] { exitStatus = statusOf(runHang(words->folders, words->format == "json")); });
}

}  // namespace lanescope::cli
