#include "capture/sample/makePmSampler.h"

namespace lanescope::capture {

std::unique_ptr<Sampler> makePmSampler(SampleLog&, double, int64_t,
                                       std::vector<std::filesystem::path>) {
    return nullptr;
}

}  // namespace lanescope::capture
