// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/ProcessTree.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "capture/log/namesIn.h"
#include "capture/sample/ProcFile.h"

namespace lanescope::capture {

namespace {

constexpr size_t mostProcesses = 256;
constexpr const char* deletedMark = " (deleted)";

std::string programOf(pid_t pid) {
    std::error_code error;
    std::string program =
        std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).string();
    if (program.ends_with(deletedMark))
        program.resize(program.size() - std::string_view(deletedMark).size());
    return program;
}

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
    return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

}  // namespace

ProcessTree::ProcessTree(pid_t root) : root_(root), ownProgram_(programOf(::getpid())) {}

std::vector<pid_t> ProcessTree::find(bool ofAllThreads) {
    std::vector<pid_t> found;
    addChildren(root_, true, found);
    // The recorder's children may be its samplers; of others' it is enough to know them once.
    std::erase_if(found, [&](pid_t pid) {
        if (contains(known_, pid)) return false;
        // The program itself is ours, too, until it has become what it is to be.
        const bool isOurs = programOf(pid) == ownProgram_;
        if (!isOurs) known_.push_back(pid);
        return isOurs;
    });
    for (size_t at = 0; at < found.size() && found.size() < mostProcesses; ++at)
        addChildren(found[at], ofAllThreads, found);
    std::erase_if(known_, [&](pid_t pid) { return !contains(found, pid); });
    return found;
}

void ProcessTree::addChildren(pid_t parent, bool ofAllThreads, std::vector<pid_t>& found) {
    const std::string folder = "/proc/" + std::to_string(parent) + "/task";
    const auto take = [&](const std::string& thread) {
        std::string_view text = ProcFile(folder + "/" + thread + "/children").read(buffer_);
        for (std::string_view word = takeWord(text); !word.empty(); word = takeWord(text)) {
            const auto pid = static_cast<pid_t>(numberIn(word));
            if (pid > 0 && found.size() < mostProcesses && !contains(found, pid))
                found.push_back(pid);
        }
    };
    if (!ofAllThreads) {
        take(std::to_string(parent));
        return;
    }
    for (const std::string& thread : log::namesIn(folder)) take(thread);
}

}  // namespace lanescope::capture
