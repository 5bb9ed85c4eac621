// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/MomentPipe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>

namespace lanescope::capture {

namespace {

constexpr size_t mostAtOnce = 4096;

}  // namespace

MomentPipe::MomentPipe(const std::filesystem::path& runFolder) {
    // Also for writing, so that it does not end when the last process closes it.
    descriptor_ = ::open((runFolder / log::momentPipeName).c_str(),
                         O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    struct stat status {};
    if (descriptor_ >= 0 && (::fstat(descriptor_, &status) != 0 || !S_ISFIFO(status.st_mode))) {
        ::close(descriptor_);
        descriptor_ = -1;
    }
}

MomentPipe::~MomentPipe() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void MomentPipe::take(std::vector<log::MomentMessage>& moments) {
    log::MomentMessage message{};
    while (moments.size() < mostAtOnce &&
           ::read(descriptor_, &message, sizeof message) == sizeof message)
        moments.push_back(message);
}

}  // namespace lanescope::capture
