// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/PmLibrary.h"

#include <utility>

#include "capture/cupti/findCupti.h"
#include "capture/options/AgentOptions.h"
#include "model/format/optionValues.h"

namespace lanescope::capture {

bool PmLibrary::open(const std::vector<std::filesystem::path>& folders, std::string& problem) {
    const std::string other = environment("LANESCOPE_CUDA");
    DynamicLibrary opened(other.empty() ? "libcuda.so.1" : other);
    if (!opened) {
        problem = "There is no NVIDIA driver; no GPU metrics were sampled.";
        return false;
    }
    static_cast<PmDriver&>(*this) = {std::move(opened)};
    driver.stay();
    if (const char* missing = driver.missing()) {
        problem =
            std::string("The NVIDIA driver has no ") + missing + "; no GPU metrics were sampled. Use a newer driver.";
        return false;
    }
    // Returns the name of the first missing function, or null. The library stays loaded.
    const auto use = [this](DynamicLibrary library) {
        static_cast<PmCupti&>(*this) = {std::move(library)};
        cupti.stay();
        return cupti.missing();
    };
    agent::OpenedCupti found = agent::findCupti(environment(agent::cuptiVariable));
    const char* missing = found.handle ? use(std::move(found.handle)) : "";
    if (missing == nullptr) return true;
    std::string searched = found.searched;
    for (const std::filesystem::path& folder : folders) {
        for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
            const std::string path = folder / name;
            searched += (searched.empty() ? "" : ", ") + path;
            DynamicLibrary library(path);
            if (library && use(std::move(library)) == nullptr) return true;
        }
    }
    if (missing != nullptr && *missing != '\0')
        problem = found.path + " has no " + missing + "; no GPU metrics were sampled. Use CUPTI of CUDA 12.6 or newer.";
    else
        problem =
            "No CUPTI library was found; no GPU metrics were sampled. Set LANESCOPE_CUPTI to the path of libcupti.so "
            "(tried " +
            searched + ").";
    return false;
}

std::string PmLibrary::describe(CUptiResult result) const {
    const char* text = nullptr;
    if (resultString != nullptr) resultString(result, &text);
    return std::string(text != nullptr ? text : "CUPTI error") + " (" + std::to_string(result) + ")";
}

}  // namespace lanescope::capture
