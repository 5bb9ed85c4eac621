// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "capture/perf/perfAttributes.h"

namespace lanescope::test {

/// Synthetic records in the kernel's format.
class PerfBytes {
  public:
    template <class Number>
    PerfBytes& put(Number number) {
        const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
        all.insert(all.end(), bytes, bytes + sizeof(number));
        return *this;
    }
    PerfBytes& place(uint32_t process, uint32_t thread, int64_t timeNs, uint32_t core = 0) {
        return put(process).put(thread).put(timeNs).put(core).put(uint32_t{0});
    }
    PerfBytes& text(std::string_view text) {
        const size_t padded = (text.size() + 8) / 8 * 8;
        for (size_t at = 0; at < padded; ++at)
            all.push_back(static_cast<std::byte>(at < text.size() ? text[at] : '\0'));
        return *this;
    }
    PerfBytes& begin(uint32_t type, uint16_t misc) {
        begun_ = all.size();
        return put(type).put(misc).put(uint16_t{0});
    }
    PerfBytes& end() {
        const auto bytes = static_cast<uint16_t>(all.size() - begun_);
        std::memcpy(all.data() + begun_ + 6, &bytes, sizeof(bytes));
        return *this;
    }

    PerfBytes& change(uint32_t process, uint32_t thread, int64_t timeNs, bool isIn, bool isPreempted = false) {
        const int misc = (isIn ? 0 : 1 << 13) | (isPreempted ? 1 << 14 : 0);
        return begin(PERF_RECORD_SWITCH, static_cast<uint16_t>(misc)).place(process, thread, timeNs).end();
    }
    PerfBytes& mapping(uint32_t process, int64_t timeNs, uint64_t address, uint64_t bytes, uint64_t offset,
                       std::string_view file) {
        begin(PERF_RECORD_MMAP2, 2).put(process).put(process);
        put(address).put(bytes).put(offset);
        for (int each = 0; each < 4; ++each) put(uint64_t{0});
        return text(file).place(process, process, timeNs).end();
    }
    PerfBytes& name(uint32_t process, uint32_t thread, int64_t timeNs, std::string_view name, bool isExec) {
        begin(PERF_RECORD_COMM, static_cast<uint16_t>(isExec ? 1 << 13 : 0));
        return put(process).put(thread).text(name).place(process, thread, timeNs).end();
    }
    PerfBytes& fork(uint32_t process, uint32_t parent, int64_t timeNs) {
        begin(PERF_RECORD_FORK, 0).put(process).put(parent).put(process).put(parent);
        return put(timeNs).place(parent, parent, timeNs).end();
    }
    PerfBytes& exit(uint32_t process, uint32_t thread, int64_t timeNs) {
        begin(PERF_RECORD_EXIT, 0).put(process).put(uint32_t{1}).put(thread).put(uint32_t{1});
        return put(timeNs).place(process, thread, timeNs).end();
    }
    PerfBytes& lost(uint64_t count) {
        return begin(PERF_RECORD_LOST, 0).put(uint64_t{1}).put(count).place(1, 1, 1).end();
    }
    /// Adds a sample whose registers are zero except those of the stack.
    PerfBytes& sample(uint32_t process, uint32_t thread, int64_t timeNs, uint64_t counter, uint64_t stackPointer,
                      uint64_t framePointer, std::span<const uint64_t> stack, bool isInKernel = false) {
        begin(PERF_RECORD_SAMPLE, isInKernel ? 1 : 2).put(counter).place(process, thread, timeNs);
        put(uint64_t{PERF_SAMPLE_REGS_ABI_64});
        // The reader itself maps registers to their meaning.
        for (size_t at = 0; at < capture::perfRegisterCount; ++at) {
            std::vector<uint64_t> one(capture::perfRegisterCount);
            one[at] = 1;
            const capture::PerfRegisters known = capture::dwarfRegisters(one.data());
            put(known.programCounter == 1 ? counter
                : known.stackPointer == 1 ? stackPointer
                : known.framePointer == 1 ? framePointer
                                          : uint64_t{0});
        }
        put(uint64_t{stack.size_bytes()});
        for (const uint64_t word : stack) put(word);
        if (!stack.empty()) put(uint64_t{stack.size_bytes()});
        return end();
    }

    std::vector<std::byte> all;

  private:
    size_t begun_ = 0;
};

}  // namespace lanescope::test
