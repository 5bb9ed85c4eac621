// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "app/cli/Output.h"
#include "app/cli/RecordArguments.h"
#include "app/cli/recordRun.h"
#include "capture/record/Recorder.h"

namespace lanescope::cli {

namespace {

/// The commands that end with a program to run.
constexpr std::array<std::string_view, 3> commandNames{"record", "bench", "watch"};

int runRecord(const capture::RecordOptions& options, int repeats) {
    if (repeats > 1) return recordRuns(options, repeats);
    const RunEnd end = RecordSupervisor().record(options);
    printProblem(end);
    return end.exitStatus;
}

}  // namespace

void addRecord(CLI::App& app, int& exitStatus) {
    auto arguments = std::make_shared<RecordArguments>();
    CLI::App* command = app.add_subcommand("record", "Run a program and record its GPU activity and its children's");
    arguments->addTo(*command);
    command->footer(
        "The exit status is that of the program, or 128 plus the signal number if a signal ended it.\n\nExamples:\n  "
        "lanescope record -- python train.py --epochs 1\n  lanescope record -o run-%h.sqlite -- torchrun "
        "--nproc-per-node 8 train.py\n  mpirun -n 4 lanescope record -o run.%q{OMPI_COMM_WORLD_RANK}.sqlite -- "
        "./train\n  lanescope record --delay 60 --duration 5 --kill sigterm -- python train.py\n  lanescope record "
        "--steps 10-12 -- python train.py\n  lanescope record --repeat 5 -o runs/main.sqlite -- python train.py");
    command->callback([arguments, &exitStatus] {
        Result<capture::RecordOptions> options = arguments->options();
        if (options) options->closing = closeRecorded(arguments->summaries());
        exitStatus = options ? runRecord(*options, arguments->repeats()) : reportFailure(options.error(), exitUsage);
    });
}

void separateProgram(const CLI::App& app, std::vector<std::string>& words) {
    if (!words.empty() && words.front() == "bisect") {
        if (const auto mark = std::ranges::find(words, "--"); mark != words.end()) words.insert(mark + 1, "---");
        return;
    }
    if (words.empty() || std::ranges::find(commandNames, words.front()) == commandNames.end()) return;
    const CLI::App* command = app.get_subcommand(words.front());
    for (size_t at = 1; at < words.size(); ++at) {
        const std::string& word = words[at];
        if (word == "--") return;
        if (word.size() < 2 || word.front() != '-') {
            words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), "--");
            return;
        }
        const size_t nameLength = word.starts_with("--") ? word.find('=') : 2;
        // Not by `get_option_no_throw`, which ends the program when out of memory.
        const std::string name = word.substr(0, nameLength);
        const auto found = command->get_options([&name](const CLI::Option* each) { return each->check_name(name); });
        const CLI::Option* option = found.empty() ? nullptr : found.front();
        if (option == nullptr)
            throw CLI::ParseError(
                fmt::format("'lanescope {}': unknown option {}. Put options of the program after its name",
                            words.front(), word),
                CLI::ExitCodes::ExtrasError);
        if (word.size() > nameLength) continue;  // The word contains its value.
        if (option->get_items_expected_max() == 0) continue;
        // Its value; the parser would read the mark before the program as the value.
        ++at;
        if (at == words.size() || words[at] == "--")
            throw CLI::ParseError(fmt::format("{} needs a {}", word, option->get_type_name()),
                                  CLI::ExitCodes::ArgumentMismatch);
    }
}

}  // namespace lanescope::cli
