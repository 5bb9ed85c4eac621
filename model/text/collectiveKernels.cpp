// SPDX-License-Identifier: Apache-2.0
#include "model/text/collectiveKernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/format/ncclFunctions.h"
#include "model/format/text.h"
#include "model/text/kernelNames.h"

namespace lanescope {

namespace {

constexpr std::string_view ncclSource = "NVIDIA/nccl and ROCm/rccl: src/device/generate.py";
constexpr std::string_view deepEpSource = "deepseek-ai/DeepEP: csrc/kernels";
constexpr std::string_view torchSource = "pytorch/pytorch: torch/csrc/distributed/c10d";
constexpr std::string_view ucxSource = "openucx/ucx: src/ucp/api/device, src/uct/cuda";

constexpr auto patterns = std::to_array<CollectivePattern>({
    // Up to 2.7 "ncclAllReduceRingLLKernel_sum_f32", then "ncclKernel_", "ncclDevKernel_" and "ncclSymkDevKernel_".
    {.begin = "nccl", .part = "Kernel", .source = ncclSource},
    {.project = "MSCCL", .begin = "msccl", .part = "Kernel", .source = ncclSource},
    {.project = "MSCCL++", .part = "mscclpp::", .source = "microsoft/mscclpp: src, apps/nccl"},
    {.project = "DeepEP", .part = "deep_ep::", .except = "::layout::", .source = deepEpSource},
    {.project = "DeepEP", .part = "hybrid_ep::dispatch", .source = deepEpSource},
    {.project = "DeepEP", .part = "hybrid_ep::combine", .source = deepEpSource},
    {.project = "UCCL", .part = "uccl::", .except = "::layout::", .source = "uccl-project/uccl: ep/src"},
    {.project = "MORI", .part = "mori::", .source = "ROCm/mori: src/ops/dispatch_combine"},
    {.project = "MORI", .begin = "EpDispatch", .source = "ROCm/mori: src/ops/dispatch_combine"},
    {.project = "MORI", .begin = "EpCombine", .source = "ROCm/mori: src/ops/dispatch_combine"},
    {.project = "pplx", .begin = "a2a_", .source = "perplexityai/pplx-garden: p2p-all-to-all"},
    {.project = "vLLM", .part = "vllm::cross_device_reduce", .source = "vllm-project/vllm: csrc/custom_all_reduce.cuh"},
    {.project = "SGLang",
     .part = "sglang::cross_device_reduce",
     .source = "sgl-project/sglang: sgl-kernel/csrc/allreduce"},
    {.project = "aiter",
     .part = "aiter::cross_device_reduce",
     .source = "ROCm/aiter: csrc/include/custom_all_reduce.cuh"},
    {.project = "custom", .part = "cross_device_reduce", .source = "vllm-project/vllm: csrc/custom_all_reduce.cuh"},
    {.project = "quick reduce", .part = "quickreduce::", .source = "vllm-project/vllm: csrc/quickreduce"},
    {.project = "PyTorch", .part = "c10d::symmetric_memory::", .source = torchSource},
    {.project = "PyTorch", .part = "c10d::intra_node_comm::", .source = torchSource},
    {.project = "PyTorch", .part = "c10d::nvshmem_extension::", .source = torchSource},
    {.project = "Transformer Engine",
     .part = "userbuffers_",
     .source = "NVIDIA/TransformerEngine: transformer_engine/common/comm_gemm_overlap/userbuffers"},
    {.project = "NVSHMEM", .part = "nvshmem", .except = "gemm", .source = "NVIDIA/nvshmem: src/device"},
    {.project = "rocSHMEM", .part = "rocshmem", .except = "gemm", .source = "ROCm/rocSHMEM: src"},
    {.project = "UCX", .begin = "ucp_", .source = ucxSource},
    {.project = "UCX", .begin = "uct_", .source = ucxSource},
    {.project = "UCX", .begin = "ucx_", .source = ucxSource},
    {.project = "UCC", .begin = "ucc_", .source = "openucx/ucc: src/components/tl/cuda/kernels"},
    {.project = "oneCCL", .part = "oneapi::ccl::", .source = "uxlfoundation/oneCCL: src/coll/algorithms"},
    {.project = "Apex", .part = "push_pull_halos", .source = "NVIDIA/apex: apex/contrib/csrc/peer_memory"},
});

/// Names of operations in lower case without separators, longest first where one begins another.
struct OperationWord {
    std::string_view word;
    std::string_view operation;
};
constexpr std::array operationWords{
    OperationWord{"allreduce", "AllReduce"}, OperationWord{"reducescatter", "ReduceScatter"},
    OperationWord{"allgather", "AllGather"}, OperationWord{"alltoall", "AlltoAll"},
    OperationWord{"all2all", "AlltoAll"},    OperationWord{"crossdevicereduce", "AllReduce"},
};

/// Libraries without own names for their kernels, by namespace. Their operations are found by the words above.
struct Owner {
    std::string_view space;
    std::string_view project;
};
constexpr std::array owners{
    Owner{"flashinfer::", "FlashInfer"},
    Owner{"tensorrt_llm::", "TensorRT-LLM"},
    Owner{"vllm::", "vLLM"},
    Owner{"sglang::", "SGLang"},
    Owner{"aiter::", "aiter"},
    Owner{"c10d::", "PyTorch"},
    Owner{"stream_executor::", "XLA"},
    Owner{"xla::", "XLA"},
};

/// Returns the name with namespaces, without return type, template arguments and parameters.
std::string_view qualifiedName(std::string_view name) {
    name = withoutReturnType(name);
    const std::string_view base = kernelBaseName(name);
    return name.substr(0, static_cast<size_t>(base.data() - name.data()) + base.size());
}

const CollectivePattern* patternOf(std::string_view qualified) {
    const auto found = std::ranges::find_if(patterns, [&](const CollectivePattern& each) {
        return qualified.starts_with(each.begin) && contains(qualified, each.part) &&
               (each.except.empty() || !contains(qualified, each.except));
    });
    return found == patterns.end() ? nullptr : &*found;
}

/// Returns the text in lower case without '_', '-' and ' '.
std::string compactName(std::string_view text) {
    std::string joined;
    for (const char c : text)
        if (c != '_' && c != '-' && c != ' ') joined += lowerCase(c);
    return joined;
}

std::string_view operationIn(std::string_view qualified) {
    const std::string joined = compactName(qualified);
    for (const OperationWord& each : operationWords)
        if (contains(joined, each.word)) return each.operation;
    return {};
}

constexpr std::array<std::string_view, 7> computing{"gemm",  "matmul",        "triton_",     "blockallreduce",
                                                    "cub::", "warpallreduce", "at::native::"};

/// Returns true if the name contains such a word but the kernel computes: parts of a block or warp, products fused with
/// a collective, and kernels that compilers name after the origin of their data.
bool isComputing(std::string_view qualified) {
    const std::string joined = compactName(qualified);
    return std::ranges::any_of(
        computing, [&](std::string_view word) { return contains(joined, word) || contains(qualified, word); });
}

/// Returns "AllReduce" of "ncclDevKernel_AllReduce_Sum_f32" and of "ncclAllReduceRingLLKernel_sum_f32".
std::string operationOfNccl(std::string_view qualified) {
    const size_t end = qualified.find("Kernel");
    std::string_view rest = qualified.substr(end);
    rest.remove_prefix(
        std::min(rest.size(), rest.find('_') == std::string_view::npos ? rest.size() : rest.find('_') + 1));
    const std::string_view before = qualified.substr(4, end - 4);
    const bool isInFront = !before.empty() && !before.ends_with("Dev");
    const std::string_view text = isInFront ? before : rest.substr(0, rest.find('_'));
    const NcclFunction* known = nullptr;
    for (const NcclFunction& each : ncclFunctions)
        if (text.starts_with(each.operation) && (known == nullptr || each.operation.size() > known->operation.size()))
            known = &each;
    if (text.starts_with("SendRecv")) return "SendRecv";
    if (known != nullptr && isInFront) return std::string(known->operation);
    // RCCL runs all its operations in one kernel.
    if (text.empty() || text == "Generic") return "collective";
    return std::string(text);
}

/// Returns the name of the function without the words that all kernels have.
std::string_view plainBase(std::string_view qualified) {
    std::string_view base = kernelBaseName(qualified);
    for (const std::string_view end : {"_kernel", "Kernel"})
        if (base.size() > end.size() && base.ends_with(end)) base.remove_suffix(end.size());
    return base;
}

}  // namespace

std::span<const CollectivePattern> collectivePatterns() { return patterns; }

std::vector<std::string_view> collectiveWords() {
    std::vector<std::string_view> words;
    for (const OperationWord& each : operationWords) words.push_back(each.word);
    return words;
}

std::vector<std::string_view> computingWords() { return {computing.begin(), computing.end()}; }

std::string collectiveOperation(std::string_view name) {
    if (name.starts_with("_Z")) {
        const std::string inSource = kernelNameInSource(name);
        return inSource.starts_with("_Z") ? std::string() : collectiveOperation(inSource);
    }
    const std::string_view qualified = qualifiedName(name);
    const CollectivePattern* const pattern = patternOf(qualified);
    if (pattern != nullptr && pattern->project.empty()) return operationOfNccl(qualified);
    const std::string_view operation = operationIn(qualified);
    const std::string_view called = operation.empty() ? plainBase(qualified) : operation;
    if (pattern != nullptr) return fmt::format("{} {}", pattern->project, called);
    if (operation.empty() || isComputing(qualified)) return {};
    for (const Owner& each : owners)
        if (contains(qualified, each.space)) return fmt::format("{} {}", each.project, operation);
    return fmt::format("custom {}", operation);
}

bool isNcclKernel(std::string_view name) {
    const CollectivePattern* const pattern = patternOf(qualifiedName(name));
    return pattern != nullptr && pattern->project.empty();
}

bool isGradientCollective(std::string_view name) {
    return isNcclKernel(name) && (contains(name, "AllReduce") || contains(name, "ReduceScatter"));
}

std::string_view libraryOf(std::string_view operation) {
    const size_t end = operation.rfind(' ');
    return end == std::string_view::npos ? std::string_view("NCCL") : operation.substr(0, end);
}

std::string withLibrary(std::string_view operation) {
    return contains(operation, " ") ? std::string(operation) : fmt::format("NCCL {}", operation);
}

}  // namespace lanescope
