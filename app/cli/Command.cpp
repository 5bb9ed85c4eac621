#include "app/cli/Command.h"

#include <cstdio>
#include <string>

namespace lanescope {

int reportFailure(const Error& error) {
    // Not fmt::print: it throws where stderr is closed.
    std::fputs(fmt::format("lanescope: {}\n", error.sentence).c_str(), stderr);
    return exitFailed;
}

void reportWarning(std::string_view sentence) {
    std::fputs(fmt::format("lanescope: warning: {}\n", sentence).c_str(), stderr);
}

}  // namespace lanescope
