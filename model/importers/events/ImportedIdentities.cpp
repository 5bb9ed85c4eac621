// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/ImportedIdentities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "model/format/GlobalId.h"
#include "model/importers/events/JsonCursor.h"

namespace lanescope {

namespace {

constexpr std::array callEventKinds{ImportedEventKind::RuntimeCall, ImportedEventKind::DriverCall};
/// Processes with a call of one correlation that may own its work. A host has fewer ranks.
constexpr size_t maxCallers = 64;

/// Returns the number of a process or thread, if it is a possible system id.
std::optional<uint32_t> systemId(const std::string& name, uint32_t maxId) {
    const std::optional<int64_t> number = decimalOf(name, 0);
    if (!number || *number < 0 || *number > maxId) return std::nullopt;
    return static_cast<uint32_t>(*number);
}

/// Returns "pt_autograd_0" for "thread 2919752 (pt_autograd_0)", a thread name of torch.profiler.
std::string plainThreadName(const std::string& name) {
    const size_t open = name.find('(');
    if (!name.starts_with("thread ") || open == std::string::npos || !name.ends_with(')')) return name;
    return name.substr(open + 1, name.size() - open - 2);
}

}  // namespace

/// Returns the wanted id, or a free one.
uint32_t ImportedIdentities::Ids::take(std::optional<uint32_t> wanted) {
    // All ids above it are used, so that many names do not scan all ids each.
    while (!wanted && free > 0 && used.contains(free)) --free;
    const uint32_t id = wanted.value_or(free);
    used.insert(id);
    return id;
}

ImportedIdentities::ImportedIdentities(const ImportedEvents& events, TraceBuilder& builder)
    : events_(events), builder_(builder), threads_(events.threads.size(), noIndex), calls_(builder.memory()) {
    for (const ImportedEvents::Thread& each : events.threads)
        if (const std::optional<uint32_t> id = systemId(each.process, maxSystemId)) {
            processIds_.take(id);
            if (const std::optional<uint32_t> number = systemId(each.thread, maxSystemId))
                threadIds_[globalPid(*id)].take(number);
        }
    findMainProcess();
}

void ImportedIdentities::findMainProcess() {
    std::map<std::string, uint64_t> calls, slices;
    for (const ImportedEventKind kind :
         {ImportedEventKind::Annotation, ImportedEventKind::Operator, ImportedEventKind::Python,
          ImportedEventKind::RuntimeCall, ImportedEventKind::DriverCall, ImportedEventKind::Other}) {
        const bool isCall = std::find(callEventKinds.begin(), callEventKinds.end(), kind) != callEventKinds.end();
        std::vector<uint64_t> ofThreads(events_.threads.size());
        events_.slices(kind).forEach([&](const ImportedSlice& each) { ++ofThreads[each.thread]; });
        for (size_t thread = 0; thread < ofThreads.size(); ++thread)
            if (ofThreads[thread] > 0) (isCall ? calls : slices)[events_.threads[thread].process] += ofThreads[thread];
    }
    const auto keyOfMaximum = [](const auto& counts) {
        return std::max_element(counts.begin(), counts.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    };
    if (!calls.empty())
        mainProcess_ = keyOfMaximum(calls);
    else if (!slices.empty())
        mainProcess_ = keyOfMaximum(slices);
    if (calls.size() < 2) return;
    for (const ImportedEventKind kind : callEventKinds)
        events_.slices(kind).forEach([this](const ImportedSlice& each) {
            const uint32_t caller = each.extra != 0 ? process(events_.threads[each.thread].process) : noIndex;
            if (caller != noIndex) calls_.push_back({each.extra, caller, each.startNs});
        });
    const auto keyOf = [](const Call& call) { return std::tie(call.correlation, call.process); };
    std::stable_sort(calls_.begin(), calls_.end(), [&](const Call& a, const Call& b) { return keyOf(a) < keyOf(b); });
    calls_.erase(
        std::unique(calls_.begin(), calls_.end(), [&](const Call& a, const Call& b) { return keyOf(a) == keyOf(b); }),
        calls_.end());
    findOwners();
}

std::span<const ImportedIdentities::Call> ImportedIdentities::callsOf(uint32_t correlation) const {
    const auto [begin, end] = std::ranges::equal_range(calls_, correlation, {}, &Call::correlation);
    return {begin, end};
}

/// The traces of several ranks in one file count their calls each from 1. A rank has one GPU: each GPU belongs to the
/// process that alone can have launched most of its work, else to the next process in order.
void ImportedIdentities::findOwners() {
    struct Votes {
        int64_t alone = 0, possible = 0;
    };
    std::map<int64_t, std::map<uint32_t, Votes>> votes;  // by GPU and process
    bool isAnyShared = false;
    events_.gpuWork.forEach([&](const ImportedGpuWork& work) {
        std::span<const Call> callers = callsOf(work.correlation);
        callers = callers.first(std::min(callers.size(), maxCallers));
        isAnyShared = isAnyShared || callers.size() > 1;
        const auto isPossible = [&](const Call& call) { return call.startNs <= work.startNs; };
        const auto count = std::ranges::count_if(callers, isPossible);
        for (const Call& call : callers) {
            if (!isPossible(call)) continue;
            Votes& each = votes[events_.places[work.place].device][call.process];
            ++each.possible;
            each.alone += count == 1 ? 1 : 0;
        }
    });
    if (!isAnyShared) return;
    const auto pidOf = [this](uint32_t process) { return builder_.trace().processes[process].pid; };
    std::set<uint32_t> taken;
    for (const bool areAlone : {true, false})
        for (const auto& [device, ofProcesses] : votes) {
            if (owners_.contains(device)) continue;
            const auto isBetter = [&](const auto& a, const auto& b) {
                const auto key = [&](const auto& each) {
                    return std::tuple(-each.second.alone, taken.contains(each.first), -each.second.possible,
                                      pidOf(each.first));
                };
                return key(a) < key(b);
            };
            const auto& [process, best] = *std::ranges::min_element(ofProcesses, isBetter);
            if (areAlone && best.alone == 0) continue;
            owners_.emplace(device, process);
            taken.insert(process);
        }
}

int64_t ImportedIdentities::packedProcess(const std::string& name) {
    const auto found = processes_.find(name);
    if (found != processes_.end()) return found->second;
    const std::optional<uint32_t> number = systemId(name, maxSystemId);
    const int64_t packed = globalPid(processIds_.take(number));
    processes_.emplace(name, packed);
    const auto named = events_.processNames.find(name);
    if (named != events_.processNames.end() && !named->second.empty())
        builder_.nameProcess(packed, named->second);
    else if (!number && !name.empty())
        builder_.nameProcess(packed, name);
    return packed;
}

int64_t ImportedIdentities::packedThread(int64_t process, const std::string& name) {
    const std::optional<uint32_t> number = systemId(name, maxSystemId);
    const int64_t packed = process | threadIds_[process].take(number);
    if (!number) builder_.nameThread(packed, fmt::format("Thread {}", name));
    return packed;
}

uint32_t ImportedIdentities::process(const std::string& name) { return builder_.process(packedProcess(name)); }

uint32_t ImportedIdentities::thread(uint32_t number) {
    if (threads_[number] != noIndex) return threads_[number];
    const ImportedEvents::Thread& owner = events_.threads[number];
    const int64_t packed = packedThread(packedProcess(owner.process), owner.thread);
    const auto named = events_.threadNames.find(owner);
    if (named != events_.threadNames.end() && !named->second.empty())
        builder_.nameThread(packed, plainThreadName(named->second));
    return threads_[number] = builder_.thread(packed);
}

uint32_t ImportedIdentities::threadOfPlace(uint32_t place) {
    const auto [found, isNew] = threadsOfPlaces_.try_emplace(place, noIndex);
    if (isNew) {
        const ImportedPlace& where = events_.places[place];
        const int64_t packed =
            packedThread(packedProcess(mainProcess_), fmt::format("GPU {} {}", where.device, where.stream));
        builder_.nameThread(packed, fmt::format("GPU {}, stream {}", where.device, where.stream));
        found->second = builder_.thread(packed);
    }
    return found->second;
}

uint32_t ImportedIdentities::processOfWork(const ImportedGpuWork& work) {
    const std::span<const Call> callers = callsOf(work.correlation);
    const auto owner = owners_.find(events_.places[work.place].device);
    if (owner != owners_.end() && std::ranges::binary_search(callers, owner->second, {}, &Call::process))
        return owner->second;
    return callers.empty() ? mainProcess() : callers.front().process;
}

uint32_t ImportedIdentities::stream(uint32_t place, uint32_t process) {
    const ImportedPlace& where = events_.places[place];
    if (where.stream < 0) return noIndex;
    const uint32_t gpu = builder_.gpu(where.device);
    return gpu == noIndex ? noIndex : builder_.stream(process, gpu, where.context, where.stream);
}

}  // namespace lanescope
