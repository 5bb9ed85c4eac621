// SPDX-License-Identifier: Apache-2.0
#include "capture/log/clocks.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>

#include "model/format/UniqueFd.h"

namespace lanescope::log {

namespace {

/// Returns a name that is equal for processes with the same CLOCK_MONOTONIC.
std::string monotonicClockName() {
    char text[128];
    std::string name;
    const UniqueFd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    if (file >= 0) name.assign(text, readAll(file, text, sizeof text));
    while (!name.empty() && name.back() == '\n') name.pop_back();
    const ssize_t bytes = ::readlink("/proc/self/ns/time", text, sizeof text);
    if (bytes > 0) name.append("/").append(text, static_cast<size_t>(bytes));
    return name;
}

#if defined(__aarch64__)
constexpr std::string_view kernelClockName = "__kernel_clock_gettime";
#else
constexpr std::string_view kernelClockName = "__vdso_clock_gettime";
#endif

int readClockBySystemCall(clockid_t clock, timespec* time) {
    return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
}

/// Returns the clock function in the library that the kernel maps into each process; null without one.
detail::ClockReader mappedClockReader() {
    const auto* const image = reinterpret_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR));
    if (image == nullptr) return nullptr;
    const auto& head = *reinterpret_cast<const ElfW(Ehdr)*>(image);
    const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(image + head.e_phoff);
    const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(image + head.e_shoff);
    constexpr uint64_t pageBytes = 4096;
    const std::byte* loaded = nullptr;  // address 0 of the image
    uint64_t mappedBytes = 0;
    for (int i = 0; i < head.e_phnum && loaded == nullptr; ++i) {
        if (segments[i].p_type != PT_LOAD) continue;
        loaded = image + segments[i].p_offset - segments[i].p_vaddr;
        mappedBytes = (segments[i].p_offset + segments[i].p_memsz + pageBytes - 1) / pageBytes * pageBytes;
    }
    // Some kernels and emulators map the segments only, without the table of sections.
    if (head.e_shoff == 0 || head.e_shoff + head.e_shnum * sizeof(ElfW(Shdr)) > mappedBytes) return nullptr;
    for (int i = 0; i < head.e_shnum && loaded != nullptr; ++i) {
        const auto& section = sections[i];
        if (section.sh_type != SHT_DYNSYM || section.sh_link >= head.e_shnum) continue;
        const auto* const names = reinterpret_cast<const char*>(image + sections[section.sh_link].sh_offset);
        const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(image + section.sh_offset);
        for (size_t k = 0; k < section.sh_size / sizeof *symbols; ++k)
            if (symbols[k].st_shndx != SHN_UNDEF && names + symbols[k].st_name == kernelClockName)
                return reinterpret_cast<detail::ClockReader>(const_cast<std::byte*>(loaded + symbols[k].st_value));
    }
    return nullptr;
}

}  // namespace

int detail::findClockReader(clockid_t clock, timespec* time) {
    ClockReader found = mappedClockReader();
    timespec tried{};
    if (found == nullptr || found(clock, &tried) != 0) found = &readClockBySystemCall;
    clockReader.store(found, std::memory_order_relaxed);
    return found(clock, time);
}

std::string eventClockText() { return std::to_string(eventOffsetNs()) + "@" + monotonicClockName(); }

void setEventClock(std::string_view text) {
    int64_t offsetNs = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offsetNs);
    const std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
    if (error != std::errc() || offsetNs == 0 || !rest.starts_with('@')) return;
    const std::string own = monotonicClockName();
    if (!own.empty() && rest.substr(1) == own) setEventOffset(offsetNs);
}

}  // namespace lanescope::log
