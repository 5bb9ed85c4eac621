#include "capture/agent/NoSource.h"

#include <utility>

#include "capture/agent/Agent.h"

namespace lanescope {

void NoSource::start() {
    agent_.startThreads();
}

void NoSource::drain(RecordWriter& writer) {
    if (!std::exchange(hasSaid_, true)) writer.note(severity_, code_, sentence_);
}

}  // namespace lanescope
