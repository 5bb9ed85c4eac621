#include "app/cli/Command.h"

#include <fmt/format.h>

#include <cstdio>

namespace lanescope {

int reportFailure(const Error& error) {
    fmt::print(stderr, "lanescope: {}\n", error.sentence);
    return exitFailed;
}

void reportWarning(std::string_view sentence) {
    fmt::print(stderr, "lanescope: warning: {}\n", sentence);
}

}  // namespace lanescope
