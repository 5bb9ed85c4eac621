// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/ElfFile.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "capture/perf/perfAttributes.h"
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

}  // namespace lanescope::capture
