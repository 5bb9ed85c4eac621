#pragma once

#include "capture/agent/ActivitySource.h"

namespace lanescope {

/// Records no CUDA activity, and says in the log why.
class NoSource final : public ActivitySource {
  public:
    /// `code` and `sentence` are literals.
    NoSource(Agent& agent, log::NoteSeverity severity, const char* code, const char* sentence)
        : agent_(agent), severity_(severity), code_(code), sentence_(sentence) {}

    void start() override;
    void prepare() override {}
    void flush(bool) override {}
    void switchOff() override {}
    void collect() override {}
    void drain(RecordWriter& writer) override;
    void finish(RecordWriter&) override {}

  private:
    Agent& agent_;
    const log::NoteSeverity severity_;
    const char* const code_;
    const char* const sentence_;
    bool hasSaid_ = false;
};

}  // namespace lanescope
