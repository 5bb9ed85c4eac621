#include "capture/sample/makePmSampler.h"

namespace lanescope {

std::unique_ptr<Sampler> makePmSampler(SampleLog&, double, int64_t) {
    return nullptr;
}

}  // namespace lanescope
