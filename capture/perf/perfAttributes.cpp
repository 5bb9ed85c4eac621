// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/perfAttributes.h"

#include <asm/perf_regs.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
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
    return static_cast<size_t>(std::ranges::count_if(registers, [=](uint32_t each) { return each < wanted; }));
}

constexpr uint16_t isExecBit = 1 << 13;       // PERF_RECORD_MISC_COMM_EXEC
constexpr uint16_t isOutBit = 1 << 13;        // PERF_RECORD_MISC_SWITCH_OUT
constexpr uint16_t isPreemptedBit = 1 << 14;  // PERF_RECORD_MISC_SWITCH_OUT_PREEMPT

/// Reader of one field after the other. Missing fields are zero, and `isWhole` is then false.
class Fields {
  public:
    explicit Fields(std::span<const std::byte> bytes) : rest_(bytes) {}

    template <class Number>
    Number take() {
        Number number{};
        if (const auto bytes = take(sizeof(number)); !bytes.empty()) std::memcpy(&number, bytes.data(), sizeof(number));
        return number;
    }
    std::span<const std::byte> take(uint64_t bytes) {
        if (bytes > rest_.size()) {
            isWhole_ = false;
            rest_ = {};
            return {};
        }
        const auto taken = rest_.first(static_cast<size_t>(bytes));
        rest_ = rest_.subspan(static_cast<size_t>(bytes));
        return taken;
    }
    /// Returns the rest except the last `behind` bytes, as a zero-terminated text.
    std::string_view text(size_t bytesAfter) {
        if (rest_.size() < bytesAfter) {
            isWhole_ = false;
            return {};
        }
        const auto bytes = take(rest_.size() - bytesAfter);
        const auto* const begin = reinterpret_cast<const char*>(bytes.data());
        return {begin, ::strnlen(begin, bytes.size())};
    }
    bool isWhole() const { return isWhole_; }

  private:
    std::span<const std::byte> rest_;
    bool isWhole_ = true;
};

constexpr size_t placeBytes = 24;

PerfPlace takePlace(Fields& fields) {
    PerfPlace place{.process = fields.take<uint32_t>(),
                    .thread = fields.take<uint32_t>(),
                    .timeNs = static_cast<int64_t>(fields.take<uint64_t>())};
    place.core = fields.take<uint32_t>();
    fields.take<uint32_t>();
    return place;
}

bool readSample(Fields fields, uint16_t misc, size_t registerCount, PerfVisitor& visitor) {
    PerfSample sample;
    fields.take<uint64_t>();  // the address, which is also in the registers
    sample.place = takePlace(fields);
    sample.isInKernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    const bool has64 = fields.take<uint64_t>() == PERF_SAMPLE_REGS_ABI_64;
    if (has64) sample.registers = fields.take(registerCount * sizeof(uint64_t));
    // 32-bit programs are not supported.
    if (const uint64_t bytes = has64 ? fields.take<uint64_t>() : 0; bytes > 0) {
        const auto stack = fields.take(bytes);
        const auto used = fields.take<uint64_t>();
        sample.stack = stack.first(static_cast<size_t>(std::min<uint64_t>(used, stack.size())));
    }
    if (!fields.isWhole()) return false;
    visitor.visit(sample);
    return true;
}

