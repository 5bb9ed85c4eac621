// SPDX-License-Identifier: Apache-2.0
#include "capture/record/AgentEnvironment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <system_error>

#include "capture/log/clocks.h"
#include "model/format/Subprocess.h"
#include "model/format/files.h"
#include "model/format/optionValues.h"

namespace lanescope::capture {

namespace {

constexpr const char* agentFileName = "liblanescope-agent.so";

/// A variable that loads a tool, and the option that leaves the feature to another tool.
struct Loader {
    bool Injections::*isUsed;
    const char *variable, *what, *option;
};
constexpr Loader loaders[] = {
    {&Injections::cuda, "CUDA_INJECTION64_PATH", "CUDA", "--no-cuda"},
    {&Injections::nvtx, "NVTX_INJECTION64_PATH", "NVTX", "--no-nvtx"},
    {&Injections::nccl, "NCCL_PROFILER_PLUGIN", "NCCL's profiler interface", "--nccl nvtx"},
};

bool isSameFile(const std::filesystem::path& one, const std::filesystem::path& other) {
    std::error_code error;
    return one == other || (std::filesystem::equivalent(one, other, error) && !error);
}

}  // namespace

Result<std::filesystem::path> findAgent(const std::filesystem::path& given) {
    std::error_code error;
    if (!given.empty()) {
        if (!std::filesystem::is_regular_file(given, error))
            return fail("{}: no such agent. Check the path of --agent.", given.string());
        return std::filesystem::canonical(given, error);
    }
    const std::filesystem::path root = ownProgram().parent_path().parent_path();
    for (const std::filesystem::path& folder : {root / "libexec" / "lanescope", root / "lib"}) {
        const std::filesystem::path candidate = folder / agentFileName;
        if (std::filesystem::is_regular_file(candidate, error)) return std::filesystem::canonical(candidate, error);
    }
    return fail("The agent {} is not in {}. Install it, or name it with --agent.", agentFileName,
                (root / "libexec" / "lanescope").string());
}

Result<void> checkIsAgent(const std::filesystem::path& agent) {
    static constexpr uint64_t maxAgentBytes = uint64_t{1} << 30;
    static constexpr size_t typeAt = 16;  // e_type of the file header, which is 3 for a library.
    const Result<std::string> read = readRegularFile(agent, maxAgentBytes);
    if (!read) return fail(read.error());
    const std::string& bytes = *read;
    const bool isLibrary = bytes.size() > typeAt && bytes.compare(0, 4, "\177ELF") == 0 && bytes[typeAt] == 3;
    if (isLibrary && bytes.find("InitializeInjectionNvtx2") != std::string::npos &&
        bytes.find(agent::folderVariable) != std::string::npos)
        return {};
    return fail("{}: not an agent of Lanescope. Remove --agent to load the default.", agent.string());
}

Result<void> checkForOtherProfilers(const std::filesystem::path& agent, const Injections& injections) {
    for (const auto& [isUsed, variable, what, option] : loaders) {
        const std::string value = injections.*isUsed ? environment(variable) : std::string();
        if (value.empty() || isSameFile(value, agent)) continue;
        return fail(
            "{}: another tool would be loaded into the program ({}), and only one can be. Unset it, or leave {} to it "
            "with {}.",
            variable, value, what, option);
    }
    if (const std::string folder = environment(agent::folderVariable); !folder.empty())
        return fail("'lanescope record' already runs under 'lanescope record' ({} is {}). Remove the inner one.",
                    agent::folderVariable, folder);
    return {};
}

std::vector<std::string> agentEnvironment(const std::filesystem::path& agent, const Injections& injections) {
    std::vector<std::string_view> replaced{agent::folderVariable, agent::sessionVariable, agent::optionsVariable,
                                           agent::clockVariable, agent::doorVariable};
    std::vector<std::string> result, added;
    for (const Loader& loader : loaders) {
        if (!(injections.*loader.isUsed)) continue;
        replaced.push_back(loader.variable);
        added.push_back(fmt::format("{}={}", loader.variable, agent.string()));
    }
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string_view name = text.substr(0, text.find('='));
        if (std::find(replaced.begin(), replaced.end(), name) == replaced.end()) result.emplace_back(text);
    }
    std::ranges::move(added, std::back_inserter(result));
    return result;
}

std::vector<std::string> agentEntries(const std::filesystem::path& runFolder, const std::string& session,
                                      agent::AgentOptions options, int64_t baseRealtimeNs, const std::string& door) {
    if (options.followsLevel && environment(agent::sleepVariable) == "1") options.beginsAsleep = true;
    if (options.windows.hasTimes()) options.windows.baseNs = baseRealtimeNs;
    return {fmt::format("{}={}", agent::folderVariable, runFolder.string()),
            fmt::format("{}={}", agent::sessionVariable, session),
            fmt::format("{}={}", agent::optionsVariable, agent::optionText(options)),
            fmt::format("{}={}", agent::clockVariable, log::eventClockText()),
            fmt::format("{}={}", agent::doorVariable, door)};
}

}  // namespace lanescope::capture
