// SPDX-License-Identifier: Apache-2.0
#include "model/roofline/ShapedCalls.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/format/factNames.h"
#include "model/numbers/Statistics.h"
#include "model/roofline/OperatorCall.h"
#include "model/trace/rangeDomains.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// Meaning of a range for the work launched in it.
enum class RangeMeaning : uint8_t {
    None,
    Counted,     ///< An operator with known work.
    Known,       ///< An operator without such work: nothing to count.
    Unknown,     ///< An operator with a formula, of which shapes or values are missing.
    Masked,      ///< Attention without its mask, which the kernel may show.
    Checkpoint,  ///< A backward that repeats a forward.
    Backward,    ///< Another backward.
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Returns true for operators that may multiply matrices without a formula, such as recurrent layers.
bool mayMultiply(std::string_view name) {
    static constexpr std::array parts{"mm",   "mv",  "conv",   "attention", "linear", "matmul", "linalg", "rnn",
                                      "lstm", "gru", "sparse", "quantized", "fft",    "dot",    "einsum"};
    return std::ranges::any_of(parts, [name](std::string_view part) { return has(name, part); });
}

RangeMeaning meaningOf(std::string_view text, std::string_view payload, std::string_view domain) {
    if (domain == pythonDomain)
        return isRecomputation(text, text.substr(std::min(text.size(), text.rfind(' ') + 1))) ? RangeMeaning::Checkpoint
                                                                                              : RangeMeaning::None;
    if (has(text, "CheckpointFunctionBackward")) return RangeMeaning::Checkpoint;
    const bool isOperator = domain == operatorDomain || has(text, ", op_id = ") || has(text, ", sizes = [");
    if (!isOperator)
        return has(text, "Backward") && has(text, ", seq = ") ? RangeMeaning::Backward : RangeMeaning::None;
    const std::string_view name = text.substr(0, text.find(", "));
    if (hasFormula(name)) {
        const std::optional<OperatorCall> call = operatorCall(text, payload);
        if (call && workOf(*call)) return RangeMeaning::Counted;
        if (call && workOf(*call, 2, true)) return RangeMeaning::Masked;
        return isElementwise(name) ? RangeMeaning::Known : RangeMeaning::Unknown;
    }
    if (has(name, "Backward")) return RangeMeaning::Backward;
    return name.starts_with("aten::") && !mayMultiply(name) ? RangeMeaning::Known : RangeMeaning::None;
}

bool isOfCall(RangeMeaning meaning) { return meaning == RangeMeaning::Counted || meaning == RangeMeaning::Masked; }

/// Ranges with a meaning on the threads of a trace.
class MeaningfulRanges {
  public:
    struct Entry {
        int64_t startNs, endNs;
        uint32_t row;     ///< Row of `Trace::nvtx`.
        uint32_t parent;  ///< Place of the next range around it; `noIndex` if none.
        RangeMeaning meaning;
    };

    explicit MeaningfulRanges(const Trace& trace) : byThread_(trace.threads.size()) {
        const NvtxTable& ranges = trace.nvtx;
        std::unordered_map<uint64_t, RangeMeaning> known;
        for (uint32_t row = 0; row < ranges.size(); ++row) {
            if (ranges.thread[row] >= byThread_.size() || ranges.style[row] == NvtxStyle::Mark) continue;
            const std::string_view domain = trace.strings.at(ranges.domain[row]);
            if (!isCodeDomain(domain) && !domain.empty()) continue;
            const uint64_t key = uint64_t{ranges.text[row]} << 32 | ranges.payload[row];
            const auto [found, isNew] = known.try_emplace(key, RangeMeaning::None);
            if (isNew)
                found->second =
                    meaningOf(trace.strings.at(ranges.text[row]), trace.strings.at(ranges.payload[row]), domain);
            if (found->second == RangeMeaning::None) continue;
            byThread_[ranges.thread[row]].push_back(
                {ranges.startNs[row], ranges.endNs[row], row, noIndex, found->second});
            isAny_ = isAny_ || isOfCall(found->second);
        }
        for (std::vector<Entry>& entries : byThread_) nest(entries);
    }

    /// Returns true if some range has known work.
    bool isAny() const { return isAny_; }

