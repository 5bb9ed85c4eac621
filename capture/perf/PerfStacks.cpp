// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/PerfStacks.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "capture/log/clocks.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"

namespace lanescope::capture {

namespace {

constexpr size_t maxSymbols = 20'000'000;  ///< Maximum symbols read in all tables of a file.
constexpr size_t maxSegments = 256, maxSections = 4'096, maxNameBytes = 65'536;
/// Maximum code length assigned to a symbol without a size.
constexpr uint64_t maxUnsizedBytes = 1 << 20;

/// Returns the struct at `offset`, or nullopt if it is not completely inside.
template <class Struct>
std::optional<Struct> structAt(std::span<const std::byte> bytes, uint64_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(Struct)) return std::nullopt;
    Struct found;
    std::memcpy(&found, bytes.data() + offset, sizeof(found));
    return found;
}

bool liesWithin(std::span<const std::byte> bytes, uint64_t offset, uint64_t length) {
    return offset <= bytes.size() && length <= bytes.size() - offset;
}

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

std::optional<ElfFile> ElfFile::open(const std::string& path) {
    const Result<UniqueFd> file = openRegularFile(path);
    if (!file) return std::nullopt;
    struct stat facts {};
    void* memory = MAP_FAILED;
    if (::fstat(*file, &facts) == 0 && facts.st_size > 0)
        memory = ::mmap(nullptr, static_cast<size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, *file, 0);
    if (memory == MAP_FAILED) return std::nullopt;
    ElfFile elf({static_cast<const std::byte*>(memory), static_cast<size_t>(facts.st_size)});
    elf.isMapped_ = true;
    if (!elf.readHeads()) return std::nullopt;
    return elf;
}

std::optional<ElfFile> ElfFile::at(std::span<const std::byte> bytes) {
    ElfFile elf(bytes);
    if (!elf.readHeads()) return std::nullopt;
    return elf;
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : bytes_(other.bytes_),
      isMapped_(std::exchange(other.isMapped_, false)),
      hasSymbols_(other.hasSymbols_),
      executable_(std::move(other.executable_)),
      firstAddress_(other.firstAddress_),
      entry_(other.entry_),
      symbols_(std::move(other.symbols_)) {}

ElfFile::~ElfFile() {
    if (isMapped_) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

bool ElfFile::readHeads() {
    const auto head = structAt<Elf64_Ehdr>(bytes_, 0);
    if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_machine != perfMachine || head->e_phentsize < sizeof(Elf64_Phdr))
        return false;
    entry_ = head->e_entry;
    bool isFirst = true;
    for (uint64_t number = 0; number < head->e_phnum; ++number) {
        const auto part = structAt<Elf64_Phdr>(bytes_, head->e_phoff + number * head->e_phentsize);
        if (!part) return false;
        if (part->p_type != PT_LOAD) continue;
        if (std::exchange(isFirst, false)) firstAddress_ = part->p_vaddr & -std::max<uint64_t>(part->p_align, 1);
        if ((part->p_flags & PF_X) != 0 && executable_.size() < maxSegments)
            executable_.push_back({part->p_offset, part->p_vaddr, part->p_filesz});
    }
    return !executable_.empty();
}

std::optional<uint64_t> ElfFile::bias(uint64_t address, uint64_t fileOffset) const {
    static const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    for (const Part& part : executable_) {
        const uint64_t from = part.offset & ~(page - 1);
        if (fileOffset < from || fileOffset - from >= part.offset - from + part.fileBytes) continue;
        return address - (part.address + (fileOffset - part.offset));
    }
    return std::nullopt;
}

void ElfFile::readTable(uint64_t symbols, uint64_t symbolBytes, uint64_t names, uint64_t nameBytes, size_t& left) {
    if (!liesWithin(bytes_, symbols, symbolBytes) || !liesWithin(bytes_, names, nameBytes)) return;
    const size_t count = static_cast<size_t>(symbolBytes) / sizeof(Elf64_Sym);
    for (size_t number = 0; number < count && left > 0; ++number, --left) {
        const Elf64_Sym symbol = *structAt<Elf64_Sym>(bytes_, symbols + number * sizeof(Elf64_Sym));
        const auto type = ELF64_ST_TYPE(symbol.st_info);
        const bool isCode = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
        if (!isCode || symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || symbol.st_name == 0 ||
            symbol.st_name >= nameBytes)
            continue;
        // Arm's marks of data among code are no functions.
        if (bytes_[names + symbol.st_name] == std::byte{'$'}) continue;
        symbols_.push_back({symbol.st_value, symbol.st_size, names + symbol.st_name});
    }
}

void ElfFile::readSymbols() {
    const Elf64_Ehdr head = *structAt<Elf64_Ehdr>(bytes_, 0);
    if (head.e_shentsize < sizeof(Elf64_Shdr)) return;
    const auto section = [&](uint64_t number) {
        return structAt<Elf64_Shdr>(bytes_, head.e_shoff + number * head.e_shentsize);
    };
    const uint64_t sections = std::min<uint64_t>(head.e_shnum, maxSections);
    size_t left = maxSymbols;
    // If a file has all its symbols, the dynamic ones are among them.
    for (const uint32_t wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
        for (uint64_t number = 0; number < sections && symbols_.empty(); ++number) {
            const auto table = section(number);
            if (!table || table->sh_type != wanted) continue;
            if (const auto names = section(table->sh_link))
                readTable(table->sh_offset, table->sh_size, names->sh_offset, names->sh_size, left);
        }
    }
    // Sorts the longest of several symbols at one address first; it covers most of the following code.
    std::ranges::sort(symbols_, [](const Symbol& a, const Symbol& b) {
        if (a.address != b.address) return a.address < b.address;
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
    });
    const auto isSame = [](const Symbol& a, const Symbol& b) { return a.address == b.address; };
    symbols_.erase(std::unique(symbols_.begin(), symbols_.end(), isSame), symbols_.end());
    symbols_.shrink_to_fit();
}

std::string_view ElfFile::nameAt(uint64_t address) {
    if (!std::exchange(hasSymbols_, true)) readSymbols();
    auto at = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
    if (at == symbols_.begin()) return {};
    const Symbol& symbol = *std::prev(at);
    uint64_t bytes = symbol.bytes;
    if (bytes == 0)
        bytes = at == symbols_.end() ? maxUnsizedBytes : std::min(at->address - symbol.address, maxUnsizedBytes);
    if (address - symbol.address >= bytes) return {};
    const auto* const text = reinterpret_cast<const char*>(bytes_.data()) + symbol.name;
    return {text, ::strnlen(text, std::min<size_t>(bytes_.size() - symbol.name, maxNameBytes))};
}

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
    if (const auto known = files_.find(number); known != files_.end()) return known->second ? &*known->second : nullptr;
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
    if (const auto known = unwound_.find(number); known != unwound_.end()) return known->second.get();
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
