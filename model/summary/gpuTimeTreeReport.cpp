// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "model/flame/RangeTree.h"
#include "model/summary/reportList.h"
#include "model/trace/categories.h"
#include "model/trace/hasWorkOfGpu.h"
#include "model/values/formatValue.h"
#include "model/values/knownRangeName.h"

namespace lanescope {

namespace {

std::string_view kindOf(const FlameTree::Frame& frame) {
    switch (frame.kind) {
        case FrameKind::All:
            return "all";
        case FrameKind::Step:
            return "step";
        case FrameKind::Operator:
            return "operator";
        case FrameKind::Range:
            return "range";
        case FrameKind::Work:
            break;
        case FrameKind::Unknown:
        case FrameKind::Function:
        case FrameKind::LibraryFunction:
        case FrameKind::Thread:
            return "unknown";
    }
    switch (frame.category) {
        case SliceCategory::Kernel:
        case SliceCategory::NcclKernel:
            return "kernel";
        case SliceCategory::Memset:
            return "memset";
        case SliceCategory::Graph:
            return "graph";
        default:
            return "memcpy";
    }
}

/// The rows of a tree, each before what lies in it.
class TreeRows {
  public:
    TreeRows(const RangeTree& tree, ReportTable& table) : all_(tree), table_(table) {}

    void add() {
        // As deep as the tree, which is bounded.
        if (!all_.tree.isEmpty()) add(0, std::nullopt);
    }

  private:
    void add(uint32_t index, std::optional<int64_t> parent) {
        const FlameTree::Node& node = all_.tree.nodes()[index];
        const RangeTree::Counts& counts = all_.counts[index];
        const auto number = static_cast<int64_t>(table_.rows.size());
        const std::string name(all_.tree.nameOf(index));
        const bool hasCalls = counts.calls > 0;
        table_.searches.push_back(searchFor(node.frame.kind, name));
        table_.rows.push_back(
            {number, parent ? Cell(*parent) : Cell(), static_cast<int64_t>(node.depth),
             std::string(kindOf(node.frame)),
             100.0 * static_cast<double>(node.totalNs) / static_cast<double>(all_.tree.totalNs()),
             node.totalNs, node.selfNs, hasCalls ? Cell(counts.calls) : Cell(),
             all_.steps > 0
                 ? Cell(static_cast<double>(counts.inStepsNs) / static_cast<double>(all_.steps))
                 : Cell(),
             name});
        for (const uint32_t child : all_.tree.childrenOf(index)) add(child, number);
    }
    static std::string searchFor(FrameKind kind, const std::string& name) {
        switch (kind) {
            case FrameKind::Step:
            case FrameKind::Range:
            case FrameKind::Operator:
                return std::string(searchedPart(name));
            case FrameKind::Work:
                return name;
            default:
                return {};
        }
    }

    const RangeTree& all_;
    ReportTable& table_;
};

ReportTable gpuTimeTree(const ReportQuery& query) {
    ReportTable table;
    table.style = ReportStyle::Tree;
    table.columns = {{"Id", Unit::Identifier},         {"Parent", Unit::Identifier},
                     {"Depth", Unit::Identifier},      {"Kind", Unit::Text},
                     {"Time", Unit::Percent},          {"Total Time", Unit::Nanoseconds},
                     {"Self Time", Unit::Nanoseconds}, {"Calls", Unit::Count},
                     {"Per Step", Unit::Nanoseconds},  {"Name", Unit::Text}};
    const RangeTree tree = makeRangeTree(
        query.trace,
        {.range = query.range, .stepName = query.rangeName, .hasPythonFunctions = false});
    TreeRows(tree, table).add();
    if (tree.steps > 0)
        table.notes.push_back(fmt::format(
            "Per Step is the mean of the {} step{} that explain tells of, on each GPU on its own.",
            formatCount(tree.steps), tree.steps == 1 ? "" : "s"));
    if (tree.gathered > 0)
        table.notes.push_back(fmt::format(
            "{} pieces of work count for what is around them: there are too many names, or too "
            "deep.",
            formatCount(tree.gathered)));
    return table;
}

}  // namespace

const Report gpuTimeTreeReport{
    .info = {.name = "gpu_time_tree",
             .title = "GPU Time by Step, Range, Operator and Kernel",
             .description =
                 "Time of GPUs by what it was for: step, range, operator and kernel, as one tree",
             .isDefault = false,
             .isByRange = true},
    .build = gpuTimeTree,
    .tab = {"GPU time", 6, [](const Trace& trace) { return hasWorkOfGpu(trace); }}};

}  // namespace lanescope