    /// Returns the innermost operator around a time; null if none. Sets `isRepeated` to true for a repeated forward.
    const Entry* at(uint32_t thread, int64_t timeNs, bool& isRepeated) const {
        if (thread >= byThread_.size()) return nullptr;
        const std::vector<Entry>& entries = byThread_[thread];
        const auto after = std::ranges::upper_bound(entries, timeNs, {}, &Entry::startNs);
        uint32_t place = after == entries.begin() ? noIndex : static_cast<uint32_t>(after - entries.begin() - 1);
        while (place != noIndex && entries[place].endNs < timeNs) place = entries[place].parent;
        const Entry* found = nullptr;
        for (; place != noIndex; place = entries[place].parent) {
            const Entry& each = entries[place];
            if (each.meaning == RangeMeaning::Checkpoint || each.meaning == RangeMeaning::Backward) {
                if (found == nullptr) continue;
                isRepeated = each.meaning == RangeMeaning::Checkpoint;
                break;
            }
            if (found == nullptr) found = &each;
        }
        return found;
    }

  private:
    static void nest(std::vector<Entry>& entries) {
        std::ranges::sort(entries, {},
                          [](const Entry& each) { return std::tuple(each.startNs, -each.endNs, each.row); });
        uint32_t open = noIndex;
        for (uint32_t place = 0; place < entries.size(); ++place) {
            while (open != noIndex && entries[open].endNs <= entries[place].startNs) open = entries[open].parent;
            entries[place].parent = open;
            open = place;
        }
    }

    std::vector<std::vector<Entry>> byThread_;
    bool isAny_ = false;
};

/// Returns for each stack whether it repeats a forward within a backward.
class RepeatedStacks {
  public:
    explicit RepeatedStacks(const Trace& trace) : trace_(trace) {}

    bool holds(uint32_t stack) {
        if (stack >= trace_.stacks.size()) return false;
        const auto [found, isNew] = known_.try_emplace(stack, false);
        if (isNew) found->second = isRepeated(stack);
        return found->second;
    }

  private:
    bool isRepeated(uint32_t stack) const {
        for (const uint32_t frame : framesOf(trace_, stack)) {
            const std::string_view function = trace_.strings.at(trace_.stacks.function[frame]);
            const std::string_view file = trace_.strings.at(trace_.stacks.file[frame]);
            if (isRecomputation(file, function)) return true;
            // Within a repeated forward the engine is further out.
            if (has(function, "_engine_run_backward")) return false;
        }
        return false;
    }

    const Trace& trace_;
    std::unordered_map<uint32_t, bool> known_;
};

/// Adds up the kernels of each call, then finds the groups.
class Collector {
  public:
    explicit Collector(const Trace& trace)
        : trace_(trace), ranges_(trace), repeated_(trace), ownPlaces_(ranges_.isAny() ? ownPlaces(trace) : Places()) {}

    ShapedCalls collect() {
        if (!ranges_.isAny()) return {};
        forEachLaunchedWork(trace_, [this](const LaunchedWork& work) { take(work); });
        for (Call& each : calls_) finish(each);
        for (const auto& [kernel, call] : kernelCalls_)
            if (calls_[call].isCounted) result_.knownKernels.push_back(kernel);
        std::ranges::sort(result_.knownKernels);
        std::ranges::sort(result_.calls, {}, [](const ShapedCall& each) {
            return std::tuple(each.onGpu.startNs, each.onGpu.endNs, each.group);
        });
        return std::move(result_);
    }

  private:
    using Places = std::vector<uint32_t>;

    struct Call : ShapedCall {
        uint32_t range = 0;  ///< Row of `Trace::nvtx`.
        uint32_t process = 0, gpu = 0;
        PythonPlace place;
        bool isRepeated = false;
        EventRef longest;
        int64_t longestNs = -1;
        std::optional<bool> isCausal;  ///< By a kernel.
        bool isCounted = false;
    };

    std::string_view kernelName(EventRef kernel) const {
        return trace_.strings.at(trace_.launchConfigs.demangledName(trace_.kernels.config[kernel.row()]));
    }

