// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// The source of the duration of an operation in NCCL Inspector.
enum class InspectorTiming : uint8_t {
    Unknown,        ///< As in the first versions.
    KernelGpu,      ///< GPU clock.
    KernelCpu,      ///< Begin and end of the kernel as seen by the CPU.
    CollectiveCpu,  ///< The CPU, from the call on. Nothing is known about its kernel.
};
/// Returns "kernel_gpu", or "not said" for `Unknown`.
std::string_view identifier(InspectorTiming timing);
inline constexpr size_t inspectorTimings = 4;

struct InspectorContext {
    uint64_t communicator = 0;
    StringIndex communicatorName = 0;
    StringIndex host = 0;
    int64_t writtenNs = 0;  ///< Since 1970; 0 if unknown.
    uint32_t pid = 0;
    int32_t rank = -1, rankCount = -1;
};

/// An NCCL operation as described by a line. Times are since 1970.
struct InspectorOperation {
    InspectorContext of;
    StringIndex operation = 0, algorithm = 0, protocol = 0;
    int64_t bytes = -1, sequence = -1;
    int64_t durationNs = 0;
    int32_t peer = -1;
    int16_t channels = -1;
    InspectorTiming timing = InspectorTiming::Unknown;
    std::optional<TimeRange> call = {};    ///< On the CPU.
    std::optional<int64_t> kernelNs = {};  ///< Start of the first channel.
    bool isTimedByWriting = false;         ///< The time is derived from the writing time.
    TimeRange range() const {
        const int64_t startNs = kernelNs ? *kernelNs : call->startNs;
        return {startNs, startNs + durationNs};
    }
    bool hasKernel() const { return timing != InspectorTiming::CollectiveCpu && kernelNs; }
};

/// The contents of an NCCL Inspector file and its unreadable parts.
struct InspectorFile {
    explicit InspectorFile(LargeMemory* memory) : operations(memory) {}

    /// A kind of skipped content: number of occurrences and first line.
    struct Skips {
        int64_t count = 0;
        int64_t firstLine = 0;
        void add(int64_t line) {
            if (count++ == 0) firstLine = line;
        }
    };

    LargeVector<InspectorOperation> operations;
    std::array<int64_t, inspectorTimings> timings{};      ///< Number of each.
    std::set<std::string> versions;                       ///< A few format versions.
    Skips damaged;                                        ///< Places with invalid or unterminated JSON.
    Skips texts;                                          ///< Lines of text.
    Skips others;                                         ///< Objects that are not from NCCL Inspector.
    Skips kinds;                                          ///< Records of other kinds than operations.
    Skips ownerless;                                      ///< Operations without an owner.
    Skips untimed;                                        ///< Operations without a valid time or duration.
    int64_t droppedCollectives = 0, droppedMessages = 0;  ///< As counted by the recorded program.
    bool isTruncated = false;                             ///< The file is truncated.
    bool isTooLong = false;                               ///< The rest was not read.
    uint64_t bytes = 0;                                   ///< Decompressed.
    std::optional<Error> readError;                       ///< The reason for a premature end.
};

/// Reads the records of a file in order.
class InspectorRecords {
  public:
    /// Both must outlive this object.
    InspectorRecords(TraceBuilder& builder, InspectorFile& file) : builder_(builder), file_(file) {}

    /// Reads a complete JSON object that begins in that line. O(length).
    void take(std::string_view object, int64_t line);
    void pass(std::string_view damaged);

  private:
    struct Parts;
    InspectorContext contextOf(const Parts& parts);
    void takeOperation(std::string_view text, const InspectorContext& of, bool isMessage, int64_t line);
    void takeStats(std::string_view text, const InspectorContext& of);

    TraceBuilder& builder_;
    InspectorFile& file_;
    // From format 4.3 on, a batch begins with its context, which its records do not repeat.
    std::optional<InspectorContext> batch_;
    int64_t droppedOfBatch_ = 0;
};

/// Emits the operations of an untrusted NCCL Inspector log of NVIDIA or AMD. Adds health notes on
/// unreadable parts. Reads at most `maxBytes`. `fractionRead` returns the fraction of the file
/// that was read. Fails if no byte can be read or if cancelled. O(n log n).
Result<void> readInspectorTrace(const ByteSource& source, TraceBuilder& builder,
                                const std::function<double()>& fractionRead, const LoadProgress& progress,
                                uint64_t maxBytes);

}  // namespace lanescope
