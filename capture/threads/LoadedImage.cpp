// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/LoadedImage.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace lanescope::capture {

namespace {

constexpr uint16_t mostProgramHeaders = 64;
constexpr uint64_t mostDynamicEntries = 256;
constexpr uint32_t mostInChain = 4'096;
constexpr uint64_t pageMask = ~uint64_t{4'095};

/// As the linker hashes names (DT_GNU_HASH).
uint32_t hashOf(std::string_view name) {
    uint32_t hash = 5'381;
    for (const char character : name) hash = hash * 33 + static_cast<unsigned char>(character);
    return hash;
}

}  // namespace

std::optional<LoadedImage> LoadedImage::at(const agent::python::Memory& memory, uint64_t address) {
    Elf64_Ehdr header{};
    if (!memory.get(address, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
        return std::nullopt;
    LoadedImage image(memory);
    bool hasBase = false;
    Elf64_Phdr dynamic{};
    const uint16_t count = std::min(header.e_phnum, mostProgramHeaders);
    for (uint16_t i = 0; i < count; ++i) {
        Elf64_Phdr segment{};
        if (!memory.get(address + header.e_phoff + i * sizeof segment, segment))
            return std::nullopt;
        if (segment.p_type == PT_LOAD && segment.p_offset == 0 && !hasBase) {
            image.base_ = address - (segment.p_vaddr & pageMask);
            hasBase = true;
        }
        if (segment.p_type == PT_DYNAMIC) dynamic = segment;
    }
    if (!hasBase || dynamic.p_memsz == 0 ||
        !image.readDynamic(image.base_ + dynamic.p_vaddr, dynamic.p_memsz))
        return std::nullopt;
    return image;
}

bool LoadedImage::readDynamic(uint64_t address, uint64_t bytes) {
    const uint64_t count = std::min<uint64_t>(bytes / sizeof(Elf64_Dyn), mostDynamicEntries);
    for (uint64_t i = 0; i < count; ++i) {
        Elf64_Dyn entry{};
        if (!memory_->get(address + i * sizeof entry, entry)) return false;
        if (entry.d_tag == DT_NULL) break;
        // glibc puts addresses of this process there, others leave those of the file.
        const uint64_t value =
            entry.d_un.d_ptr < base_ ? entry.d_un.d_ptr + base_ : entry.d_un.d_ptr;
        if (entry.d_tag == DT_SYMTAB) symbols_ = value;
        if (entry.d_tag == DT_STRTAB) names_ = value;
        if (entry.d_tag == DT_GNU_HASH) hashes_ = value;
    }
    return symbols_ != 0 && names_ != 0 && hashes_ != 0;
}

bool LoadedImage::isNamed(uint64_t text, std::string_view name) const {
    std::array<char, 64> found{};
    if (name.size() >= found.size() || !memory_->read(text, found.data(), name.size() + 1))
        return false;
    return found[name.size()] == '\0' && std::string_view(found.data(), name.size()) == name;
}

std::optional<LoadedImage::Symbol> LoadedImage::find(std::string_view name) const {
    // The table begins with its sizes; behind them a filter of words, then buckets, then chains.
    std::array<uint32_t, 4> sizes{};
    if (!memory_->get(hashes_, sizes)) return std::nullopt;
    const auto [buckets, firstSymbol, filterWords, shift] = sizes;
    if (buckets == 0) return std::nullopt;
    const uint32_t hash = hashOf(name);
    const uint64_t bucketsAt = hashes_ + sizeof sizes + uint64_t{filterWords} * 8;
    const uint64_t chainsAt = bucketsAt + uint64_t{buckets} * 4;
    uint32_t symbol = 0;
    if (!memory_->get(bucketsAt + uint64_t{hash % buckets} * 4, symbol) || symbol < firstSymbol)
        return std::nullopt;
    for (uint32_t step = 0; step < mostInChain; ++step, ++symbol) {
        uint32_t chained = 0;
        if (!memory_->get(chainsAt + uint64_t{symbol - firstSymbol} * 4, chained))
            return std::nullopt;
        if ((chained | 1) == (hash | 1)) {
            Elf64_Sym found{};
            if (!memory_->get(symbols_ + uint64_t{symbol} * sizeof found, found))
                return std::nullopt;
            if (found.st_shndx != SHN_UNDEF && isNamed(names_ + found.st_name, name))
                return Symbol{base_ + found.st_value, found.st_size};
        }
        if ((chained & 1) != 0) return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace lanescope::capture
