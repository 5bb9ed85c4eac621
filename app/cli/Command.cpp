// SPDX-License-Identifier: Apache-2.0
#include "app/cli/Command.h"

#include <cstdio>
#include <string>

#include "model/values/formatValue.h"

namespace lanescope::cli {

void say(std::string_view sentence) {
    // Not fmt::print: it throws where stderr is closed.
    std::fputs(fmt::format("lanescope: {}\n", printable(sentence)).c_str(), stderr);
}

int reportFailure(const Error& error) {
    say(error.sentence);
    return exitFailed;
}

int sayOutOfMemory() {
    std::fputs("lanescope: No memory is left.\n", stderr);
    return exitFailed;
}

void reportWarning(std::string_view sentence) {
    say(fmt::format("warning: {}", sentence));
}

}  // namespace lanescope::cli
