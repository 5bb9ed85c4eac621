// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/trace/Trace.h"
#include "model/trace/kinds/workStacks.h"

namespace lanescope {

/// NVTX ranges that are open on each thread of a trace at a given time. Any thread.
class OpenRanges {
  public:
    /// `trace` must outlive this. Omits Python functions, which PyTorch's profilers write as
    /// ranges, unless `hasPythonFunctions`. O(tracks).
    OpenRanges(const Trace& trace, bool hasPythonFunctions);

    /// Returns rows of `Trace::nvtx`, from outside inwards. O(lanes of the thread * log n).
    std::vector<uint32_t> at(uint32_t thread, int64_t timeNs) const;
    /// Returns the thread with the most ranges of the process; `noIndex` if none has any.
    uint32_t leaderOf(uint32_t process) const { return leaderOf_[process]; }

  private:
    std::vector<std::vector<const Track*>> tracksOf_;
    std::vector<uint32_t> leaderOf_;
};

/// Begin of torch.profiler's name of a module's call, before its class and number, and of the categories of ranges of
/// `lanescope.torch.annotate`, before the class.
inline constexpr std::string_view moduleRangePrefix = "nn.Module: ";
/// End of the name of a range of `lanescope.torch.annotate` around a module's backward.
inline constexpr std::string_view backwardSuffix = " backward";

/// Attribute of a module of torch.compile: the module that it replaces.
inline constexpr std::string_view replacedModule = "_orig_mod";

/// Returns true for PyTorch's function that calls each module.
constexpr bool isTorchModuleCall(std::string_view file, std::string_view function) {
    return file.ends_with("torch/nn/modules/module.py") && function.ends_with("_call_impl");
}

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
