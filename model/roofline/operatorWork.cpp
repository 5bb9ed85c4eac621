// SPDX-License-Identifier: Apache-2.0
#include "model/roofline/operatorWork.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>

#include "model/text/formatValue.h"
#include "model/text/kernelFamilies.h"
#include "model/text/kernelNames.h"

namespace lanescope {

namespace {

using Dims = OperatorCall::Dims;

struct NumberType {
    std::string_view name;
    std::string_view precision;
    int bytes;
};
constexpr std::array numberTypes{
    NumberType{"c10::BFloat16", "bf16", 2},
    NumberType{"c10::Half", "fp16", 2},
    NumberType{"float", "fp32", 4},
    NumberType{"double", "fp64", 8},
    NumberType{"c10::Float8_e4m3fn", "fp8", 1},
    NumberType{"c10::Float8_e5m2", "fp8", 1},
    NumberType{"c10::Float8_e4m3fnuz", "fp8", 1},
    NumberType{"c10::Float8_e5m2fnuz", "fp8", 1},
    NumberType{"long int", "", 8},
    NumberType{"long", "", 8},
    NumberType{"int", "", 4},
    NumberType{"short int", "", 2},
    NumberType{"short", "", 2},
    NumberType{"signed char", "", 1},
    NumberType{"unsigned char", "", 1},
    NumberType{"bool", "", 1},
    NumberType{"c10::complex<float>", "", 8},
    NumberType{"c10::complex<double>", "", 16},
};

const NumberType* typeCalled(std::string_view name) {
    const auto found = std::ranges::find(numberTypes, name, &NumberType::name);
    return found == numberTypes.end() ? nullptr : &*found;
}

double productOf(std::span<const int64_t> dims) {
    double product = 1;
    for (const int64_t each : dims) product *= static_cast<double>(each);
    return product;
}

std::string sizesText(std::span<const int64_t> dims) {
    std::string text;
    for (const int64_t each : dims) text += fmt::format("{}{}", text.empty() ? "" : " x ", each);
    return text;
}

/// A call whose work is counted.
struct Counting {
    const OperatorCall& call;
    int bytesPerElement;
    std::optional<bool> isCausal;  ///< If the call does not report it.

