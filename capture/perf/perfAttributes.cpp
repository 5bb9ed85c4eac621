// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/perfAttributes.h"

#include <asm/perf_regs.h>
#include <elf.h>

#include <algorithm>
#include <iterator>

namespace lanescope::capture {

namespace {

#if defined(__x86_64__)
constexpr uint16_t machine = EM_X86_64;
/// In DWARF's order.
constexpr uint32_t registers[] = {
    PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,  PERF_REG_X86_DI,
    PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
    PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15, PERF_REG_X86_IP};
constexpr uint32_t counter = PERF_REG_X86_IP, stack = PERF_REG_X86_SP, frame = PERF_REG_X86_BP;
#elif defined(__aarch64__)
constexpr uint16_t machine = EM_AARCH64;
constexpr uint32_t registers[] = {
    PERF_REG_ARM64_X0,  PERF_REG_ARM64_X1,  PERF_REG_ARM64_X2,  PERF_REG_ARM64_X3,  PERF_REG_ARM64_X4,
    PERF_REG_ARM64_X5,  PERF_REG_ARM64_X6,  PERF_REG_ARM64_X7,  PERF_REG_ARM64_X8,  PERF_REG_ARM64_X9,
    PERF_REG_ARM64_X10, PERF_REG_ARM64_X11, PERF_REG_ARM64_X12, PERF_REG_ARM64_X13, PERF_REG_ARM64_X14,
    PERF_REG_ARM64_X15, PERF_REG_ARM64_X16, PERF_REG_ARM64_X17, PERF_REG_ARM64_X18, PERF_REG_ARM64_X19,
    PERF_REG_ARM64_X20, PERF_REG_ARM64_X21, PERF_REG_ARM64_X22, PERF_REG_ARM64_X23, PERF_REG_ARM64_X24,
    PERF_REG_ARM64_X25, PERF_REG_ARM64_X26, PERF_REG_ARM64_X27, PERF_REG_ARM64_X28, PERF_REG_ARM64_X29,
    PERF_REG_ARM64_LR,  PERF_REG_ARM64_SP,  PERF_REG_ARM64_PC};
constexpr uint32_t counter = PERF_REG_ARM64_PC, stack = PERF_REG_ARM64_SP, frame = PERF_REG_ARM64_X29;
#else
#error "Sampled registers are supported on x86-64 and 64-bit Arm only."
#endif

constexpr uint64_t maskOfAll() {
    uint64_t mask = 0;
    for (const uint32_t each : registers) mask |= uint64_t{1} << each;
    return mask;
}

/// Returns the index at which the kernel writes a register: in the order of the bits.
constexpr size_t placeOf(uint32_t wanted) {
    size_t place = 0;
    for (const uint32_t each : registers)
        if (each < wanted) ++place;
    return place;
}

}  // namespace

const uint16_t perfMachine = machine;
const size_t perfRegisterCount = std::size(registers);
// Arm's program counter has no DWARF number that unwinders accept.
const size_t dwarfRegisterCount = std::min<size_t>(std::size(registers), 32);

perf_event_attr perfAttributes(const PerfSettings& settings) {
    perf_event_attr asked{};
    asked.size = sizeof(asked);
    asked.type = PERF_TYPE_SOFTWARE;
    asked.config = PERF_COUNT_SW_CPU_CLOCK;
    asked.sample_period = static_cast<uint64_t>(1e9 / std::clamp(settings.hz, 1.0, maxPerfHz));
    asked.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER |
                        PERF_SAMPLE_STACK_USER;
    asked.sample_regs_user = maskOfAll();
    asked.sample_stack_user = settings.stackBytes & ~7u;
    asked.disabled = 1;
    asked.enable_on_exec = 1;
    asked.inherit = 1;
    asked.exclude_kernel = settings.seesKernel ? 0 : 1;
    asked.exclude_hv = 1;
    asked.exclude_guest = 1;
    asked.mmap = 1;
    asked.mmap2 = 1;
    asked.comm = 1;
    asked.comm_exec = 1;
    asked.task = 1;
    asked.context_switch = 1;
    asked.sample_id_all = 1;
    asked.use_clockid = 1;
    asked.clockid = CLOCK_MONOTONIC;
    asked.watermark = 1;
    return asked;
}

PerfRegisters dwarfRegisters(const uint64_t* values) {
    PerfRegisters all;
    for (size_t number = 0; number < std::size(registers); ++number)
        all.values[number] = values[placeOf(registers[number])];
    all.programCounter = values[placeOf(counter)];
    all.stackPointer = values[placeOf(stack)];
    all.framePointer = values[placeOf(frame)];
    return all;
}

}  // namespace lanescope::capture
