// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/export/exportTrace.h"
#include "model/format/TimeRange.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope {

enum class FrameKind : uint8_t {
    All,              ///< The root.
    Function,         ///< Python function of the program.
    LibraryFunction,  ///< Function of Python's library or of an installed package.
    Thread,           ///< Thread that launched for the stack of another one.
    Step,             ///< Repeated step of the run.
    Range,            ///< NVTX range.
    Operator,         ///< Call of a PyTorch operator, or XLA operation.
    Work,             ///< Work on a GPU.
    Unknown,          ///< The launch is unknown.
};

/// Time on GPUs by cause: nested frames from outside inwards, with the work as the innermost. Frames of one name in one
/// parent are merged. Built by one thread; any thread can read it once arranged.
class FlameTree {
  public:
    /// Kind and appearance of a frame.
    struct Frame {
        FrameKind kind = FrameKind::Function;
        SliceCategory category = SliceCategory::CpuFrame;  ///< As drawn on the timeline.
        uint32_t stack = noIndex;  ///< For a function: a row of `Trace::stacks` that ends with it.
    };
    struct Node {
        uint32_t name = 0;  ///< Number of the name; see `nameOf`.
        uint32_t parent = noIndex;
        uint32_t depth = 0;   ///< 0 for the root.
        int64_t selfNs = 0;   ///< Outside of its child frames.
        int64_t totalNs = 0;  ///< Including its child frames.
        int64_t startNs = 0;  ///< Total of the frames left of it at its depth.
        uint32_t firstChild = 0, childCount = 0;
        Frame frame;
        int64_t endNs() const { return startNs + totalNs; }
    };

    FlameTree();
    /// Returns the number of a name, the same for equal texts. O(length).
    uint32_t nameNumber(std::string_view text);
    /// Returns the frame of that name within `parent`. A missing one is created, or `noIndex` without `isMade`. O(1).
    uint32_t child(uint32_t parent, uint32_t name, const Frame& frame, bool isMade = true);
    /// Adds time of a frame itself; times not above 0 are ignored.
    void addTime(uint32_t node, int64_t ns);
    /// Adds time to a path of frames that ends with work.
    void add(const std::vector<std::string>& frames, int64_t ns);
    /// Computes totals and sorts siblings, the longest first. Call once after the last addition. O(n log n).
    void arrange();

    /// The root is first, and parents precede their children.
    const std::vector<Node>& nodes() const { return nodes_; }
    std::string_view nameOf(uint32_t node) const { return names_[nodes_[node].name]; }
    const std::vector<std::string>& names() const { return names_; }
    /// Longest first.
    std::span<const uint32_t> childrenOf(uint32_t node) const;
    /// Returns all frames of a depth by start; they do not overlap.
    std::span<const uint32_t> row(uint32_t depth) const;
    uint32_t depth() const { return static_cast<uint32_t>(rowEnds_.size()) - 1; }
    int64_t totalNs() const { return nodes_.front().totalNs; }
    bool isEmpty() const { return totalNs() == 0; }
    /// Returns the innermost frame with children and 99 % of the time: those around say nothing. O(depth).
    uint32_t firstSplit() const;
    /// Returns the path from the root to the frame, inclusive. O(depth).
    std::vector<uint32_t> pathTo(uint32_t node) const;

  private:
    void sumUp();
    void orderRows();

    std::vector<Node> nodes_;
    std::vector<std::string> names_;
    struct TextHash {
        size_t operator()(const std::string& text) const { return static_cast<size_t>(mixed(std::string_view(text))); }
    };
    std::unordered_map<std::string, uint32_t, TextHash> numberOf_;
    MixedMap<uint64_t, uint32_t> childOf_;  ///< By parent and name.
    std::vector<uint32_t> rows_;            ///< All nodes, depth by depth.
    std::vector<uint32_t> rowEnds_;         ///< End of each depth in `rows_`.
};

struct FlameMatches {
    std::vector<bool> isMatch;  ///< By node; empty without a search.
    uint32_t frames = 0;
    /// Time of all stacks with a match, each counted once.
    int64_t ns = 0;
};

/// Tests each name once. O(names and nodes).
FlameMatches matchFrames(const FlameTree& tree, const std::function<bool(std::string_view name)>& matches);

/// Writes a frame of the tree (0 for all) with its child frames as an SVG: one row per depth with that frame at the
/// top. Widths are shares of its time, and tooltips show name and time. Frames narrower than a third of a pixel are
/// omitted. Names are escaped. The file is self-contained and has no script. O(nodes).
void writeFlameSvg(const FlameTree& tree, uint32_t root, std::string_view title, const TextSink& sink);

