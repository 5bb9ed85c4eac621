// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/ImportedChunk.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/format/text.h"
#include "model/importers/events/JsonCursor.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

void ChunkStrings::grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (uint32_t index = 0; index < texts_.size(); ++index) {
        auto at = static_cast<size_t>(hashes_[index]);
        while (slots_[at & (slots_.size() - 1)] != 0) ++at;
        slots_[at & (slots_.size() - 1)] = index + 1;
    }
}

uint32_t ChunkStrings::add(std::string_view text) {
    if (slots_.size() <= 2 * texts_.size()) grow();
    const uint64_t hash = mixed(text);
    for (auto at = static_cast<size_t>(hash);; ++at) {
        uint32_t& slot = slots_[at & (slots_.size() - 1)];
        if (slot == 0) {
            texts_.push_back(text);
            hashes_.push_back(hash);
            slot = static_cast<uint32_t>(texts_.size());
        } else if (hashes_[slot - 1] != hash || texts_[slot - 1] != text) {
            continue;
        }
        return slot - 1;
    }
}

std::string_view ChunkStrings::kept(const JsonValue& value) {
    if (!value.isString() || !value.isEscaped) return value.text;
    return unescaped_.emplace_back(unescaped(value.text));
}

uint32_t ChunkStrings::add(const JsonValue& value) {
    if (!value.isString() || !value.isEscaped) return add(value.text);
    return addMade(unescaped(value.text));
}

uint32_t ChunkStrings::addMade(const std::string& text) {
    const size_t known = texts_.size();
    unescaped_.push_back(text);
    const uint32_t index = add(std::string_view(unescaped_.back()));
    if (texts_.size() == known) unescaped_.pop_back();
    return index;
}

ImportedTally& ImportedTally::operator+=(const ImportedTally& other) {
    events += other.events;
    flows += other.flows;
    otherFlows += other.otherFlows;
    overheads += other.overheads;
    overheadNs += other.overheadNs;
    callStacks += other.callStacks;
    untimed += other.untimed;
    negative += other.negative;
    unknown += other.unknown;
    fractions += other.fractions;
    oddWork += other.oddWork;
    untimedKernels += other.untimedKernels;
    untimedCopies += other.untimedCopies;
    untimedMemsets += other.untimedMemsets;
    return *this;
}

void CorruptionTally::add(uint64_t begin, uint64_t end) {
    if (places == 0) firstAt = begin;
    if (places == 0 || begin > lastEnd) ++places;
    bytes += static_cast<int64_t>(end - begin);
    lastEnd = end;
}

namespace {

using Kind = ImportedEventKind;

constexpr std::array<std::pair<std::string_view, Kind>, 31> categories{{
    {"cpu_op", Kind::Operator},
    {"python_function", Kind::Python},
    {"cuda_runtime", Kind::RuntimeCall},
    {"kernel", Kind::Kernel},
    {"cuda_driver", Kind::DriverCall},
    {"user_annotation", Kind::Annotation},
    {"gpu_user_annotation", Kind::GpuAnnotation},
    {"gpu_memcpy", Kind::Memcpy},
    {"gpu_memset", Kind::Memset},
    {"cuda_sync", Kind::Sync},
    {"cuda_event", Kind::CudaEvent},
    {"overhead", Kind::Overhead},
    {"trace", Kind::Window},
    {"operator", Kind::Operator},
    {"runtime", Kind::RuntimeCall},
    {"memcpy", Kind::Memcpy},
    {"memset", Kind::Memset},
    {"user", Kind::Annotation},
    {"hip_runtime", Kind::RuntimeCall},
    {"xpu_runtime", Kind::RuntimeCall},
    {"xpu_driver", Kind::DriverCall},
    {"xpu_sync", Kind::Sync},
    {"mtia_runtime", Kind::RuntimeCall},
    {"glow_runtime", Kind::RuntimeCall},
    {"privateuse1_runtime", Kind::RuntimeCall},
    {"privateuse1_driver", Kind::DriverCall},
    {"hpu_op", Kind::Operator},
    {"driver", Kind::DriverCall},
    {"sync", Kind::Sync},
    {"gpumemcpy", Kind::Memcpy},
    {"gpumemset", Kind::Memset},
}};

bool isSameWord(std::string_view a, std::string_view b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lowerCase(x) == y; });
}

MemcpyKind directionOf(std::string_view word) {
    for (int number = 1; number < memcpyKindCount; ++number) {
        const auto kind = static_cast<MemcpyKind>(number);
        if (word == name(kind)) return kind;
    }
    constexpr std::array<std::pair<std::string_view, MemcpyKind>, 4> older{{
        {"CopyHostToDevice", MemcpyKind::HtoD},
        {"CopyDeviceToHost", MemcpyKind::DtoH},
        {"CopyDeviceToDevice", MemcpyKind::DtoD},
        {"CopyHostToHost", MemcpyKind::HtoH},
    }};
    for (const auto& [text, kind] : older)
        if (word == text) return kind;
    return MemcpyKind::Unknown;
}

MemoryKind memoryOf(std::string_view word) {
    for (int number = 0; number < memoryKindCount - 1; ++number) {
        const auto kind = static_cast<MemoryKind>(number);
        if (word == longName(kind)) return kind;
    }
    return MemoryKind::Unknown;
}

}  // namespace

ImportedEventKind eventKindOf(std::string_view category) {
    for (const auto& [name, kind] : categories)
        if (isSameWord(category, name)) return kind;
    return Kind::Other;
}

bool isAnnotationName(std::string_view name) {
    constexpr std::array<std::string_view, 5> beginnings{"ProfilerStep#", "enumerate(DataLoader)#", "Optimizer.",
                                                         "nccl:", "DistributedDataParallel."};
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [name](std::string_view each) { return name.starts_with(each); });
}

CopyName copyNameOf(std::string_view name) {
    CopyName copy;
    const size_t open = name.find('(');
    const size_t close = name.rfind(')');
    std::string_view words = name.substr(0, open);
    for (const std::string_view word : {std::string_view("Memcpy "), std::string_view("Memset ")})
        if (words.starts_with(word)) words.remove_prefix(word.size());
    while (words.ends_with(' ')) words.remove_suffix(1);
    copy.kind = directionOf(words);
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return copy;
    const std::string_view memories = name.substr(open + 1, close - open - 1);
    const size_t separator = memories.find(" -> ");
    if (separator == std::string_view::npos) {
        copy.destination = memoryOf(memories);
    } else {
        copy.source = memoryOf(memories.substr(0, separator));
        copy.destination = memoryOf(memories.substr(separator + 4));
    }
    return copy;
}

SyncType syncTypeOf(std::string_view name) {
    for (const SyncType type : {SyncType::StreamWaitEvent, SyncType::Event, SyncType::Stream, SyncType::Context})
        if (name.starts_with(torchName(type))) return type;
    return SyncType::Unknown;
}

int64_t streamNumberOf(std::string_view name) {
    constexpr std::string_view stream = "stream ";
    if (name.starts_with(stream)) name.remove_prefix(stream.size());
    const std::optional<int64_t> number = decimalOf(name.substr(0, name.find(' ')), 0);
    return number && *number >= 0 ? *number : -1;
}

}  // namespace lanescope
