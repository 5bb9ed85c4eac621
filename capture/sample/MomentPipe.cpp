#include "capture/sample/MomentPipe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "capture/log/MomentMessage.h"

namespace lanescope {

MomentPipe::MomentPipe(const std::filesystem::path& runFolder) {
    // Also for writing, so that it does not end when the last process closes it.
    descriptor_ =
        ::open((runFolder / momentPipeName).c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    struct stat status {};
    if (descriptor_ >= 0 && (::fstat(descriptor_, &status) != 0 || !S_ISFIFO(status.st_mode))) {
        ::close(descriptor_);
        descriptor_ = -1;
    }
}

MomentPipe::~MomentPipe() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

bool MomentPipe::take(SampleLog& log) {
    bool isAny = false;
    MomentMessage message{};
    while (::read(descriptor_, &message, sizeof message) == sizeof message) {
        isAny = true;
        log::SamplingMomentRecord record{};
        record.timestampNs = message.timestampNs;
        record.occurrence = message.occurrence;
        record.processId = message.processId;
        record.isEnd = message.isEnd != 0 ? 1 : 0;
        log.write(record, {message.name, std::min<size_t>(message.nameBytes, sizeof message.name)});
    }
    return isAny;
}

}  // namespace lanescope