/// Grouping of time on GPUs.
enum class FlameBase : uint8_t {
    Lines,      ///< Launching Python stacks, separate by line.
    Functions,  ///< Launching Python stacks, merged by function.
    Ranges,     ///< Launching steps, NVTX ranges and operators (`RangeTree`).
    Modules,    ///< Modules of a PyTorch model (`WorkModules`).
};

/// Returns "GPU time by Python line".
std::string_view describe(FlameBase base);

/// Returns true if the trace has data for the grouping.
bool hasBase(const Trace& trace, FlameBase base);

/// Returns the arranged tree of time on GPUs; with a range, of the parts of work inside. Work
/// launched for another thread's stack is below the name of its thread in brackets; for `Ranges`
/// its place is that of `RangeTree`. O(stacks + work), for `Ranges` as `makeRangeTree`. Any thread.
FlameTree makeFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range = {});

/// Writes a frame of a tree (0 for all) with its child frames as folded text for flame graph tools. Each path with time
/// of its own is a line: its frames from the outermost inwards, separated by semicolons, then a blank and nanoseconds.
/// Names are `printable`, with colons for semicolons. Lines are sorted by text. O(n log n) and the length of the text.
void writeFolded(const FlameTree& tree, uint32_t root, const TextSink& sink);

/// Frame of each stack of a trace in a tree, below a given frame. A stack is its caller's stack plus one frame, so each
/// frame is visited once, however deep the stacks are. Refers to trace and tree.
class StackPlaces {
  public:
    StackPlaces(const Trace& trace, FlameBase base, FlameTree& tree, uint32_t root = 0)
        : trace_(trace), base_(base), tree_(tree), root_(root) {}

    /// `noIndex` means no stack.
    uint32_t of(uint32_t stack);

  private:
    uint32_t within(uint32_t outer, uint32_t frame);
    std::string nameOf(uint32_t frame, std::string_view file) const;

    const Trace& trace_;
    FlameBase base_;
    FlameTree& tree_;
    uint32_t root_;
    std::unordered_map<uint32_t, uint32_t> places_;
};

/// Returns the arranged tree of thread times: processes, threads, stacks. Stacks come from CPU samples while running,
/// else from thread state samples. Time not running is in a last frame named after the state in brackets: "[GIL]".
/// `base` selects lines or functions; `Ranges` means functions. O(states and frames). Any thread.
FlameTree makeThreadFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range = {});

/// Names of GPU work in a tree, each made once. Copies are named by direction. Refers to trace and tree. One thread.
class WorkNames {
  public:
    WorkNames(const Trace& trace, FlameTree& tree) : trace_(trace), tree_(tree) {}

    /// Returns the number among the names of the tree.
    uint32_t numberOf(EventRef work);
    FlameTree::Frame frameOf(EventRef work) const;

  private:
    const Trace& trace_;
    FlameTree& tree_;
    MixedMap<uint64_t, uint32_t> known_;
};

/// Tree of time on GPUs by steps, ranges, operators and work.
///
/// Work is below the ranges that were open on the launching thread. Some threads launch for another thread: PyTorch's
/// autograd, a thread with a lent stack, a thread without ranges. Their ranges are below those of the thread with the
/// steps of the process, else of the thread with most ranges. Ranges of other threads are below the step of that
/// thread. Steps that are no single range are frames of their own.
struct RangeTree {
    /// Counts of a frame other than its time, including its child frames.
    struct Counts {
        /// Pieces of work, or ranges that launched some.
        int64_t calls = 0;
        int64_t inStepsNs = 0;  ///< Time of work of the steps that `steps` counts.
    };
    FlameTree tree;              ///< Arranged.
    std::vector<Counts> counts;  ///< By node.
    /// Steps as in `explain`, counted once per GPU; within the range of time if there is one.
    int64_t steps = 0;
    /// Pieces of work that were added to an outer frame because of the limits of frames and depth.
    int64_t gathered = 0;

    static constexpr uint32_t maxNodes = 1u << 16, maxDepth = 64;
};

struct RangeTreeOptions {
    std::optional<TimeRange> range = {};  ///< Only the part of each piece of work inside counts.
    std::string stepName = {};            ///< As `StepSelection::rangeName`.
    bool hasPythonFunctions = true;       ///< Includes Python functions, which PyTorch's profilers write as ranges.
};

/// O(n log n) in the events, and O(work * nesting depth * log n). Any thread.
RangeTree makeRangeTree(const Trace& trace, const RangeTreeOptions& options = {});

}  // namespace lanescope
