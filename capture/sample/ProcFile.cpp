// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/ProcFile.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "capture/log/namesIn.h"

namespace lanescope::capture {

namespace {

constexpr size_t firstBytes = 16u << 10;
constexpr size_t maxBytes = 4u << 20;

}  // namespace

ProcFile::ProcFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

std::string_view ProcFile::read(std::vector<char>& buffer) const {
    if (buffer.size() < firstBytes) buffer.resize(firstBytes);
    size_t length = 0;
    while (descriptor_ >= 0) {
        const ssize_t count =
            ::pread(descriptor_, buffer.data() + length, buffer.size() - length, static_cast<off_t>(length));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        length += static_cast<size_t>(count);
        if (length < buffer.size()) continue;
        if (buffer.size() >= maxBytes) break;
        buffer.resize(2 * buffer.size());
    }
    return {buffer.data(), length};
}

std::string_view ProcFile::readLine(std::vector<char>& buffer) const {
    if (buffer.size() < firstBytes) buffer.resize(firstBytes);
    ssize_t count = -1;
    do {
        if (descriptor_ < 0) return {};
        count = ::pread(descriptor_, buffer.data(), buffer.size(), 0);
    } while (count < 0 && errno == EINTR);
    return {buffer.data(), static_cast<size_t>(std::max<ssize_t>(count, 0))};
}

std::string_view takeUntil(std::string_view& text, char separator) {
    const std::string_view taken = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), taken.size() + 1));
    return taken;
}

std::string_view takeWord(std::string_view& text) {
    static constexpr std::string_view blanks = " \t\n";
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(blanks)));
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    return word;
}

long long numberIn(std::string_view word, long long otherwise) {
    long long number = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), number);
    return result.ec == std::errc{} ? number : otherwise;
}

namespace {

constexpr size_t maxProcesses = 256;
constexpr const char* deletedMark = " (deleted)";

std::string programOf(pid_t pid) {
    std::error_code error;
    std::string program = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).string();
    if (program.ends_with(deletedMark)) program.resize(program.size() - std::string_view(deletedMark).size());
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
    // The recorder's children may be its samplers; other parents' children need no further check.
    std::erase_if(found, [&](pid_t pid) {
        if (contains(known_, pid)) return false;
        // The program itself runs our executable until its exec.
        const bool isOwnProgram = programOf(pid) == ownProgram_;
        if (!isOwnProgram) known_.push_back(pid);
        return isOwnProgram;
    });
    for (size_t at = 0; at < found.size() && found.size() < maxProcesses; ++at)
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
            if (pid > 0 && found.size() < maxProcesses && !contains(found, pid)) found.push_back(pid);
        }
    };
    if (!ofAllThreads) {
        take(std::to_string(parent));
        return;
    }
    for (const std::string& thread : log::namesIn(folder)) take(thread);
}

}  // namespace lanescope::capture
