// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/ActivitySource.h"

namespace lanescope::agent {

/// Records no CUDA activity, and says in the log why.
class NoSource final : public ActivitySource {
  public:
    /// `sentence` is a literal.
    NoSource(Agent& agent, Severity severity, HealthCode code, const char* sentence)
        : agent_(agent), severity_(severity), code_(code), sentence_(sentence) {}

    void start() override;
    void prepare() override {}
    void flush(bool) override {}
    void switchOff() override {}
    void collect() override {}
    void drain(log::RecordWriter& writer) override;
    void finish(log::RecordWriter&) override {}

  private:
    Agent& agent_;
    const Severity severity_;
    const HealthCode code_;
    const char* const sentence_;
    bool hasSaid_ = false;
};

}  // namespace lanescope::agent
