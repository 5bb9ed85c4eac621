#include "capture/sample/makePmSampler.h"

namespace lanescope {

std::unique_ptr<Sampler> makePmSampler(SampleLog&, double) {
    return nullptr;
}

}  // namespace lanescope
