// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/ForeignIdentities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "model/format/GlobalId.h"
#include "model/importers/events/JsonCursor.h"

namespace lanescope {

namespace {

constexpr std::array callEventKinds{JsonEventKind::RuntimeCall, JsonEventKind::DriverCall};

/// The number of a process or thread, if that is one of the system.
std::optional<uint32_t> systemId(const std::string& name, uint32_t greatest) {
    const std::optional<int64_t> number = decimalOf(name, 0);
    if (!number || *number < 0 || *number > greatest) return std::nullopt;
    return static_cast<uint32_t>(*number);
}

/// "pt_autograd_0" of "thread 2919752 (pt_autograd_0)", as torch.profiler calls threads.
std::string plainThreadName(const std::string& name) {
    const size_t open = name.find('(');
    if (!name.starts_with("thread ") || open == std::string::npos || !name.ends_with(')'))
        return name;
    return name.substr(open + 1, name.size() - open - 2);
}

}  // namespace

/// The one that is wanted, else one that is free.
uint32_t JsonIdentities::Ids::take(std::optional<uint32_t> wanted) {
    // Whatever is above it has been taken, so that many names do not look at all of them each.
    while (!wanted && free > 0 && used.contains(free)) --free;
    const uint32_t id = wanted.value_or(free);
    used.insert(id);
    return id;
}

JsonIdentities::JsonIdentities(const JsonEvents& events, TraceBuilder& builder)
    : events_(events), builder_(builder), threads_(events.threads.size(), noIndex) {
    for (const JsonEvents::Thread& each : events.threads)
        if (const std::optional<uint32_t> id = systemId(each.process, greatestId)) {
            processIds_.take(id);
            if (const std::optional<uint32_t> number = systemId(each.thread, greatestId))
                threadIds_[globalPid(*id)].take(number);
        }
    findMainProcess();
}

void JsonIdentities::findMainProcess() {
    std::map<std::string, uint64_t> calls, slices;
    for (const JsonEventKind kind :
         {JsonEventKind::Annotation, JsonEventKind::Operator, JsonEventKind::Python,
          JsonEventKind::RuntimeCall, JsonEventKind::DriverCall, JsonEventKind::Other}) {
        const bool isCall =
            std::find(callEventKinds.begin(), callEventKinds.end(), kind) != callEventKinds.end();
        std::vector<uint64_t> ofThreads(events_.threads.size());
        events_.slices(kind).forEach([&](const JsonSlice& each) { ++ofThreads[each.thread]; });
        for (size_t thread = 0; thread < ofThreads.size(); ++thread)
            if (ofThreads[thread] > 0)
                (isCall ? calls : slices)[events_.threads[thread].process] += ofThreads[thread];
    }
    const auto most = [](const auto& counts) {
        return std::max_element(counts.begin(), counts.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    };
    areCallsOfSeveral_ = calls.size() > 1;
    if (!calls.empty())
        mainProcess_ = most(calls);
    else if (!slices.empty())
        mainProcess_ = most(slices);
    if (!areCallsOfSeveral_) return;
    for (const JsonEventKind kind : callEventKinds)
        events_.slices(kind).forEach([this](const JsonSlice& each) {
            if (each.extra == 0 || callers_.contains(each.extra)) return;
            callers_[each.extra] = process(events_.threads[each.thread].process);
        });
}

int64_t JsonIdentities::packedProcess(const std::string& name) {
    const auto found = processes_.find(name);
    if (found != processes_.end()) return found->second;
    const std::optional<uint32_t> number = systemId(name, greatestId);
    const int64_t packed = globalPid(processIds_.take(number));
    processes_.emplace(name, packed);
    const auto named = events_.processNames.find(name);
    if (named != events_.processNames.end() && !named->second.empty())
        builder_.nameProcess(packed, named->second);
    else if (!number && !name.empty())
        builder_.nameProcess(packed, name);
    return packed;
}

int64_t JsonIdentities::packedThread(int64_t process, const std::string& name) {
    const std::optional<uint32_t> number = systemId(name, greatestId);
    const int64_t packed = process | threadIds_[process].take(number);
    if (!number) builder_.nameThread(packed, fmt::format("Thread {}", name));
    return packed;
}

uint32_t JsonIdentities::process(const std::string& name) {
    return builder_.process(packedProcess(name));
}

uint32_t JsonIdentities::thread(uint32_t number) {
    if (threads_[number] != noIndex) return threads_[number];
    const JsonEvents::Thread& whose = events_.threads[number];
    const int64_t packed = packedThread(packedProcess(whose.process), whose.thread);
    const auto named = events_.threadNames.find(whose);
    if (named != events_.threadNames.end() && !named->second.empty())
        builder_.nameThread(packed, plainThreadName(named->second));
    return threads_[number] = builder_.thread(packed);
}

uint32_t JsonIdentities::threadOfPlace(uint32_t place) {
    const auto [found, isNew] = threadsOfPlaces_.try_emplace(place, noIndex);
    if (isNew) {
        const JsonPlace& where = events_.places[place];
        const int64_t packed = packedThread(packedProcess(mainProcess_),
                                            fmt::format("GPU {} {}", where.device, where.stream));
        builder_.nameThread(packed, fmt::format("GPU {}, stream {}", where.device, where.stream));
        found->second = builder_.thread(packed);
    }
    return found->second;
}

uint32_t JsonIdentities::processOfWork(uint32_t correlation) {
    if (areCallsOfSeveral_)
        if (const auto found = callers_.find(correlation); found != callers_.end())
            return found->second;
    return mainProcess();
}

uint32_t JsonIdentities::stream(uint32_t place, uint32_t process) {
    const JsonPlace& where = events_.places[place];
    if (where.stream < 0) return noIndex;
    const uint32_t gpu = builder_.gpu(where.device);
    return gpu == noIndex ? noIndex : builder_.stream(process, gpu, where.context, where.stream);
}

}  // namespace lanescope
