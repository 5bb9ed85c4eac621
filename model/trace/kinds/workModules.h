// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

// Python stacks of single events, and of all GPU work. Any thread.

/// Python stack of a call.
struct PythonPlace {
    uint32_t stack = noIndex;  ///< Row of `Trace::stacks`; `noIndex` if unknown.
    bool isLent = false;       ///< As `ApiTable::isStackLent`.
    bool isCaptured = false;   ///< The stack is that of the capture of the kernel's CUDA graph, not of its launch.
};

/// Returns the place of a range, a call, or the call that launched the work. For a kernel of a CUDA
/// graph that is the place of its node, or if unknown of the graph's launch. O(log n).
PythonPlace pythonPlace(const Trace& trace, EventRef event);

/// Returns the row of `Trace::graphNodes` that launched a kernel; `noIndex` if none. O(log n).
uint32_t graphNodeOf(const Trace& trace, EventRef kernel);

/// Returns the display line of an event's place: "train.py:212 in GPT.forward"; "called from train.py:212 in step" for
/// another thread's stack; "called at capture: train.py:88 in forward". Empty if unknown. O(frames + log n).
std::string pythonLine(const Trace& trace, EventRef event);

struct LaunchedWork {
    EventRef work;
    TimeRange times;
    uint32_t gpu = noIndex;   ///< Index into `Trace::gpus`.
    uint32_t call = noIndex;  ///< Row of `Trace::apiCalls`; `noIndex` if unknown.
    PythonPlace place = {};
    uint32_t thread = noIndex;  ///< Calling thread: that of the call, or that of the capture.
    uint32_t node = noIndex;    ///< Row of `Trace::graphNodes`: the captured node of a kernel in a graph.
};

/// Returns a piece of work with the call that launched it; of a call or a range its own place. O(log n).
LaunchedWork launchedWork(const Trace& trace, EventRef work);

/// Visits all work, by kind and start. O(calls and work).
void forEachLaunchedWork(const Trace& trace, const std::function<void(const LaunchedWork&)>& visit);

/// Returns for each row of `Trace::stacks` the frame that represents it on one line (`ownFrame`),
/// the same for all stacks with the same line. O(stacks log stacks).
std::vector<uint32_t> ownPlaces(const Trace& trace);

class WorkModules;

/// Search term for the Python stacks of events, as typed: "line:train.py:212", "file:data.py",
/// "function:forward", "module:layers.3". Case-insensitive.
struct StackTerm {
    enum class Part : uint8_t {
        Line,      ///< Line of a file: the end of its path, the number, or both.
        File,      ///< Part of the path of a file.
        Function,  ///< Part of the name of a function.
        Module,    ///< Part of the path of a module, or its class (`WorkModules`).
    };
    Part part = Part::Function;
    std::string text;   ///< Lower case; for a line the path, which may be empty.
    uint32_t line = 0;  ///< For a line; 0 for any.
    bool operator==(const StackTerm&) const = default;
};

/// Typed text, split into stack terms and the rest, whose words are separated by blanks.
struct TypedTerms {
    std::vector<StackTerm> stack;
    std::string rest;
};

/// Extracts the stack terms from typed text; values may be quoted and contain blanks. Words that
/// only resemble a term ("function::call", "file:") stay in the rest. O(length).
TypedTerms splitTerms(std::string_view typed);

/// Stacks of a trace that have a matching frame, and events with a matching module, for each term. One thread.
class StackFilter {
  public:
    /// `trace` must outlive the filter. O(stacks * terms).
    StackFilter(const Trace& trace, const std::vector<StackTerm>& terms);
    ~StackFilter();

    /// Returns true if the stack of an event (`pythonPlace`) and its module pass; without a stack only without such
    /// terms. O(log n).
    bool holds(EventRef event) const;
    bool isAny() const { return isAny_; }

  private:
    const Trace& trace_;
    bool isAny_, isAnyStack_ = true;
    std::vector<bool> holds_;
    std::vector<std::string> modules_;  ///< Lower case.
    std::unique_ptr<WorkModules> modulesOf_;
};

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
