// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <system_error>

#include "capture/doctor/diagnose.h"
#include "capture/doctor/probe.h"
#include "capture/machine/DynamicLibrary.h"
#include "model/format/environment.h"

namespace lanescope::capture {

namespace {

constexpr const char* libraryNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"};

/// The folders of Python packages that `python3` would import from; none without Python.
std::vector<std::filesystem::path> pythonFolders() {
    std::vector<std::filesystem::path> folders;
    const std::unique_ptr<FILE, int (*)(FILE*)> python(
        ::popen("python3 -c 'import sys; print(\"\\n\".join(sys.path))' 2>/dev/null", "re"),
        ::pclose);
    if (!python) return folders;
    std::string text;
    char buffer[4096];
    while (const size_t got = std::fread(buffer, 1, sizeof(buffer), python.get()))
        text.append(buffer, got);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) folders.emplace_back(line);
    return folders;
}

/// Where a CUPTI may be, in the order in which programs find theirs.
std::vector<std::filesystem::path> candidates() {
    std::vector<std::filesystem::path> found;
    const auto add = [&](const std::filesystem::path& folder) {
        std::error_code error;
        for (const char* name : libraryNames)
            if (std::filesystem::exists(folder / name, error)) found.push_back(folder / name);
    };
    for (const std::filesystem::path& folder : pythonFolders()) {
        add(folder / "nvidia" / "cu13" / "lib");
        add(folder / "nvidia" / "cuda_cupti" / "lib");
    }
    for (const char* name : libraryNames) found.emplace_back(name);  // The loader's own places.
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const std::string home = environment(variable);
        if (home.empty()) continue;
        add(std::filesystem::path(home) / "extras" / "CUPTI" / "lib64");
        add(std::filesystem::path(home) / "lib64");
    }
    add("/usr/local/cuda/extras/CUPTI/lib64");
    add("/usr/local/cuda/lib64");
    return found;
}

/// "path version" of a library that opens; empty if it does not.
std::string askLibrary(const std::filesystem::path& path) {
    DynamicLibrary library(path);
    if (!library) return {};
    int (*getVersion)(unsigned*) = nullptr;
    unsigned version = 0;
    if (!library.find(getVersion, "cuptiGetVersion") || getVersion(&version) != 0) return {};
    Dl_info info{};
    const bool isKnown = dladdr(reinterpret_cast<void*>(getVersion), &info) != 0;
    return fmt::format("{} (API version {})", isKnown ? info.dli_fname : path.c_str(), version);
}

}  // namespace

Check checkCupti() {
    for (const std::filesystem::path& path : candidates()) {
        const auto answer = probe([&] { return askLibrary(path); });
        if (answer && !answer->empty())
            return {CheckStatus::Ok, "cupti", fmt::format("CUPTI is {}.", *answer), {}};
    }
    return {
        CheckStatus::NoCuda, "cupti",
        "CUPTI (libcupti.so.13, .12 or .11.8) was found neither by the loader nor in CUDA_HOME nor "
        "among Python's packages.",
        "Install it: pip install nvidia-cuda-cupti, or the CUDA toolkit, then set CUDA_HOME."};
}

}  // namespace lanescope::capture
