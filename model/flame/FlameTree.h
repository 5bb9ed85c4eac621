// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/export/exportTrace.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"

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

}  // namespace lanescope
