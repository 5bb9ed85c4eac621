// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/LibDw.h"

#if __has_include(<elfutils/libdwfl.h>)
#define LANESCOPE_HAS_LIBDW_HEADER 1
#include <elfutils/libdwfl.h>
#endif
#include <unistd.h>

#include <cstring>

#include "capture/machine/DynamicLibrary.h"

namespace lanescope::capture {

#ifdef LANESCOPE_HAS_LIBDW_HEADER

struct LibDw::Functions {
    DynamicLibrary library{"libdw.so.1"};
    decltype(&::dwfl_begin) begin = library.need("dwfl_begin");
    decltype(&::dwfl_end) end = library.need("dwfl_end");
    decltype(&::dwfl_report_begin) reportBegin = library.need("dwfl_report_begin");
    decltype(&::dwfl_report_elf) reportElf = library.need("dwfl_report_elf");
    decltype(&::dwfl_report_end) reportEnd = library.need("dwfl_report_end");
    decltype(&::dwfl_attach_state) attachState = library.need("dwfl_attach_state");
    decltype(&::dwfl_getthread_frames) threadFrames = library.need("dwfl_getthread_frames");
    decltype(&::dwfl_thread_state_registers) setRegisters = library.need("dwfl_thread_state_registers");
    decltype(&::dwfl_thread_state_register_pc) setCounter = library.need("dwfl_thread_state_register_pc");
    decltype(&::dwfl_frame_pc) framePc = library.need("dwfl_frame_pc");
    decltype(&::dwfl_offline_section_address) sectionAddress = library.need("dwfl_offline_section_address");
};

/// Each sample in turn poses as the only thread of the process for libdw.
class LibDw::Space {
  public:
    explicit Space(const Functions& all) : functions(all) {}
    ~Space() {
        if (dwfl != nullptr) functions.end(dwfl);
    }

    const Functions& functions;
    Dwfl_Callbacks callbacks{};
    Dwfl* dwfl = nullptr;
    const PerfRegisters* registers = nullptr;
    std::span<const std::byte> memory;
    std::vector<uint64_t> walked;
};

namespace {

constexpr pid_t onlyThread = 1;

int noDebugFile(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) {
    return -1;  // The exception tables are in the file itself; nothing is fetched.
}

int noOtherFile(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

pid_t nextThread(Dwfl*, void* argument, void** thread) {
    if (*thread != nullptr) return 0;
    *thread = argument;
    return onlyThread;
}

bool getThread(Dwfl*, pid_t, void* argument, void** thread) {
    *thread = argument;
    return true;
}

bool readMemory(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* argument) {
    const auto& space = *static_cast<LibDw::Space*>(argument);
    const uint64_t offset = address - space.registers->stackPointer;
    if (offset >= space.memory.size() || space.memory.size() - offset < sizeof(*result)) return false;
    std::memcpy(result, space.memory.data() + offset, sizeof(*result));
    return true;
}

bool setRegisters(Dwfl_Thread* thread, void* argument) {
    const auto& space = *static_cast<LibDw::Space*>(argument);
    static_assert(sizeof(Dwarf_Word) == sizeof(uint64_t));
    if (!space.functions.setRegisters(thread, 0, static_cast<unsigned>(dwarfRegisterCount),
                                      reinterpret_cast<const Dwarf_Word*>(space.registers->values)))
        return false;
    space.functions.setCounter(thread, space.registers->programCounter);
    return true;
}

int takeFrame(Dwfl_Frame* frame, void* argument) {
    auto& space = *static_cast<LibDw::Space*>(argument);
    Dwarf_Addr counter = 0;
    bool isActive = false;
    if (!space.functions.framePc(frame, &counter, &isActive)) return DWARF_CB_ABORT;
    // The return address may be in the next function.
    space.walked.push_back(isActive ? counter : counter - 1);
    return space.walked.size() < maxNativeFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

constexpr Dwfl_Thread_Callbacks threadCallbacks{nextThread, getThread, readMemory, setRegisters, nullptr, nullptr};

}  // namespace

const char* LibDw::absence() { return "libdw.so.1 of elfutils is not installed"; }

LibDw::LibDw() : functions_(std::make_unique<Functions>()) {
    if (functions_->library.missing() != nullptr) functions_.reset();
}

LibDw::SpacePtr LibDw::makeSpace(std::vector<UnwindModule> modules) const {
    SpacePtr space(new Space(*functions_));
    space->callbacks.find_elf = noOtherFile;
    space->callbacks.find_debuginfo = noDebugFile;
    space->callbacks.section_address = functions_->sectionAddress;
    space->dwfl = functions_->begin(&space->callbacks);
    if (space->dwfl == nullptr) return nullptr;
    functions_->reportBegin(space->dwfl);
    for (const UnwindModule& module : modules) {
        const bool isTaken = functions_->reportElf(space->dwfl, module.path.c_str(), module.path.c_str(), module.file,
                                                   module.start, false) != nullptr;
        if (!isTaken && module.file >= 0) ::close(module.file);
    }
    if (functions_->reportEnd(space->dwfl, nullptr, nullptr) != 0 ||
        !functions_->attachState(space->dwfl, nullptr, onlyThread, &threadCallbacks, space.get()))
        return nullptr;
    return space;
}

std::vector<uint64_t> LibDw::walk(Space& space, const PerfRegisters& registers,
                                  std::span<const std::byte> memory) const {
    space.registers = &registers;
    space.memory = memory;
    space.walked = {};
    // The end of the stack determines whether it is complete.
    static_cast<void>(functions_->threadFrames(space.dwfl, onlyThread, takeFrame, &space));
    return std::move(space.walked);
}

#else

// Compiled without the header: all stacks are unwound by frame pointers.
struct LibDw::Functions {};
class LibDw::Space {};

const char* LibDw::absence() { return "this program was built without the header of elfutils' libdw"; }

LibDw::LibDw() = default;

LibDw::SpacePtr LibDw::makeSpace(std::vector<UnwindModule>) const { return nullptr; }

std::vector<uint64_t> LibDw::walk(Space&, const PerfRegisters&, std::span<const std::byte>) const { return {}; }

#endif

LibDw::~LibDw() = default;

LibDw::operator bool() const { return functions_ != nullptr; }

void LibDw::Deleter::operator()(Space* space) const { delete space; }

std::vector<uint64_t> walkFramePointers(const PerfRegisters& registers, std::span<const std::byte> memory) {
    std::vector<uint64_t> addresses{registers.programCounter};
    uint64_t frame = registers.framePointer;
    // The next frame must be at a higher address; otherwise it belongs to no stack.
    uint64_t minFrame = registers.stackPointer;
    while (addresses.size() < maxNativeFrames) {
        const uint64_t offset = frame - registers.stackPointer;
        uint64_t words[2];  // The frame of the caller and the return address.
        if (frame < minFrame || frame % sizeof(uint64_t) != 0 || offset > memory.size() ||
            memory.size() - offset < sizeof(words))
            break;
        std::memcpy(words, memory.data() + offset, sizeof(words));
        if (words[1] == 0) break;
        addresses.push_back(words[1] - 1);
        minFrame = frame + sizeof(words);
        frame = words[0];
    }
    return addresses;
}

}  // namespace lanescope::capture
