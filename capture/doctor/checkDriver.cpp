// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "capture/doctor/diagnose.h"
#include "capture/doctor/probe.h"
#include "capture/machine/DynamicLibrary.h"

namespace lanescope::capture {

namespace {

// What the probe answers, besides a version.
constexpr const char* noLibrary = "none";
constexpr const char* failedPrefix = "failed ";

std::string askDriver() {
    DynamicLibrary library("libcuda.so.1");
    if (!library) return noLibrary;
    int (*initialise)(unsigned) = nullptr;
    int (*version)(int*) = nullptr;
    library.need(initialise, "cuInit");
    library.need(version, "cuDriverGetVersion");
    if (library.missing() != nullptr) return noLibrary;
    library.stay();  // it keeps threads of its own
    if (const int code = initialise(0); code != 0) return fmt::format("{}{}", failedPrefix, code);
    int number = 0;
    version(&number);
    return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

}  // namespace

Check checkDriver() {
    const std::optional<std::string> answer = probe(askDriver);
    if (!answer)
        return {CheckStatus::NoCuda, "driver", "The CUDA driver crashed or did not answer in time.",
                "See whether nvidia-smi works."};
    if (*answer == noLibrary)
        return {CheckStatus::NoCuda, "driver", "There is no CUDA driver (libcuda.so.1).",
                "Install it; in a container, start that with the GPUs (--gpus all)."};
    if (answer->rfind(failedPrefix, 0) == 0)
        return {CheckStatus::NoCuda, "driver",
                fmt::format("The CUDA driver does not start: cuInit {}.", *answer),
                "See whether nvidia-smi works and CUDA_VISIBLE_DEVICES names a GPU."};
    return {CheckStatus::Ok, "driver", fmt::format("The driver knows CUDA {}.", *answer), {}};
}

}  // namespace lanescope::capture
