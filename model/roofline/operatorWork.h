// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/roofline/OperatorCall.h"

namespace lanescope {

/// Work of one call of an operator, counted from its shapes.
struct OperatorWork {
    OperatorKind kind = OperatorKind::Product;
    std::string operation;   ///< "mm", "convolution backward".
    std::string shape = {};  ///< "4096 x 1024 x 1024", "8 x 16 x 4096 x 4096 x 128 causal".
    /// Number format of the operands: "bf16", "fp16", "fp8", "fp32", "fp64"; empty if unknown.
    std::string_view precision;
    /// Multiplications and additions of the mathematical operation. Without `recomputed`.
    double flops = 0;
    /// Operations that a backward repeats of its forward, as attention does.
    double recomputed = 0;
    /// Bytes of all operands and results, each once. Operands of unknown type have `bytesPerElement`, but not those of
    /// elementwise operators, whose work is then unknown.
    double bytes = 0;

    /// Returns true if the operations count for MFU: products, convolutions and attention, as in the literature.
    bool isModelWork() const { return kind != OperatorKind::Elementwise; }
    bool operator==(const OperatorWork&) const = default;
};

/// Returns the work of a call. Nullopt for operators without a formula, and if a needed shape or value is unknown. The
/// formulas are in the table of `operatorWork.cpp`. O(arguments).
///
/// | operator | operations |
/// |---|---|
/// | product of m x k and k x n, b times | 2 b m n k |
/// | convolution | 2 per weight and result element of a group; each gradient as much |
/// | attention, p pairs of query and key | 2 p (d + d'); backward 4 p (d + d'), and 2 p d repeated |
/// | elementwise | one per result element |
///
/// `isCausal` replaces the flag of attention that was not reported.
std::optional<OperatorWork> workOf(const OperatorCall& call, int bytesPerElement = 2,
                                   std::optional<bool> isCausal = std::nullopt);

/// Returns true if a kernel of FlashAttention is causal, by its template arguments. Nullopt for others.
std::optional<bool> hasCausalMask(std::string_view kernel);

/// Returns true if the table has an operator of this name, and if that is elementwise. O(log operators).
bool hasFormula(std::string_view operatorName);
bool isElementwise(std::string_view operatorName);

/// Returns the number format of the operands of a kernel by its name: "bf16", "fp16", "fp8", "tf32", "fp32", "fp64",
/// "int8". Empty if the name has none. O(length).
std::string_view kernelPrecision(std::string_view kernel);

/// Returns the precision of an operator's kernels: that of its operands, "tf32" for fp32 that a kernel multiplies so.
std::string_view precisionOf(std::string_view operands, std::string_view kernel);

/// Returns the size of a number of a format; 2 if unknown.
int bytesOf(std::string_view precision);

}  // namespace lanescope
