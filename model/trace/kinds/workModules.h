// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/trace/Trace.h"
#include "model/trace/kinds/OpenRanges.h"
#include "model/trace/kinds/workStacks.h"

namespace lanescope {

/// A module of a PyTorch model: a `torch.nn.Module`.
struct Module {
    uint32_t outer = noIndex;  ///< Index of the module around it, a lower one; `noIndex` if none.
    std::string name;          ///< "attn", its path in the outer module if known, else its class.
    std::string type;          ///< "Attention"; empty if unknown.
    std::string path;          ///< "GPT.layers.3.attn".
    std::string rangePath;     ///< As the names of ranges have it: "layers.3.attn".
};

/// Modules whose calls launched the work of a trace, or were open when its CUDA graph was captured. They are known by
/// the Python stack, else by ranges of `lanescope.torch.annotate` or torch.profiler; for a backward by its forward. One
/// thread.
class WorkModules {
  public:
    /// `trace` must outlive this. O(stacks + ranges).
    explicit WorkModules(const Trace& trace);

    bool isEmpty() const { return modules_.empty() && !hasRanges_; }
    /// Returns true if the recorder read modules, not only functions, so that paths of attributes may be known.
    bool areRecorded() const { return areRecorded_; }
    /// Returns the index of the innermost module; `noIndex` if unknown. Index of the same path for the same module.
    /// O(log n).
    uint32_t of(const LaunchedWork& work);
    uint32_t of(EventRef work) { return of(launchedWork(trace_, work)); }
    /// Returns the module of a row of `Trace::stacks`; `noIndex` if none.
    uint32_t ofStack(uint32_t stack) const { return stack < ofStack_.size() ? ofStack_[stack] : noIndex; }
    /// Grows by `of` if ranges have modules.
    const std::vector<Module>& modules() const { return modules_; }

  private:
    uint32_t child(uint32_t outer, std::string_view name, std::string_view type, std::string_view rangePath = {});
    void findInStacks();
    uint32_t inRanges(uint32_t thread, int64_t timeNs, bool isForward);

    const Trace& trace_;
    OpenRanges ranges_;
    std::vector<Module> modules_;
    std::map<std::tuple<uint32_t, std::string, std::string>, uint32_t> indexOf_;
    std::vector<uint32_t> ofStack_;  ///< By row of `Trace::stacks`.
    bool areRecorded_ = false, hasRanges_ = false;
    std::pair<uint32_t, int64_t> last_{noIndex, 0};  ///< Thread and time of `lastModule_`.
    uint32_t lastModule_ = noIndex;
};

/// Returns what torch.compile replaced by the kernel of an event, "aten.addmm, aten.relu of model.py:12"; empty if
/// unknown.
std::string compiledOperators(const Trace& trace, EventRef work);

}  // namespace lanescope
