// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// By what NCCL Inspector measured how long an operation took.
enum class InspectorTiming : uint8_t {
    Unsaid,         ///< As the first versions.
    KernelGpu,      ///< By the GPU's own clock.
    KernelCpu,      ///< By when the CPU saw its kernel begin and end.
    CollectiveCpu,  ///< By the CPU, from the call on; of its kernel nothing is known.
};
/// "kernel_gpu"; for `Unsaid` "not said".
std::string_view identifier(InspectorTiming timing);
inline constexpr size_t inspectorTimings = 4;

/// Whose records are, and when they were written.
struct InspectorContext {
    uint64_t communicator = 0;
    StringIndex communicatorName = 0;
    StringIndex host = 0;
    int64_t writtenNs = 0;  ///< Since 1970; 0 if it is not said.
    uint32_t pid = 0;
    int32_t rank = -1, rankCount = -1;
};

/// An operation of NCCL as a line tells of it. Times are since 1970.
struct InspectorOperation {
    InspectorContext of;
    StringIndex operation = 0, algorithm = 0, protocol = 0;
    int64_t bytes = -1, sequence = -1;
    int64_t durationNs = 0;
    int32_t peer = -1;
    int16_t channels = -1;
    InspectorTiming timing = InspectorTiming::Unsaid;
    std::optional<TimeRange> call;    ///< On the CPU.
    std::optional<int64_t> kernelNs;  ///< When the first of its channels began.
    bool isAtWriting = false;         ///< Its time is made of when it was written down.
    TimeRange range() const {         ///< Where it lies once it is placed.
        const int64_t startNs = kernelNs ? *kernelNs : call->startNs;
        return {startNs, startNs + durationNs};
    }
    bool hasKernel() const { return timing != InspectorTiming::CollectiveCpu && kernelNs; }
};

/// What a file of NCCL Inspector says, and what of it could not be read.
struct InspectorFile {
    explicit InspectorFile(LargeMemory* memory) : operations(memory) {}

    /// A kind of thing that is left out: how many there are, and the line of the first.
    struct Left {
        int64_t count = 0;
        int64_t firstLine = 0;
        void add(int64_t line) {
            if (count++ == 0) firstLine = line;
        }
    };

    LargeVector<InspectorOperation> operations;
    std::array<int64_t, inspectorTimings> timings{};  ///< How many of each.
    std::set<std::string> versions;                   ///< Of the format, a few.
    Left damaged;    ///< Places that are no JSON, or none that ends.
    Left texts;      ///< Lines of text.
    Left others;     ///< Objects that are nothing of NCCL Inspector.
    Left kinds;      ///< Its records of other kinds than operations.
    Left ownerless;  ///< Operations of which nothing says whose they are.
    Left untimed;    ///< Operations without a time or a duration that can be.
    int64_t droppedCollectives = 0, droppedMessages = 0;  ///< As the program itself counted.
    bool isCut = false;                                   ///< It ends in the middle.
    bool isTooLong = false;                               ///< The rest of it was left.
    uint64_t bytes = 0;                                   ///< Unpacked.
    std::optional<Error> readError;                       ///< Why there is no more of it.
};

/// Takes the records of a file in their order.
class InspectorRecords {
  public:
    /// Both are kept as long as this.
    InspectorRecords(TraceBuilder& builder, InspectorFile& file) : builder_(builder), file_(file) {}

    /// A whole object of JSON that begins in that line. O(length).
    void take(std::string_view object, int64_t line);
    /// What lies between objects and could not be read.
    void pass(std::string_view damaged);

  private:
    struct Parts;
    InspectorContext contextOf(const Parts& parts);
    void takeOperation(std::string_view text, const InspectorContext& of, bool isMessage,
                       int64_t line);
    void takeStats(std::string_view text, const InspectorContext& of);

    TraceBuilder& builder_;
    InspectorFile& file_;
    // From format 4.3 on a batch begins with whose it is, and its records do not repeat that.
    std::optional<InspectorContext> batch_;
    int64_t leftOfBatch_ = 0;
};

}  // namespace lanescope
