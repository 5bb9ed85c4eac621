// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/PerfStacks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "capture/log/clocks.h"
#include "model/format/UniqueFd.h"

namespace lanescope::capture {

namespace {

constexpr size_t maxChanges = 2'000'000, maxFiles = 100'000;

constexpr size_t maxOpenSpaces = 256, maxKnown = 1'000'000, maxOpenFiles = 20'000;
constexpr std::string_view kernelName = "[kernel]", vdsoName = "[vdso]";

/// Returns the vDSO of this process, which the kernel maps into every process for fast clock reads.
/// It is the same for all.
std::span<const std::byte> ownVdso() {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    while (std::getline(maps, line)) {
        unsigned long from = 0, until = 0;
        if (line.ends_with(vdsoName) && std::sscanf(line.c_str(), "%lx-%lx", &from, &until) == 2)
            return {reinterpret_cast<const std::byte*>(from), until - from};
    }
    return {};
}

int vdsoFile() {
    const auto bytes = ownVdso();
    if (bytes.empty()) return -1;
    UniqueFd file(::memfd_create("vdso", MFD_CLOEXEC));
    if (file < 0 || !writeAll(file, bytes.data(), bytes.size())) return -1;
    return file.release();
}

/// Returns true for `_start` and for the thread starters of C libraries, but not for every function that clones.
bool beginsThread(std::string_view function) {
    if (function == "_start" || function == "thread_start") return true;
    function.remove_prefix(std::min(function.find_first_not_of('_'), function.size()));
    return function == "clone" || function == "clone3" || function == "clone_internal";
}

}  // namespace

void AddressSpace::add(Mapping mapping) {
    if (mapping.end <= mapping.start) return;
    // Removes the previous mappings there, except for parts that extend beyond either end.
    auto at = mappings_.upper_bound(mapping.start);
    if (at != mappings_.begin() && std::prev(at)->second.end > mapping.start) --at;
    while (at != mappings_.end() && at->second.start < mapping.end) {
        const Mapping old = at->second;
        at = mappings_.erase(at);
        if (old.start < mapping.start) {
            Mapping before = old;
            before.end = mapping.start;
            mappings_.emplace(before.start, before);
        }
        if (old.end > mapping.end) {
            Mapping rest = old;
            rest.fileOffset += mapping.end - old.start;
            rest.start = mapping.end;
            at = mappings_.emplace(rest.start, rest).first;
        }
    }
    mappings_.insert_or_assign(mapping.start, mapping);
}

const Mapping* AddressSpace::find(uint64_t address) const {
    auto at = mappings_.upper_bound(address);
    if (at == mappings_.begin()) return nullptr;
    --at;
    return address < at->second.end ? &at->second : nullptr;
}

bool AddressSpaces::hasRoom() {
    if (changes_.size() < maxChanges && files_.size() < maxFiles) return true;
    ++skipped_;
    return false;
}

void AddressSpaces::add(const PerfMapping& mapping) {
    if (!hasRoom() || mapping.bytes == 0 || mapping.address + mapping.bytes < mapping.address) return;
    const auto [known, isNew] = numbers_.try_emplace(std::string(mapping.file), static_cast<uint32_t>(files_.size()));
    if (isNew) files_.push_back(known->first);
    changes_.push_back({mapping.place.timeNs,
                        mapping.place.process,
                        0,
                        Kind::Map,
                        {mapping.address, mapping.address + mapping.bytes, mapping.fileOffset, known->second}});
}

void AddressSpaces::add(const PerfName& name) {
    if (name.isExec && hasRoom()) changes_.push_back({name.place.timeNs, name.place.process, 0, Kind::Exec, {}});
}

void AddressSpaces::add(const PerfFork& fork) {
    if (fork.place.process != fork.parentProcess && hasRoom())
        changes_.push_back({fork.place.timeNs, fork.place.process, fork.parentProcess, Kind::Fork, {}});
}

void AddressSpaces::seal() {
    std::ranges::stable_sort(changes_, {}, &Change::timeNs);
    const auto fresh = [this](const Change& change) {
        const auto number = static_cast<uint32_t>(spaces_.size());
        spaces_.emplace_back();
        spacesOf_[change.process].push_back({change.timeNs, number});
        return number;
    };
    for (const Change& change : changes_) {
        const uint32_t current = of(change.kind == Kind::Fork ? change.parent : change.process, change.timeNs);
        if (change.kind == Kind::Exec || (change.kind == Kind::Fork && current == none))
            fresh(change);
        else if (change.kind == Kind::Fork)
            spacesOf_[change.process].push_back({change.timeNs, current});
        else
            spaces_[current == none ? fresh(change) : current].add(change.mapping);
    }
    changes_.clear();
    changes_.shrink_to_fit();
}

uint32_t AddressSpaces::of(uint32_t process, int64_t timeNs) const {
    const auto known = spacesOf_.find(process);
    if (known == spacesOf_.end()) return none;
    const std::vector<Since>& spaces = known->second;
    auto at = std::ranges::upper_bound(spaces, timeNs, {}, &Since::timeNs);
    return at == spaces.begin() ? at->space : std::prev(at)->space;
}

PerfStacks::PerfStacks(const AddressSpaces& spaces, bool usesLibDw, int64_t unwindBudgetNs)
    : spaces_(spaces), unwindBudgetNs_(unwindBudgetNs) {
    if (usesLibDw) {
        libDw_ = std::make_unique<LibDw>();
        if (!*libDw_) libDw_.reset();
    }
    number(std::string(kernelName), std::string(kernelName), true);
}

PerfStacks::~PerfStacks() = default;

uint32_t PerfStacks::number(std::string name, const std::string& file, bool isNamed) {
    const auto [known, isNew] = numbers_.try_emplace({std::move(name), file}, static_cast<uint32_t>(functions_.size()));
    if (isNew) functions_.push_back({known->first.first, file, isNamed});
    return known->second;
}

ElfFile* PerfStacks::fileOf(uint32_t number) {
    const auto known = files_.find(number);
    if (known != files_.end()) return known->second ? &*known->second : nullptr;
    const std::string& path = spaces_.file(number);
    const auto open = [&]() -> std::optional<ElfFile> {
        if (path == vdsoName) return ElfFile::at(ownVdso());
        if (!path.starts_with('/') || files_.size() >= maxOpenFiles) return std::nullopt;
        return ElfFile::open(path);
    };
    auto& kept = files_.emplace(number, open()).first->second;
    return kept ? &*kept : nullptr;
}

LibDw::Space* PerfStacks::spaceOf(uint32_t number) {
    const auto known = unwound_.find(number);
    if (known != unwound_.end()) return known->second.get();
    if (unwound_.size() >= maxOpenSpaces) unwound_.clear();
    std::vector<UnwindModule> modules;
    uint64_t untilNow = 0;
    for (const auto& [start, mapping] : spaces_.space(number).all()) {
        ElfFile* const file = fileOf(mapping.file);
        if (file == nullptr) continue;
        const auto bias = file->bias(start, mapping.fileOffset);
        if (!bias) continue;
        const std::string& path = spaces_.file(mapping.file);
        UnwindModule module{path, *bias + file->firstAddress(), -1};
        // Several mappings of one file are one module.
        if (!modules.empty() && modules.back().path == path && modules.back().start == module.start) continue;
        if (start < untilNow) continue;
        untilNow = mapping.end;
        if (path == vdsoName) {
            module.file = vdsoFile();
            if (module.file < 0) continue;
        }
        modules.push_back(std::move(module));
    }
    return unwound_.emplace(number, libDw_->makeSpace(std::move(modules))).first->second.get();
}

/// Returns true if a thread or a program begins in that function, the outermost of a stack. An end
/// of the stack without an error is no proof: a wrongly unwound stack may end so too.
bool PerfStacks::isBeginning(uint32_t space, uint64_t address, uint32_t function, bool isInnermost) {
    const NativeFunction& outermost = functions_[function];
    if (outermost.isNamed && beginsThread(outermost.name)) return true;
    // Threads begin in unnamed functions of the C library. Many of its other functions have no name
    // either, and are often the innermost.
    const std::string_view file = std::string_view(outermost.file).substr(outermost.file.rfind('/') + 1);
    if (!outermost.isNamed && !isInnermost && (file.starts_with("libc.so") || file.starts_with("libc-"))) return true;
    constexpr uint64_t entryBytes = 96;
    const Mapping* const mapping = spaces_.space(space).find(address);
    ElfFile* const elf = mapping == nullptr ? nullptr : fileOf(mapping->file);
    if (elf == nullptr || elf->entry() == 0) return false;
    const auto bias = elf->bias(mapping->start, mapping->fileOffset);
    return bias && address - *bias - elf->entry() < entryBytes;
}

uint32_t PerfStacks::functionAt(uint32_t space, uint64_t address) {
    const Mapping* const mapping = spaces_.space(space).find(address);
    if (mapping == nullptr || spaces_.file(mapping->file).empty()) return number("[unknown]", "[unknown]", false);
    const std::string& path = spaces_.file(mapping->file);
    if (ElfFile* const file = fileOf(mapping->file))
        if (const auto bias = file->bias(mapping->start, mapping->fileOffset))
            if (const std::string_view name = file->nameAt(address - *bias); !name.empty())
                return number(std::string(name), path, true);
    const std::string shortName = std::filesystem::path(path).filename().string();
    return number(path.starts_with('[') ? path : "[" + shortName + "]", path, false);
}

NativeStack PerfStacks::of(const PerfSample& sample) {
    NativeStack stack;
    if (sample.isInKernel) stack.functions.push_back(0);
    const uint32_t space = spaces_.of(sample.place.process, sample.place.timeNs);
    if (sample.registers.size() != perfRegisterCount * sizeof(uint64_t) || space == AddressSpaces::none) return stack;
    uint64_t values[PerfRegisters::maxRegisters];
    std::memcpy(values, sample.registers.data(), sample.registers.size());
    const PerfRegisters registers = dwarfRegisters(values);
    std::vector<uint64_t> addresses;
    const bool hasTime = spentNs_ < unwindBudgetNs_;
    if (libDw_ && !hasTime) ++outOfTime_;
    if (libDw_ && hasTime) {
        const int64_t begunNs = log::monotonicNs();
        if (LibDw::Space* const known = spaceOf(space)) addresses = libDw_->walk(*known, registers, sample.stack);
        spentNs_ += log::monotonicNs() - begunNs;
    }
    if (addresses.empty()) addresses = walkFramePointers(registers, sample.stack);
    if (knownCount_ > maxKnown) {
        known_.clear();
        knownCount_ = 0;
    }
    auto& known = known_[space];
    for (const uint64_t address : addresses) {
        const auto [place, isNew] = known.try_emplace(address, 0);
        if (isNew) {
            place->second = functionAt(space, address);
            ++knownCount_;
        }
        stack.functions.push_back(place->second);
    }
    stack.isWhole = isBeginning(space, addresses.back(), stack.functions.back(), addresses.size() == 1);
    return stack;
}

}  // namespace lanescope::capture
