// SPDX-License-Identifier: Apache-2.0
#include "model/importers/nvprof/NvprofContext.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "model/format/GlobalId.h"
#include "model/format/sourceNames.h"
#include "model/importers/sqlite/RowReader.h"

namespace lanescope {

namespace {

constexpr int64_t maxSystemId = 0xffffff;

struct TimedTable {
    const char* table;
    const char* time;
};
constexpr std::array timedTables{TimedTable{"CUPTI_ACTIVITY_KIND_RUNTIME", "start"},
                                 TimedTable{"CUPTI_ACTIVITY_KIND_DRIVER", "start"},
                                 TimedTable{"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "start"},
                                 TimedTable{"CUPTI_ACTIVITY_KIND_KERNEL", "start"},
                                 TimedTable{"CUPTI_ACTIVITY_KIND_MEMCPY", "start"},
                                 TimedTable{"CUPTI_ACTIVITY_KIND_MEMCPY2", "start"},
                                 TimedTable{"CUPTI_ACTIVITY_KIND_MEMSET", "start"},
                                 TimedTable{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start"},
                                 TimedTable{"CUPTI_ACTIVITY_KIND_MARKER", "timestamp"}};

}  // namespace

NvprofContext::NvprofContext(LoadContext& context) : context_(context) {
    readTexts();
    readProcess();
    readContexts();
    findZero();
}

void NvprofContext::readTexts() {
    RowReader reader(context_, "StringTable", {"_id_", "value"}, "strings");
    while (reader.next()) {
        const std::optional<int64_t> number = reader.integer(0);
        // Text 0 means none.
        if (number && *number != 0) texts_[*number] = builder().intern(reader.text(1));
    }
}

void NvprofContext::readProcess() {
    for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}) {
        RowReader reader(context_, table, {"processId"}, "processes");
        if (processId_ == 0 && reader.next()) processId_ = reader.integerOr(0, 0);
        while (reader.next()) {
        }
    }
    constexpr int64_t processKind = 1;
    RowReader reader(context_, "CUPTI_ACTIVITY_KIND_NAME", {"objectKind", "name", "objectId"}, "processes");
    std::string command;
    while (reader.next()) {
        if (reader.integerOr(0, 0) != processKind) continue;
        command = builder().text(text(reader.integerOr(1, 0)));
        // Four bytes, little-endian.
        const std::string_view object = reader.text(2);
        if (processId_ == 0 && object.size() >= 4)
            for (size_t byte = 4; byte-- > 0;) processId_ = processId_ << 8 | static_cast<unsigned char>(object[byte]);
    }
    const uint32_t index = process();
    if (index == noIndex || command.empty()) return;
    Process& named = builder().processes()[index];
    named.facts.edit().commandLine = command;
    const std::string program = command.substr(0, command.find(' '));
    named.name = program.substr(program.rfind('/') + 1);
}

void NvprofContext::readContexts() {
    RowReader reader(context_, "CUPTI_ACTIVITY_KIND_CONTEXT", {"contextId", "deviceId", "nullStreamId"}, "contexts");
    while (reader.next()) contexts_[reader.integerOr(0, 0)] = {reader.integerOr(1, 0), reader.integerOr(2, -1)};
}

/// Finds the start. Times count since 1970 on Linux and since boot on Windows.
void NvprofContext::findZero() {
    int64_t firstNs = std::numeric_limits<int64_t>::max();
    for (const TimedTable& each : timedTables) {
        RowReader reader(context_, each.table, {each.time}, "times");
        while (reader.next())
            if (const std::optional<int64_t> timeNs = reader.integer(0); timeNs && *timeNs > 0)
                firstNs = std::min(firstNs, *timeNs);
    }
    constexpr int64_t maxStartNs = maxTimestampNs;
    if (firstNs < maxStartNs) zeroNs_ = firstNs;
    constexpr int64_t year2000Ns = int64_t{946'684'800} * 1'000'000'000;
    if (zeroNs_ > year2000Ns) context_.description().startUtcNs = zeroNs_;
}

StringIndex NvprofContext::text(int64_t number) const {
    const auto found = texts_.find(number);
    return found != texts_.end() ? found->second : 0;
}

StringIndex NvprofContext::functionName(int64_t number) {
    const auto [found, isNew] = functions_.try_emplace(number, 0);
    if (isNew) {
        const std::string mangled(builder().text(text(number)));
        found->second = builder().intern(demangledName(mangled).value_or(mangled));
    }
    return found->second;
}

uint32_t NvprofContext::process() {
    const int64_t id = processId_ > 0 && processId_ <= maxSystemId ? processId_ : 0;
    return builder().process(globalPid(static_cast<uint32_t>(id)));
}

uint32_t NvprofContext::thread(int64_t number) {
    const auto [found, isNew] = threads_.try_emplace(number, noIndex);
    if (!isNew) return found->second;
    const uint32_t owner = process();
    if (owner == noIndex) return noIndex;
    const int64_t own = builder().processes()[owner].globalPid;
    const bool isPlain = number > 0 && number <= maxSystemId;
    // Other threads are distinguished by their number in the file.
    const int64_t id = isPlain ? number : maxSystemId - static_cast<int64_t>(threads_.size());
    const int64_t packed = own | std::max<int64_t>(id, 0);
    if (!isPlain) builder().nameThread(packed, fmt::format("Thread {:#x}", static_cast<uint32_t>(number)));
    return found->second = builder().thread(packed);
}

int64_t NvprofContext::deviceOf(int64_t contextId) const {
    const auto found = contexts_.find(contextId);
    return found != contexts_.end() ? found->second.first : 0;
}

uint32_t NvprofContext::stream(int64_t device, int64_t contextId, int64_t streamId) {
    constexpr int64_t wholeContext = 0xffffffff;
    if (streamId < 0 || streamId == wholeContext || device < 0) return noIndex;
    const uint32_t gpu = builder().gpu(device);
    const uint32_t owner = process();
    if (gpu == noIndex || owner == noIndex) return noIndex;
    const uint32_t index = builder().stream(owner, gpu, contextId, streamId);
    const auto found = contexts_.find(contextId);
    if (index != noIndex && found != contexts_.end() && found->second.second == streamId)
        builder().streams()[index].isNullStream = true;
    return index;
}

}  // namespace lanescope