    const Dims& dims(size_t argument) const { return call.dims[argument]; }
    int elementBytes(size_t argument) const {
        const NumberType* type = typeCalled(call.type(argument));
        return type ? type->bytes : bytesPerElement;
    }
    double bytes(size_t argument) const {
        return call.isTensor(argument) ? productOf(dims(argument)) * elementBytes(argument) : 0;
    }
    std::string_view precision(size_t argument) const {
        const NumberType* type = typeCalled(call.type(argument));
        return type ? type->precision : "";
    }
    bool areTensors(std::initializer_list<size_t> arguments, size_t rank) const {
        return std::ranges::all_of(arguments,
                                   [&](size_t each) { return call.isTensor(each) && call.dims[each].size() == rank; });
    }
};

using Counted = std::optional<OperatorWork>;

/// An operator of the table: `first` is the place of its first operand.
struct Formula {
    std::string_view name;
    std::string_view operation;
    Counted (*count)(const Counting& of, const Formula& formula);
    size_t first = 0;
    size_t flag = 0;  ///< Place of the flag "causal", of "transposed" and what follows, or of the result's type.
};

OperatorWork made(OperatorKind kind, const Counting& of, const Formula& formula) {
    return OperatorWork{
        .kind = kind, .operation = std::string(formula.operation), .precision = of.precision(formula.first)};
}

OperatorWork product(const Counting& of, const Formula& formula, int64_t batch, int64_t m, int64_t n, int64_t k) {
    OperatorWork work = made(OperatorKind::Product, of, formula);
    const std::array sizes{batch, m, n, k};
    work.flops = 2 * productOf(sizes);
    work.shape = sizesText(std::span(sizes).subspan(batch == 1 ? 1 : 0));
    // Products of fp8 have results of 16 bits.
    const int resultBytes = std::max(of.elementBytes(formula.first), 2);
    const std::array results{batch, m, n};
    work.bytes = of.bytes(formula.first) + of.bytes(formula.first + 1) + productOf(results) * resultBytes;
    return work;
}

Counted countMatrices(const Counting& of, const Formula& formula) {
    const size_t a = formula.first, b = a + 1;
    if (!of.areTensors({a, b}, 2) || of.dims(a)[1] != of.dims(b)[0]) return std::nullopt;
    return product(of, formula, 1, of.dims(a)[0], of.dims(b)[1], of.dims(a)[1]);
}

Counted countBatches(const Counting& of, const Formula& formula) {
    const size_t a = formula.first, b = a + 1;
    if (!of.areTensors({a, b}, 3) || of.dims(a)[0] != of.dims(b)[0] || of.dims(a)[2] != of.dims(b)[1])
        return std::nullopt;
    return product(of, formula, of.dims(a)[0], of.dims(a)[1], of.dims(b)[2], of.dims(a)[2]);
}

Counted countVector(const Counting& of, const Formula& formula) {
    const size_t a = formula.first, b = a + 1;
    if (!of.areTensors({a}, 2) || !of.areTensors({b}, 1) || of.dims(a)[1] != of.dims(b)[0]) return std::nullopt;
    return product(of, formula, 1, of.dims(a)[0], 1, of.dims(a)[1]);
}

/// Groups divide the rows of the first operand, the columns of the second, or the inner dimension; they sum to it.
Counted countGroups(const Counting& of, const Formula& formula) {
    const size_t a = formula.first, b = a + 1;
    if (of.areTensors({a, b}, 3)) return countBatches(of, formula);
    if (!of.call.isTensor(a) || !of.call.isTensor(b)) return std::nullopt;
    const Dims &left = of.dims(a), &right = of.dims(b);
    if (left.size() == 2 && right.size() == 3 && left[1] == right[1]) {
        OperatorWork work = product(of, formula, 1, left[0], right[2], left[1]);
        work.shape += fmt::format(" in {} groups", right[0]);
        return work;
    }
    if (left.size() == 3 && right.size() == 2 && left[2] == right[0]) {
        OperatorWork work = product(of, formula, 1, left[1], right[1], left[2]);
        work.shape += fmt::format(" in {} groups", left[0]);
        return work;
    }
    if (left.size() == 2 && right.size() == 2 && left[1] == right[0])
        return product(of, formula, 1, left[0], right[1], left[1]);
    return std::nullopt;
}

/// Maximum stride, padding and dilation of a convolution; larger ones are no program's.
constexpr int64_t maxSpacing = 1 << 20;

/// Length of the result of a convolution in one dimension.
int64_t resultLength(int64_t length, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
    const int64_t reach = dilation * (kernel - 1) + 1;
    return stride <= 0 || length + 2 * padding < reach ? 0 : (length + 2 * padding - reach) / stride + 1;
}

int64_t at(const Dims& list, size_t dimension) { return list.empty() ? 0 : list[std::min(dimension, list.size() - 1)]; }

std::string convolutionShape(const Dims& input, const Dims& weight) {
    return fmt::format("{} * {}", sizesText(input), sizesText(weight));
}

bool isConvolution(const Dims& input, const Dims& weight) {
    return input.size() == weight.size() && input.size() >= 3 && input[1] > 0 && weight[0] > 0;
}

/// Each element of a result needs all weights of one filter; of a transposed convolution, each element of the input.
double convolutionFlops(const Dims& input, const Dims& weight, const Dims& result, bool isTransposed) {
    const Dims& dense = isTransposed ? input : result;
    return 2 * static_cast<double>(dense[0]) * productOf(weight) * productOf(std::span(dense).subspan(2));
}

Counted countConvolution(const Counting& of, const Formula& formula) {
    const OperatorCall& call = of.call;
    if (!call.isTensor(0) || !call.isTensor(1) || !isConvolution(of.dims(0), of.dims(1))) return std::nullopt;
    const Dims &input = of.dims(0), &weight = of.dims(1);
    const auto stride = call.list(3), padding = call.list(4), dilation = call.list(5), added = call.list(7);
    const std::optional<bool> isTransposed = call.flag(formula.flag);
    if (!stride || !padding || !dilation || !isTransposed || (*isTransposed && !added)) return std::nullopt;
    // Sizes of a file may have any value up to 2^40.
    const auto isUsual = [](const Dims& list) {
        return std::ranges::all_of(list, [](int64_t each) { return each <= maxSpacing; });
    };
    if (!isUsual(*stride) || !isUsual(*padding) || !isUsual(*dilation) || (*isTransposed && !isUsual(*added)))
        return std::nullopt;
    Dims result{input[0], weight[0]};
    if (*isTransposed) result[1] = weight[1];  // of a group; all groups have as many elements as the filters
    for (size_t place = 2; place < input.size(); ++place) {
        const size_t dimension = place - 2;
        const int64_t step = at(*stride, dimension), pad = at(*padding, dimension), spacing = at(*dilation, dimension);
        result.push_back(*isTransposed ? (input[place] - 1) * step - 2 * pad + spacing * (weight[place] - 1) +
                                             at(*added, dimension) + 1
                                       : resultLength(input[place], weight[place], step, pad, spacing));
        if (result.back() <= 0) return std::nullopt;
    }
    OperatorWork work = made(OperatorKind::Convolution, of, formula);
    work.flops = convolutionFlops(input, weight, result, *isTransposed);
    work.shape = convolutionShape(input, weight);
    work.bytes = of.bytes(0) + of.bytes(1) + productOf(result) * of.elementBytes(0);
    return work;
}

/// The arguments are the gradient of the result, input and weights; the last value has the wanted gradients.
Counted countConvolutionBackward(const Counting& of, const Formula& formula) {
    const OperatorCall& call = of.call;
    if (!call.isTensor(0) || !call.isTensor(1) || !call.isTensor(2) || !isConvolution(of.dims(1), of.dims(2)) ||
        of.dims(0).size() != of.dims(1).size())
        return std::nullopt;
    const std::optional<bool> isTransposed = call.flag(formula.flag);
    constexpr size_t wantedPlace = 10;
    if (!isTransposed || call.values.size() <= wantedPlace) return std::nullopt;
    const std::string_view wanted = call.values[wantedPlace];
    const bool ofInput = wanted.starts_with("[True");
    const bool ofWeight = wanted.substr(std::min(wanted.size(), wanted.find(','))).starts_with(", True");
    if (!ofInput && !ofWeight) return std::nullopt;
    OperatorWork work = made(OperatorKind::Convolution, of, formula);
    const double each = convolutionFlops(of.dims(1), of.dims(2), of.dims(0), *isTransposed);
    work.flops = each * (static_cast<int>(ofInput) + static_cast<int>(ofWeight));
    work.shape = convolutionShape(of.dims(1), of.dims(2));
    work.bytes = of.bytes(0) + (ofInput ? 1 : 0) * (of.bytes(1) + of.bytes(2)) +
                 (ofWeight ? 1 : 0) * (of.bytes(1) + of.bytes(2));
    return work;
}

/// Sizes of one attention: batch, heads, lengths of queries and keys, widths of keys and values.
struct AttentionSizes {
    int64_t batch, heads, queries, keys, keyWidth, valueWidth;
};

std::optional<AttentionSizes> attentionSizes(const Counting& of, size_t query, bool isLengthFirst) {
    if (!of.areTensors({query, query + 1, query + 2}, 4)) return std::nullopt;
    const Dims &q = of.dims(query), &k = of.dims(query + 1), &v = of.dims(query + 2);
    const size_t length = isLengthFirst ? 1 : 2, heads = isLengthFirst ? 2 : 1;
    if (k[length] != v[length] || q[3] != k[3] || q[0] != k[0]) return std::nullopt;
    return AttentionSizes{q[0], q[heads], q[length], k[length], q[3], v[3]};
}

/// Returns the pairs of query and key of a head. PyTorch's masks begin at the first ones, flash_attn's end at the last.
double pairsOf(const AttentionSizes& sizes, bool isCausal, bool endsTogether) {
    const auto queries = static_cast<double>(sizes.queries), keys = static_cast<double>(sizes.keys);
    if (!isCausal) return queries * keys;
    const double lead = endsTogether ? keys - queries : 0;
    // Query number i sees keys up to i + lead: an arithmetic series, clipped at 0 and `keys`.
    const double first = std::max(0.0, -lead), full = std::clamp(keys - lead, first, queries);
    const double rising = full - first;
    return rising * (first + lead + 1 + full + lead) / 2 + (queries - full) * keys;
}

Counted countAttentionOf(const Counting& of, const Formula& formula, bool isBackward, bool isFlash) {
    const auto sizes = attentionSizes(of, formula.first, isFlash);
    const std::optional<bool> reported = of.call.flag(formula.flag), isCausal = reported ? reported : of.isCausal;
    if (!sizes || !isCausal) return std::nullopt;
    OperatorWork work = made(OperatorKind::Attention, of, formula);
    const double pairs =
        static_cast<double>(sizes->batch) * static_cast<double>(sizes->heads) * pairsOf(*sizes, *isCausal, isFlash);
    const auto keyWidth = static_cast<double>(sizes->keyWidth), valueWidth = static_cast<double>(sizes->valueWidth);
    work.flops = (isBackward ? 4 : 2) * pairs * (keyWidth + valueWidth);
    if (isBackward) work.recomputed = 2 * pairs * keyWidth;
    work.shape = fmt::format("{} x {} x {} x {} x {}{}", sizes->batch, sizes->heads, sizes->queries, sizes->keys,
                             sizes->keyWidth, *isCausal ? " causal" : "");
    const double operands = of.bytes(formula.first) + of.bytes(formula.first + 1) + of.bytes(formula.first + 2);
    const double result = static_cast<double>(sizes->batch) * static_cast<double>(sizes->heads) *
                          static_cast<double>(sizes->queries) * valueWidth * of.elementBytes(formula.first);
    // A backward reads the result and its gradient, too, and writes the gradients of the operands.
    work.bytes = isBackward ? 2 * operands + 2 * result : operands + result;
    return work;
}

Counted countAttention(const Counting& of, const Formula& formula) {
    return countAttentionOf(of, formula, false, false);
}
Counted countAttentionBackward(const Counting& of, const Formula& formula) {
    return countAttentionOf(of, formula, true, false);
}
Counted countFlash(const Counting& of, const Formula& formula) { return countAttentionOf(of, formula, false, true); }
Counted countFlashBackward(const Counting& of, const Formula& formula) {
    return countAttentionOf(of, formula, true, true);
}

/// Adds up operands, and a result as large as the largest if `writesResult`, of the type in the value `flag` if any.
Counted countElements(const Counting& of, const Formula& formula, bool writesResult) {
    size_t largest = 0;
    double bytes = 0, elements = 0;
    for (size_t argument = 0; argument < of.call.dims.size(); ++argument) {
        if (!of.call.isTensor(argument)) continue;
        // The kernel does not show the sizes of all operands.
        if (typeCalled(of.call.type(argument)) == nullptr) return std::nullopt;
        bytes += of.bytes(argument);
        const double here = productOf(of.dims(argument));
        if (here <= elements) continue;
        elements = here;
        largest = argument;
    }
    if (elements <= 0) return std::nullopt;
    OperatorWork work = made(OperatorKind::Elementwise, of, formula);
    work.precision = of.precision(largest);
    work.flops = elements;
    const NumberType* const result =
        formula.flag < of.call.values.size() ? typeCalled(of.call.values[formula.flag]) : nullptr;
    work.bytes = bytes + (writesResult ? elements * (result ? result->bytes : of.elementBytes(largest)) : 0);
    work.shape = sizesText(of.dims(largest));
    return work;
}

Counted countWriting(const Counting& of, const Formula& formula) { return countElements(of, formula, true); }
Counted countOperands(const Counting& of, const Formula& formula) { return countElements(of, formula, false); }

/// Reads parameters, gradients and two means, and writes all but the gradients.
Counted countAdam(const Counting& of, const Formula& formula) {
    Counted work = countElements(of, formula, false);
    if (work) work->bytes += of.bytes(0) + of.bytes(2) + of.bytes(3);
    return work;
}

// Sorted by name, which stands for that in place ("aten::add_"), too. Operators that only call others are missing:
// their work is that of the inner ones.
constexpr std::array formulas{
    Formula{"aten::_foreach_add", "add", countWriting},
    Formula{"aten::_foreach_addcdiv", "addcdiv", countWriting},
    Formula{"aten::_foreach_addcmul", "addcmul", countWriting},
    Formula{"aten::_foreach_div", "div", countWriting},
    Formula{"aten::_foreach_lerp", "lerp", countWriting},
    Formula{"aten::_foreach_mul", "mul", countWriting},
    Formula{"aten::_foreach_norm", "norm", countOperands},
    Formula{"aten::_foreach_sqrt", "sqrt", countWriting},
    Formula{"aten::_fused_adam_", "adam", countAdam},
    Formula{"aten::_fused_adamw_", "adamw", countAdam},
    Formula{"aten::_fused_rms_norm", "rms_norm", countWriting},
    Formula{"aten::_fused_rms_norm_backward", "rms_norm backward", countWriting},
    Formula{"aten::_grouped_mm", "grouped mm", countGroups},
    Formula{"aten::_int_mm", "int8 mm", countMatrices},
    Formula{"aten::_log_softmax", "log_softmax", countWriting},
    Formula{"aten::_log_softmax_backward_data", "log_softmax backward", countWriting},
    Formula{"aten::_scaled_dot_product_cudnn_attention", "attention", countAttention, 0, 6},
    Formula{"aten::_scaled_dot_product_cudnn_attention_backward", "attention backward", countAttentionBackward, 1, 14},
    Formula{"aten::_scaled_dot_product_efficient_attention", "attention", countAttention, 0, 6},
    Formula{"aten::_scaled_dot_product_efficient_attention_backward", "attention backward", countAttentionBackward, 1,
            11},
    Formula{"aten::_scaled_dot_product_flash_attention", "attention", countAttention, 0, 4},
    Formula{"aten::_scaled_dot_product_flash_attention_backward", "attention backward", countAttentionBackward, 1, 11},
    Formula{"aten::_scaled_grouped_mm", "grouped mm", countGroups},
    Formula{"aten::_scaled_mm", "scaled mm", countMatrices},
    Formula{"aten::_softmax", "softmax", countWriting},
    Formula{"aten::_softmax_backward_data", "softmax backward", countWriting},
    Formula{"aten::_to_copy", "copy", countWriting, 0, 1},
    Formula{"aten::add", "add", countWriting},
    Formula{"aten::addbmm", "bmm", countBatches, 1},
    Formula{"aten::addcdiv", "addcdiv", countWriting},
    Formula{"aten::addcmul", "addcmul", countWriting},
    Formula{"aten::addmm", "mm", countMatrices, 1},
    Formula{"aten::addmv", "mv", countVector, 1},
    Formula{"aten::baddbmm", "bmm", countBatches, 1},
    Formula{"aten::bmm", "bmm", countBatches},
    Formula{"aten::cat", "cat", countWriting},
    Formula{"aten::clamp", "clamp", countWriting},
    Formula{"aten::clamp_min", "clamp", countWriting},
    Formula{"aten::clone", "copy", countWriting},
    Formula{"aten::convolution", "convolution", countConvolution, 0, 6},
    Formula{"aten::convolution_backward", "convolution backward", countConvolutionBackward, 0, 7},
    Formula{"aten::copy_", "copy", countOperands},
    Formula{"aten::cos", "cos", countWriting},
    Formula{"aten::cudnn_batch_norm", "batch_norm", countWriting},
    Formula{"aten::cudnn_batch_norm_backward", "batch_norm backward", countWriting},
    Formula{"aten::div", "div", countWriting},
    Formula{"aten::exp", "exp", countWriting},
    Formula{"aten::fill_", "fill", countOperands},
    Formula{"aten::gelu", "gelu", countWriting},
    Formula{"aten::gelu_backward", "gelu backward", countWriting},
    Formula{"aten::linalg_vector_norm", "norm", countOperands},
    Formula{"aten::masked_fill", "masked_fill", countWriting},
    Formula{"aten::mean", "mean", countOperands},
    Formula{"aten::mm", "mm", countMatrices},
    Formula{"aten::mul", "mul", countWriting},
    Formula{"aten::mv", "mv", countVector},
    Formula{"aten::native_batch_norm", "batch_norm", countWriting},
    Formula{"aten::native_batch_norm_backward", "batch_norm backward", countWriting},
    Formula{"aten::native_dropout", "dropout", countWriting},
    Formula{"aten::native_dropout_backward", "dropout backward", countWriting},
    Formula{"aten::native_layer_norm", "layer_norm", countWriting},
    Formula{"aten::native_layer_norm_backward", "layer_norm backward", countWriting},
    Formula{"aten::neg", "neg", countWriting},
    Formula{"aten::pow", "pow", countWriting},
    Formula{"aten::relu", "relu", countWriting},
    Formula{"aten::rsqrt", "rsqrt", countWriting},
    Formula{"aten::sigmoid", "sigmoid", countWriting},
    Formula{"aten::sigmoid_backward", "sigmoid backward", countWriting},
    Formula{"aten::silu", "silu", countWriting},
    Formula{"aten::silu_backward", "silu backward", countWriting},
    Formula{"aten::sin", "sin", countWriting},
    Formula{"aten::sqrt", "sqrt", countWriting},
    Formula{"aten::sub", "sub", countWriting},
    Formula{"aten::sum", "sum", countOperands},
    Formula{"aten::tanh", "tanh", countWriting},
    Formula{"aten::tanh_backward", "tanh backward", countWriting},
    Formula{"aten::threshold_backward", "relu backward", countWriting},
    Formula{"aten::where", "where", countWriting},
    Formula{"aten::zero_", "fill", countOperands},
    Formula{"flash_attn::_flash_attn_backward", "attention backward", countFlashBackward, 1, 11},
    Formula{"flash_attn::_flash_attn_forward", "attention", countFlash, 0, 5},
};
static_assert(std::ranges::is_sorted(formulas, {}, &Formula::name));

const Formula* formulaOf(std::string_view name) {
    for (const std::string_view each : {name, name.substr(0, name.size() - (name.ends_with('_') ? 1 : 0))}) {
        const auto found = std::ranges::lower_bound(formulas, each, {}, &Formula::name);
        if (found != formulas.end() && found->name == each) return &*found;
    }
    return nullptr;
}

}  // namespace

std::string_view identifier(OperatorKind kind) {
    return enumText(kind, {"product", "convolution", "attention", "elementwise"});
}

std::optional<bool> hasCausalMask(std::string_view kernel) {
    const CppName name = parseCppName(withoutReturnType(withoutParameters(kernel)));
    // Traits, dropout, mask.
    constexpr size_t place = 2;
    if (!name.base.starts_with("flash_fwd") && !name.base.starts_with("flash_bwd_dq_dk_dv")) return std::nullopt;
    if (name.arguments.size() <= place) return std::nullopt;
    if (name.arguments[place] == "true" || name.arguments[place] == "(bool)1") return true;
    if (name.arguments[place] == "false" || name.arguments[place] == "(bool)0") return false;
    return std::nullopt;
}

std::optional<OperatorWork> workOf(const OperatorCall& call, int bytesPerElement, std::optional<bool> isCausal) {
    const Formula* const formula = formulaOf(call.name);
    if (formula == nullptr) return std::nullopt;
    Counted work = formula->count(Counting{call, bytesPerElement, isCausal}, *formula);
    return work && work->flops > 0 ? work : std::nullopt;
}

bool hasFormula(std::string_view operatorName) { return formulaOf(operatorName) != nullptr; }

bool isElementwise(std::string_view operatorName) {
    const Formula* const formula = formulaOf(operatorName);
    return formula != nullptr &&
           (formula->count == countWriting || formula->count == countOperands || formula->count == countAdam);
}

std::string_view kernelPrecision(std::string_view kernel) {
    const KernelPrecision precision = productPrecision(kernel);
    return precision == KernelPrecision::Unknown ? std::string_view() : identifier(precision);
}

std::string_view precisionOf(std::string_view operands, std::string_view kernel) {
    if (operands.empty()) return kernelPrecision(kernel);
    return operands == "fp32" && kernelPrecision(kernel) == "tf32" ? "tf32" : operands;
}

int bytesOf(std::string_view precision) {
    if (precision == "fp8" || precision == "int8") return 1;
    if (precision == "fp64") return 8;
    return precision == "fp32" || precision == "tf32" ? 4 : 2;
}

}  // namespace lanescope
