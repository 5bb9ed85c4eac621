// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lanescope {

/// Kind of computation of a kernel, by its name.
enum class KernelFamily : uint8_t {
    MatrixProduct,
    Attention,
    Convolution,
    Normalization,
    Softmax,
    Elementwise,
    Reduction,   ///< Also scans and losses.
    Conversion,  ///< To another number type.
    Movement,    ///< Copies, concatenations, transposes.
    Layout,      ///< Conversions between the layouts of convolutions, padding included.
    Optimizer,
    Sort,
    Random,
    Index,  ///< Gather, scatter, embeddings, selection.
    Fill,
    Pooling,
    Decomposition,  ///< Matrix decompositions and triangular solvers.
    Fourier,
    Communication,
    Other,
};
/// "matrix products", "elementwise".
std::string_view name(KernelFamily family);
/// The same for files and programs: "matrix_product".
std::string_view identifier(KernelFamily family);

/// Number type in which a kernel multiplies, or double precision of any kernel.
enum class KernelPrecision : uint8_t { Unknown, Fp64, Fp32, Tf32, Fp16, Bf16, Fp8, Int8 };
/// "fp64", "tf32"; "unknown".
std::string_view identifier(KernelPrecision precision);

/// Property of a kernel that its name shows and that changes the advice.
enum class KernelTrait : uint8_t {
    None,
    ChannelsFirst,   ///< Works only on the layout NCHW.
    Unaligned,       ///< Tensor core product that reads single values, since sizes are no multiple of 8 (4 for TF32).
    Foreach,         ///< One operation of an optimizer on a list of tensors.
    SortedGradient,  ///< Gradient of an index operation or embedding, summed in sorted order.
    LogSoftmax,
    Tuning,      ///< A compiler tries algorithms.
    Triangular,  ///< Solves with triangular matrices, or Cholesky and LU decompositions, which need few operations.
};
/// "none", "channels_first".
std::string_view identifier(KernelTrait trait);

/// Program that made or calls a kernel, as far as its name shows.
enum class KernelOrigin : uint8_t { Unknown, PyTorch, Inductor, Xla };

struct KernelClass {
    KernelFamily family = KernelFamily::Other;
    KernelPrecision precision = KernelPrecision::Unknown;
    KernelTrait trait = KernelTrait::None;
    KernelOrigin origin = KernelOrigin::Unknown;

    /// Returns true if a compiler fused what it could into the kernel.
    bool isCompiled() const { return origin == KernelOrigin::Inductor || origin == KernelOrigin::Xla; }
    bool operator==(const KernelClass&) const = default;
};

/// Kernels of one family, recognized by their names. All given texts must match.
struct FamilyPattern {
    KernelFamily family = KernelFamily::Other;
    std::string_view begin = {};     ///< Start of the name without return type.
    std::string_view part = {};      ///< Text anywhere in the name.
    std::string_view alsoPart = {};  ///< Another such text.
    std::string_view word = {};      ///< Text in the function's own name, in lower case.
    std::string_view except = {};    ///< Text that this name does not contain, in lower case.
    std::string_view source = {};    ///< Public source of the names.
};

/// Sources of compilers, which name kernels of all origins.
inline constexpr std::string_view tritonSource = "pytorch/pytorch: torch/_inductor/codegen/triton.py";
inline constexpr std::string_view xlaSource = "openxla/xla: xla/service/gpu";

/// Returns the table in kernelFamilies.txt, the only place that decides about families. The first match counts.
std::span<const FamilyPattern> familyPatterns();

/// Returns true if the demangled name of a kernel has a floating-point type of at most 32 bits. O(length); any thread.
bool hasLowerFloat(std::string_view name);

/// Returns true for PyTorch's conversions to 16 bits, reductions by "any", attention that takes no mask, and kernels
/// named after a backward pass, by the demangled name. O(length); any thread.
bool convertsTo16Bits(std::string_view kernel);
bool isAnyReduction(std::string_view kernel);
/// Returns true for a kernel that tests values for equality, as for NaN, which differs from itself.
bool isEqualityTest(std::string_view kernel);
bool takesNoMask(std::string_view kernel);
/// Returns true for attention that cuDNN generates for each new shape.
bool isCudnnAttention(std::string_view kernel);
bool isNamedBackward(std::string_view kernel);

/// Returns the number type in which a kernel of that demangled name multiplies. O(length); any thread.
KernelPrecision productPrecision(std::string_view kernel);

/// Returns the class of a kernel by its demangled name. O(patterns * length); any thread.
KernelClass kernelClass(std::string_view name);

}  // namespace lanescope
