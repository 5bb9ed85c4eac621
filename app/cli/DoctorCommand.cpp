// SPDX-License-Identifier: Apache-2.0
#include "app/cli/DoctorCommand.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/cli/Command.h"
#include "app/cli/Output.h"
#include "app/cli/measurePeaks.h"
#include "app/help/takes.h"
#include "capture/doctor/diagnose.h"

namespace lanescope::cli {

namespace {

const char* word(capture::CheckStatus status) {
    switch (status) {
        case capture::CheckStatus::Ok:
            return "ok";
        case capture::CheckStatus::Warning:
            return "warn";
        case capture::CheckStatus::NoCuda:
        case capture::CheckStatus::Failure:
            return "fail";
    }
    return "";
}

const char* verdict(capture::CheckStatus gravest) {
    switch (gravest) {
        case capture::CheckStatus::Ok:
        case capture::CheckStatus::Warning:
            return "Recording will work here.";
        case capture::CheckStatus::NoCuda:
            return "CUDA cannot be recorded here; NVTX ranges can.";
        case capture::CheckStatus::Failure:
            return "Recording will not work here.";
    }
    return "";
}

std::string asText(const std::vector<capture::Check>& checks) {
    std::string text;
    for (const capture::Check& check : checks) {
        text += fmt::format("{:<6} {:<12} {}\n", fmt::format("[{}]", word(check.status)),
                            check.subject, check.sentence);
        if (!check.advice.empty()) text += fmt::format("{:<19} {}\n", "", check.advice);
    }
    return text + verdict(capture::gravestOf(checks)) + "\n";
}

std::string asJson(const std::vector<capture::Check>& checks) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const capture::Check& check : checks)
        list.push_back({{"status", word(check.status)},
                        {"subject", check.subject},
                        {"sentence", check.sentence},
                        {"advice", check.advice}});
    const nlohmann::ordered_json all{{"canRecord", capture::canRecord(checks)},
                                     {"checks", std::move(list)}};
    return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

void addDoctor(CLI::App& app, int& exitStatus) {
    struct Words {
        std::string agent;
        std::string format = "text";
        bool measures = false;
        bool isForced = false;
    };
    auto words = std::make_shared<Words>();
    CLI::App* command =
        app.add_subcommand("doctor", "Say whether recording will work here, and what to do if not");
    command->add_option("--agent", words->agent, "The agent to look at instead of ours")
        ->type_name("FILE");
    help::takesOneOf(command->add_option("-f,--format", words->format, "How it is printed"),
                     {"text", "json"})
        ->capture_default_str();
    CLI::Option* const measure = command->add_flag("--measure", words->measures,
                                                   "Measure how fast copies to, from and between "
                                                   "the GPUs can be, and keep it: traces then say "
                                                   "how near to that a run came");
    command->add_flag("--force", words->isForced, "With --measure: GPUs that are busy, too")
        ->needs(measure);
    command->footer(
        "The exit status is 0 if CUDA and NVTX can be recorded, else 1; with --measure 0 if all "
        "GPUs were "
        "measured.");
    command->callback([words, &exitStatus] {
        if (words->measures) {
            exitStatus = measurePeaks(words->isForced, words->format == "json");
            return;
        }
        const std::vector<capture::Check> checks = capture::diagnose(words->agent);
        Result<Output> output = Output::open(std::nullopt, {});
        output->write(words->format == "json" ? asJson(checks) : asText(checks));
        const Result<void> closed = output->close();
        exitStatus = !closed                      ? reportFailure(closed.error())
                     : capture::canRecord(checks) ? exitOk
                                                  : exitFailed;
    });
}

}  // namespace lanescope::cli
