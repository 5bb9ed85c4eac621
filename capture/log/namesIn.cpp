// SPDX-License-Identifier: Apache-2.0
#include "capture/log/namesIn.h"

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <new>
#include <string_view>

namespace lanescope::log {

namespace {

struct Closer {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

std::vector<std::string> namesIn(const std::filesystem::path& folder) {
    const std::unique_ptr<DIR, Closer> open(::opendir(folder.c_str()));
    if (!open && errno == ENOMEM) throw std::bad_alloc();
    std::vector<std::string> names;
    if (!open) return names;
    while (const dirent* const entry = ::readdir(open.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    return names;
}

}  // namespace lanescope::log