    void take(const LaunchedWork& work) {
        if (work.work.kind() != EventKind::Kernel || work.thread >= trace_.threads.size() || work.call == noIndex ||
            trace_.launchConfigs.isCollective(trace_.kernels.config[work.work.row()]))
            return;
        const uint32_t node = work.node;
        const int64_t launchedNs = trace_.apiCalls.startNs[work.call];
        bool isRepeated = false;
        const MeaningfulRanges::Entry* range =
            node == noIndex ? ranges_.at(work.thread, launchedNs, isRepeated)
                            : ranges_.at(trace_.graphNodes.thread[node], trace_.graphNodes.timeNs[node], isRepeated);
        if (range == nullptr || range->meaning == RangeMeaning::Unknown) return;
        if (!isOfCall(range->meaning)) {
            result_.knownKernels.push_back(work.work.row());
            return;
        }
        const uint64_t replay = node == noIndex ? 0 : uint64_t{work.call} + 1;
        const auto [known, isNew] = numbers_.try_emplace(uint64_t{range->row} << 32 | replay, calls_.size());
        if (isNew) {
            Call& made = calls_.emplace_back();
            made.range = range->row;
            made.launchedNs = launchedNs;
            made.onGpu = work.times;
            made.process = trace_.threads[work.thread].process;
            made.gpu = work.gpu;
            made.place = work.place;
            made.isRepeated = isRepeated || repeated_.holds(work.place.isLent ? noIndex : work.place.stack);
        }
        Call& call = calls_[known->second];
        kernelCalls_.emplace_back(work.work.row(), static_cast<uint32_t>(known->second));
        if (!call.isCausal) call.isCausal = hasCausalMask(kernelName(work.work));
        call.launchedNs = std::min(call.launchedNs, launchedNs);
        call.onGpu = call.onGpu.united(work.times);
        call.kernelNs = saturatingSum(call.kernelNs, work.times.durationNs());
        if (work.times.durationNs() <= call.longestNs) return;
        call.longestNs = work.times.durationNs();
        call.longest = work.work;
    }

    using GroupKey = std::tuple<std::string, std::string, std::string_view, uint32_t, uint32_t, uint32_t, bool, bool>;

    void finish(Call& call) {
        const std::string_view kernel = kernelName(call.longest);
        const std::optional<OperatorCall> parsed = operatorCall(trace_.strings.at(trace_.nvtx.text[call.range]),
                                                                trace_.strings.at(trace_.nvtx.payload[call.range]));
        std::optional<OperatorWork> work =
            parsed ? workOf(*parsed, bytesOf(kernelPrecision(kernel)), call.isCausal) : std::nullopt;
        call.isCounted = work.has_value();
        if (!work) return;
        const std::string_view precision = precisionOf(work->precision, kernel);
        const uint32_t frame = call.place.stack < ownPlaces_.size() ? ownPlaces_[call.place.stack] : noIndex;
        const auto [known, isNew] = groups_.try_emplace({work->operation, work->shape, precision, call.process,
                                                         call.gpu, frame, call.place.isLent, call.isRepeated},
                                                        static_cast<uint32_t>(result_.groups.size()));
        if (isNew) {
            result_.groups.push_back({std::move(*work), precision, call.process, call.gpu, frame, call.place.isLent,
                                      call.isRepeated, call.longest});
            longestNs_.push_back(call.longestNs);
        }
        const uint32_t group = known->second;
        if (call.longestNs > longestNs_[group]) {
            longestNs_[group] = call.longestNs;
            result_.groups[group].kernel = call.longest;
        }
        result_.calls.push_back({group, call.launchedNs, call.onGpu, call.kernelNs});
    }

    const Trace& trace_;
    const MeaningfulRanges ranges_;
    RepeatedStacks repeated_;
    const Places ownPlaces_;  ///< By stack: the frame that represents its line.
    std::vector<Call> calls_;
    std::vector<std::pair<uint32_t, uint32_t>> kernelCalls_;  ///< Rows of kernels, and their calls.
    std::unordered_map<uint64_t, size_t> numbers_;            ///< Numbers of calls, by range and replay.
    std::map<GroupKey, uint32_t> groups_;
    std::vector<int64_t> longestNs_;  ///< By group.
    ShapedCalls result_;
};

}  // namespace

bool reportsShapes(const Trace& trace) {
    const NvtxTable& ranges = trace.nvtx;
    // Most traces have few texts, and none of them is of a shape.
    bool isPossible = trace.strings.size() > ranges.size();
    for (uint32_t text = 0; !isPossible && text < trace.strings.size(); ++text)
        isPossible = trace.strings.at(text) == operatorDomain || has(trace.strings.at(text), ", sizes = [");
    if (!isPossible) return false;
    std::vector<bool> isSeen(trace.strings.size());
    for (uint32_t row = 0; row < ranges.size(); ++row) {
        if (ranges.payload[row] != 0 && trace.strings.at(ranges.domain[row]) == operatorDomain) return true;
        if (isSeen[ranges.text[row]]) continue;
        isSeen[ranges.text[row]] = true;
        if (has(trace.strings.at(ranges.text[row]), ", sizes = [")) return true;
    }
    return false;
}

ShapedCalls shapedCalls(const Trace& trace) {
    return reportsShapes(trace) ? Collector(trace).collect() : ShapedCalls();
}

std::string placeOf(const Trace& trace, const ShapedGroup& group) {
    if (group.frame == noIndex) return {};
    return (group.isLent ? "called from " : "") + frameText(trace, group.frame);
}

}  // namespace lanescope
