// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include <csignal>
#include <system_error>

#include "model/system/process.h"

namespace lanescope::system {

bool openPipe(std::array<int, 2>& ends) {
    return ::pipe2(ends.data(), O_CLOEXEC) == 0;
}

void endWithParent() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

std::filesystem::path ownProgram() {
    std::error_code error;
    std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return {};
    return program;
}

std::optional<uint64_t> drawNumber() {
    uint64_t number = 0;
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) return std::nullopt;
    return number;
}

}  // namespace lanescope::system
