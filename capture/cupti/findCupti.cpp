// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/findCupti.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "model/format/optionValues.h"

namespace lanescope::agent {

namespace {

/// Returns the paths of shared objects mapped into this process whose file name begins with `prefix`.
std::vector<std::string> mappedLibraries(std::string_view prefix) {
    std::vector<std::string> found;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        const size_t slash = line.find('/');
        if (slash == std::string::npos) continue;
        const std::string path = line.substr(slash);
        const size_t nameAt = path.rfind('/') + 1;
        if (path.compare(nameAt, prefix.size(), prefix) != 0) continue;
        if (found.empty() || found.back() != path) found.push_back(path);
    }
    return found;
}

/// Returns the file names of CUPTI: first that of the CUDA major version in use, then newest first.
std::vector<std::string> cuptiNames() {
    std::vector<std::string> names{"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"};
    const std::pair<std::string_view, size_t> runtimes[] = {{"libcudart.so.12", 1}, {"libcudart.so.11", 2}};
    for (const auto& [runtime, at] : runtimes) {
        const auto own = names.begin() + static_cast<std::ptrdiff_t>(at);
        if (!mappedLibraries(runtime).empty()) std::rotate(names.begin(), own, own + 1);
    }
    return names;
}

std::string folderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

OpenedCupti findCupti(const std::string& overridePath) {
    OpenedCupti result;
    const std::vector<std::string> names = cuptiNames();
    const auto tryOpen = [&](const std::string& path, int flags) {
        if (result.handle) return;
        result.handle = capture::DynamicLibrary(path, flags);
        if (result.handle) {
            result.path = path;
        } else if (!(flags & RTLD_NOLOAD)) {
            result.searched += (result.searched.empty() ? "" : ", ") + path;
        }
    };
    for (const std::string& path : mappedLibraries("libcupti.so")) tryOpen(path, RTLD_NOLOAD);
    for (const std::string& name : names) tryOpen(name, RTLD_NOLOAD);
    if (!overridePath.empty()) tryOpen(overridePath, 0);

    std::vector<std::string> folders;
    for (const std::string& runtime : mappedLibraries("libcudart.so")) {
        // Python wheels keep each library in a folder of its own, or all of a major version in one.
        const std::string folder = folderOf(runtime);
        folders.push_back(folder);
        folders.push_back(folder + "/../../cuda_cupti/lib");
        folders.push_back(folder + "/../extras/CUPTI/lib64");
    }
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const std::string home = environment(variable); !home.empty()) {
            folders.push_back(home + "/extras/CUPTI/lib64");
            folders.push_back(home + "/lib64");
        }
    }
    for (const std::string& folder : folders)
        for (const std::string& name : names) tryOpen(folder + "/" + name, 0);
    for (const std::string& name : names) tryOpen(name, 0);
    tryOpen("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", 0);
    return result;
}

}  // namespace lanescope::agent