bool readRecord(const perf_event_header& header, std::span<const std::byte> body, size_t registerCount,
                PerfVisitor& visitor) {
    Fields fields(body);
    const auto atEnd = [&] {
        Fields last(body.last(placeBytes));
        return takePlace(last);
    };
    const auto pass = [&](const auto& record) {
        if (fields.isWhole()) visitor.visit(record);
        return fields.isWhole();
    };
    switch (header.type) {
        case PERF_RECORD_SAMPLE: return readSample(fields, header.misc, registerCount, visitor);
        case PERF_RECORD_SWITCH: {
            const PerfPlace place = takePlace(fields);
            const bool isOut = (header.misc & isOutBit) != 0;
            return pass(PerfSwitch{place, !isOut, isOut && (header.misc & isPreemptedBit) != 0});
        }
        case PERF_RECORD_MMAP2: {
            PerfMapping mapping;
            fields.take<uint64_t>();
            mapping.address = fields.take<uint64_t>();
            mapping.bytes = fields.take<uint64_t>();
            mapping.fileOffset = fields.take<uint64_t>();
            fields.take(32);  // device, inode and protection
            mapping.file = fields.text(placeBytes);
            mapping.place = takePlace(fields);
            return pass(mapping);
        }
        case PERF_RECORD_COMM: {
            PerfName name;
            const auto process = fields.take<uint32_t>(), thread = fields.take<uint32_t>();
            name.name = fields.text(placeBytes);
            name.place = takePlace(fields);
            name.isExec = (header.misc & isExecBit) != 0;
            // Another thread may have set the name.
            name.place.process = process;
            name.place.thread = thread;
            return pass(name);
        }
        case PERF_RECORD_EXIT: {
            // The kernel ends its events before the thread finally leaves its core.
            fields.take<uint32_t>();
            fields.take<uint32_t>();
            if (!fields.isWhole() || body.size() < placeBytes) return false;
            visitor.visit(PerfSwitch{atEnd(), false, false});
            visitor.ended(atEnd());
            return true;
        }
        case PERF_RECORD_FORK: {
            PerfFork fork;
            const auto process = fields.take<uint32_t>();
            fork.parentProcess = fields.take<uint32_t>();
            const auto thread = fields.take<uint32_t>();
            fork.parentThread = fields.take<uint32_t>();
            if (!fields.isWhole() || body.size() < placeBytes) return false;
            fork.place = atEnd();
            fork.place.process = process;
            fork.place.thread = thread;
            return pass(fork);
        }
        case PERF_RECORD_LOST: fields.take<uint64_t>(); [[fallthrough]];
        case PERF_RECORD_LOST_SAMPLES: {
            const auto count = fields.take<uint64_t>();
            if (!fields.isWhole()) return false;
            visitor.lost(count);
            return true;
        }
        case PERF_RECORD_THROTTLE: visitor.throttled(); return true;
        default: return true;
    }
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

size_t dropEmptyStacks(std::span<std::byte> bytes, size_t registerCount) {
    size_t from = 0, to = 0;
    while (bytes.size() - from >= sizeof(perf_event_header)) {
        perf_event_header header;
        std::memcpy(&header, bytes.data() + from, sizeof(header));
        if (header.size < sizeof(header) || header.size > bytes.size() - from) break;
        const size_t next = from + header.size;
        // The address, the place and the registers precede the stack.
        const size_t size =
            from + sizeof(header) + sizeof(uint64_t) + placeBytes + (1 + registerCount) * sizeof(uint64_t);
        uint64_t whole = 0, used = 0;
        if (header.type == PERF_RECORD_SAMPLE && size + 2 * sizeof(whole) <= next) {
            std::memcpy(&whole, bytes.data() + size, sizeof(whole));
            std::memcpy(&used, bytes.data() + next - sizeof(used), sizeof(used));
        }
        const size_t head = size + sizeof(whole) - from;
        used = (used + 7) & ~uint64_t{7};
        if (whole > 0 && used < whole && whole == next - sizeof(used) - (from + head)) {
            const size_t kept = head + static_cast<size_t>(used);
            header.size = static_cast<uint16_t>(kept + (used > 0 ? sizeof(used) : 0));
            std::memmove(bytes.data() + to, bytes.data() + from, kept);
            std::memcpy(bytes.data() + to, &header, sizeof(header));
            std::memcpy(bytes.data() + to + head - sizeof(used), &used, sizeof(used));
            if (used > 0) std::memcpy(bytes.data() + to + kept, &used, sizeof(used));
        } else {
            std::memmove(bytes.data() + to, bytes.data() + from, header.size);
        }
        to += header.size;
        from = next;
    }
    std::memmove(bytes.data() + to, bytes.data() + from, bytes.size() - from);
    return to + bytes.size() - from;
}

size_t readPerfRecords(std::span<const std::byte> bytes, size_t registerCount, PerfVisitor& visitor) {
    size_t odd = 0;
    while (bytes.size() >= sizeof(perf_event_header)) {
        perf_event_header header;
        std::memcpy(&header, bytes.data(), sizeof(header));
        if (header.size < sizeof(header) || header.size > bytes.size()) break;
        if (!readRecord(header, bytes.subspan(sizeof(header), header.size - sizeof(header)), registerCount, visitor))
            odd += header.size;
        bytes = bytes.subspan(header.size);
    }
    return odd + bytes.size();
}

}  // namespace lanescope::capture
