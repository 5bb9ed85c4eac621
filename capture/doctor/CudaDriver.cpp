// SPDX-License-Identifier: Apache-2.0
#include "capture/doctor/CudaDriver.h"

namespace lanescope::capture {

Result<std::unique_ptr<CudaDriver>> CudaDriver::open(const char* library) {
    DynamicLibrary opened(library);
    if (!opened) return fail("The CUDA driver is missing ({}). Install it, or start the container with GPUs.", library);
    int (*const initialise)(unsigned) = opened.get("cuInit");
    std::unique_ptr<CudaDriver> driver(new CudaDriver(std::move(opened)));
    if (driver->library_.missing() != nullptr)
        return fail("The CUDA driver {} is too old to measure (no {}).", library, driver->library_.missing());
    if (initialise == nullptr) return fail("{}: not a CUDA driver (no cuInit).", library);
    if (const int code = initialise(0); code != 0)
        return fail("The CUDA driver does not start (cuInit {}). Check nvidia-smi.", code);
    driver->library_.stay();  // it keeps threads of its own
    return driver;
}

}  // namespace lanescope::capture
