// The activity source of an agent that was built without CUPTI's headers.

#include "capture/agent/ActivitySource.h"
#include "capture/agent/Agent.h"

namespace lanescope {

namespace {

class WithoutCupti final : public ActivitySource {
  public:
    explicit WithoutCupti(Agent& agent) : agent_(agent) {}
    void start() override { agent_.startThreads(); }
    void prepare() override {}
    void flush(bool) override {}
    void drain(RecordWriter& writer) override {
        if (hasSaid_) return;
        hasSaid_ = true;
        writer.note(
            log::NoteSeverity::Warning, "no-cupti",
            "This agent was built without CUPTI, so no CUDA activity was recorded; build it "
            "with CUPTI's headers to record kernels and copies.");
    }

  private:
    Agent& agent_;
    bool hasSaid_ = false;
};

}  // namespace

std::unique_ptr<ActivitySource> makeActivitySource(const AgentOptions&, Agent& agent) {
    return std::make_unique<WithoutCupti>(agent);
}

}  // namespace lanescope
