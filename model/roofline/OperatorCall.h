// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace lanescope {

enum class OperatorKind : uint8_t { Product, Convolution, Attention, Elementwise };
/// For files and programs: "product", "convolution", "attention", "elementwise".
std::string_view identifier(OperatorKind kind);

/// Call of a PyTorch operator with the shapes of its arguments. Points into the texts of a trace.
struct OperatorCall {
    using Dims = std::vector<int64_t>;

    std::string_view name;  ///< "aten::mm".
    /// By argument; empty for scalars, lists and missing tensors.
    std::vector<Dims> dims;
    std::vector<std::string_view> types;  ///< "c10::BFloat16"; empty if unknown.
    std::vector<std::string_view>
        values;  ///< Values of arguments that are no tensors: "[2, 2]", "True"; empty if unknown.

    bool isTensor(size_t argument) const { return argument < dims.size() && !dims[argument].empty(); }
    std::string_view type(size_t argument) const { return argument < types.size() ? types[argument] : ""; }
    /// Returns nullopt if the value was not reported.
    std::optional<bool> flag(size_t argument) const;
    std::optional<Dims> list(size_t argument) const;
};

/// Reads a call from the texts of its range: PyTorch's profilers report shapes as payload ("[[8, 16], [16, 4]]", types
/// and values as two more lists), ranges of `emit_nvtx` in their name ("aten::mm, op_id = 12, sizes = [[8, 16]]"),
/// those of `lanescope.torch.shapes` also ", types = [float], values = [True]". Nullopt without, or if corrupt.
/// O(length).
std::optional<OperatorCall> operatorCall(std::string_view name, std::string_view payload);

/// Returns the lists of a payload: shapes, types, values; a missing one is empty. O(length).
std::array<std::string_view, 3> payloadLists(std::string_view payload);

}  // namespace lanescope
