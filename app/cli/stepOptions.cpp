// SPDX-License-Identifier: Apache-2.0
#include "app/cli/stepOptions.h"

namespace lanescope::cli {

void addStepRange(CLI::App& command, CompareSelection& selection) {
    command
        .add_option("--range", selection.range,
                    "NVTX ranges that are the steps; # stands for any number: \"step #\" "
                    "(default: found)")
        ->type_name("NAME");
}

void addStepOptions(CLI::App& command, CompareSelection& selection) {
    addStepRange(command, selection);
    command
        .add_option_function<std::string>(
            "--steps",
            [&selection](const std::string& text) {
                const Result<StepRange> numbers = parseStepNumbers(text);
                if (numbers) selection.numbers = *numbers;
            },
            "Only steps A to B of each run, counted from 0: 5-20, or 7 alone")
        ->type_name("A-B")
        ->check([](const std::string& text) { return checkText(parseStepNumbers(text)); });
}

}  // namespace lanescope::cli
