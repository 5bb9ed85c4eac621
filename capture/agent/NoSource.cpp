// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/NoSource.h"

#include <utility>

#include "capture/agent/Agent.h"

namespace lanescope::agent {

void NoSource::start() {
    agent_.startThreads();
}

void NoSource::drain(log::RecordWriter& writer) {
    if (!std::exchange(hasSaid_, true)) writer.note(severity_, code_, sentence_);
}

}  // namespace lanescope::agent
