// SPDX-License-Identifier: Apache-2.0
#include "capture/record/livingDescendants.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

#include "capture/log/namesIn.h"

namespace lanescope::capture {

std::vector<pid_t> livingDescendants() {
    std::multimap<pid_t, pid_t> childrenOf;
    for (const std::string& name : log::namesIn("/proc")) {
        pid_t pid = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc{})
            continue;
        std::ifstream file(std::filesystem::path("/proc") / name / "stat");
        std::string line;
        std::getline(file, line);
        // "pid (name) state parent ...", and the name may hold anything.
        const size_t nameEnd = line.rfind(") ");
        if (nameEnd == std::string::npos || nameEnd + 4 >= line.size()) continue;
        if (line[nameEnd + 2] == 'Z') continue;
        pid_t parent = 0;
        std::from_chars(line.data() + nameEnd + 4, line.data() + line.size(), parent);
        childrenOf.emplace(parent, pid);
    }
    std::vector<pid_t> found{::getpid()};
    for (size_t at = 0; at < found.size() && found.size() <= childrenOf.size(); ++at) {
        const auto [begin, end] = childrenOf.equal_range(found[at]);
        for (auto child = begin; child != end; ++child) found.push_back(child->second);
    }
    found.erase(found.begin());
    return found;
}

}  // namespace lanescope::capture
