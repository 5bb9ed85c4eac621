// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/export/TextSink.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"

namespace lanescope {

/// What a frame of a `FlameTree` stands for.
enum class FrameKind : uint8_t {
    All,              ///< The root.
    Function,         ///< Of the program's own Python.
    LibraryFunction,  ///< Of Python's library or an installed package.
    Thread,           ///< One that launched for the stack of another.
    Step,             ///< What the run does again and again.
    Range,            ///< An NVTX range.
    Operator,         ///< A call of an operator of PyTorch, or an operation of XLA.
    Work,             ///< What ran on a GPU.
    Unknown,          ///< Nothing is known of what launched it.
};

/// Time on GPUs over what it was spent for: frames within frames, from outside inwards, and what
/// ran as the innermost. Frames of one name at one place are one. Built by one thread; once
/// arranged, any thread may read it.
class FlameTree {
  public:
    /// What a frame is called, and what it is.
    struct Frame {
        FrameKind kind = FrameKind::Function;
        SliceCategory category = SliceCategory::CpuFrame;  ///< As the timeline draws it.
        uint32_t stack = noIndex;  ///< Of a function: a row of `Trace::stacks` that ends with it.
    };
    struct Node {
        uint32_t name = 0;  ///< As `nameOf` tells it.
        uint32_t parent = noIndex;
        uint32_t depth = 0;   ///< 0 of the root, which is all.
        int64_t selfNs = 0;   ///< Not in any frame within it.
        int64_t totalNs = 0;  ///< With all that is in it.
        int64_t startNs = 0;  ///< Of all that stands left of it at its depth.
        uint32_t firstChild = 0, childCount = 0;
        Frame frame;
        int64_t endNs() const { return startNs + totalNs; }
    };

    FlameTree();
    /// The number of a text among names; the same for equal texts. O(length).
    uint32_t nameNumber(std::string_view text);
    /// The frame of that name within `parent`. If there is none it is made, or it is `noIndex`
    /// where none is to be made. O(1).
    uint32_t child(uint32_t parent, uint32_t name, const Frame& frame, bool isMade = true);
    /// Adds time that was spent in a frame itself; none for what is not above 0.
    void addTime(uint32_t node, int64_t ns);
    /// Adds time to a path of frames, the last of which is work.
    void add(const std::vector<std::string>& frames, int64_t ns);
    /// Sums up and puts the longest first among siblings. Call once all is added. O(n log n).
    void arrange();

    /// The root stands first, and parents before their children.
    const std::vector<Node>& nodes() const { return nodes_; }
    std::string_view nameOf(uint32_t node) const { return names_[nodes_[node].name]; }
    const std::vector<std::string>& names() const { return names_; }
    /// The longest first.
    std::span<const uint32_t> childrenOf(uint32_t node) const;
    /// All frames of a depth by where they start; they do not overlap.
    std::span<const uint32_t> row(uint32_t depth) const;
    uint32_t depth() const { return static_cast<uint32_t>(rowEnds_.size()) - 1; }
    int64_t totalNs() const { return nodes_.front().totalNs; }
    bool isEmpty() const { return totalNs() == 0; }
    /// The innermost frame that has all but a hundredth of the time, if it has frames within it:
    /// what stands around it says nothing yet. 0 is the root. O(depth).
    uint32_t firstSplit() const;
    /// From the root to the frame, both with it. O(depth).
    std::vector<uint32_t> pathTo(uint32_t node) const;

  private:
    void sumUp();
    void orderRows();

    std::vector<Node> nodes_;
    std::vector<std::string> names_;
    struct TextHash {
        size_t operator()(const std::string& text) const {
            return static_cast<size_t>(mixed(std::string_view(text)));
        }
    };
    std::unordered_map<std::string, uint32_t, TextHash> numberOf_;
    MixedMap<uint64_t, uint32_t> childOf_;  ///< By parent and name.
    std::vector<uint32_t> rows_;            ///< All nodes, depth by depth.
    std::vector<uint32_t> rowEnds_;         ///< Where a depth ends in `rows_`.
};

/// What a search finds in a tree.
struct FlameMatches {
    std::vector<bool> isMatch;  ///< By node; empty if nothing is searched for.
    uint32_t frames = 0;
    /// The time of all stacks that hold a match, each counted once however many of its frames do.
    int64_t ns = 0;
};

/// Tests each name once. O(names and nodes).
FlameMatches matchFrames(const FlameTree& tree,
                         const std::function<bool(std::string_view name)>& matches);

/// Writes a frame of the tree and what is in it as a picture: a row for each depth, that frame (0
/// for all) at the top, each frame as wide as its share of its time, with its name and time as the
/// title that browsers show under the pointer. What would be narrower than a third of a pixel is
/// left out. Names are set as text only. Needs nothing beside it and has no script. O(nodes).
void writeFlameSvg(const FlameTree& tree, uint32_t root, std::string_view title,
                   const TextSink& sink);

}  // namespace lanescope
