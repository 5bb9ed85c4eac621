// SPDX-License-Identifier: Apache-2.0
// Rules about kinds of kernels: what the GPU computes, and what a program would compute with less time.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "model/analysis/groupKernels.h"
#include "model/analysis/shownNumbers.h"
#include "model/explain/RunFindings.h"
#include "model/explain/findingQueries.h"
#include "model/explain/programKind.h"
#include "model/explain/rules.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

// Thresholds are shares of the step; README.md has their reasons.
constexpr double minDoubleShare = 0.10, minSingleShare = 0.15, minUnalignedShare = 0.10;
constexpr double minAttentionShare = 0.08, minChainShare = 0.25, minLoopShare = 0.10, minOptimizerShare = 0.10;
constexpr double minChannelsFirstShare = 0.05, minRecomputedShare = 0.10, minEvaluationShare = 0.10;
constexpr double minIrregularShare = 0.20, minConversionShare = 0.20, minMovementShare = 0.20, minSmallShare = 0.40;

bool isProductFamily(KernelFamily family) {
    return family == KernelFamily::MatrixProduct || family == KernelFamily::Convolution;
}

/// Returns the sum per mean step of the kernels, whatever earlier rules account for.
int64_t allNs(const RunFindings& run, IsOfGroup isOf) {
    int64_t sumNs = 0;
    for (const KernelGroup& each : run.kernels())
        if (isOf(each)) sumNs = saturatingSum(sumNs, each.exposedNs);
    return run.perStep(sumNs);
}

bool isShare(const RunFindings& run, int64_t ns, double least) {
    return static_cast<double>(ns) >= least * static_cast<double>(run.mean().meanNs);
}

/// Returns the query for kernels of which other launches may have the same names.
Evidence evidenceOfGroups(const FindingText& text, IsOfGroup isOf) {
    std::vector<std::string> names;
    for (const KernelGroup& each : kernelsOf(text.worker()))
        if (isOf(each) && std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
    const EvidenceQuery query(text);
    return {fmt::format("SELECT s AS start, e - s AS ns, name FROM ({}) ORDER BY ns DESC", query.kernelsNamed(names)),
            0};
}

// Precision.

bool isDouble(const KernelGroup& each) { return each.precision == KernelPrecision::Fp64; }
bool isSingleProduct(const KernelGroup& each) {
    return isProductFamily(each.family) && each.precision == KernelPrecision::Fp32;
}
bool isOtherProduct(const KernelGroup& each) {
    return (isProductFamily(each.family) || each.family == KernelFamily::Attention) && !isDouble(each);
}
/// Conversions are made because of both types. Most kernels do not show their type.
bool isOtherWork(const KernelGroup& each) {
    return !isDouble(each) && each.family != KernelFamily::Conversion && hasLowerFloat(each.name);
}
/// Minimum share of products, and of other work, in lower precision. With less, double precision is meant.
constexpr double minOtherShare = 0.05, minOtherWorkShare = 0.10;
/// Share of its time that work takes in fp32: products by the rates of data sheets (H100: 67 to 495 TFLOP/s), the rest
/// by its bytes.
constexpr double singleProductShare = 0.125, singleOtherShare = 0.5;

bool isDoubleProduct(const KernelGroup& each) { return isDouble(each) && isProductFamily(each.family); }

void findDoublePrecision(RunFindings& run) {
    if (!isShare(run, allNs(run, isOtherProduct), minOtherShare) &&
        !isShare(run, allNs(run, isOtherWork), minOtherWorkShare))
        return;
    const auto productNs = static_cast<double>(run.kernelNs(isDoubleProduct));
    Finding* found = run.addKernels(isDouble, minDoubleShare);
    if (found == nullptr) return;
    const double otherNs = static_cast<double>(found->maxGainNs) - productNs;
    found->forecastNs = static_cast<int64_t>((1 - singleProductShare) * productNs + (1 - singleOtherShare) * otherNs);
}

/// Returns " Fused, about 9.6 ms less."
std::string forecastText(const FindingText& text, std::string_view changed) {
    const int64_t forecastNs = text.finding().forecastNs;
    return forecastNs > 0 ? fmt::format(" {}, about {} less.", changed, timeText(static_cast<double>(forecastNs)))
                          : std::string();
}

void findSinglePrecision(RunFindings& run) {
    const WorkerSummary& worker = run.worker();
    Finding* found = worker.hasTensorFloat ? run.addKernels(isSingleProduct, minSingleShare) : nullptr;
    // As far from its roof as before.
    if (found != nullptr && worker.singleRate > 0 && worker.tensorFloatRate > worker.singleRate)
        found->forecastNs = static_cast<int64_t>(
            static_cast<double>(found->maxGainNs) *
            (1 - static_cast<double>(worker.singleRate) / static_cast<double>(worker.tensorFloatRate)));
}

std::string saySinglePrecision(const FindingText& text) {
    return fmt::format(
        "fp32 matrix products and convolutions take {} while the tensor cores of {} are idle: mostly {}, {}.{}",
        text.time(), text.worker().gpuName.empty() ? "the GPU" : printable(text.worker().gpuName), text.main(),
        text.times(), forecastText(text, "In TF32, by the measured rates of this GPU"));
}

/// Nearly each program that is not compiled has chains. Work that is not needed, or wider than needed, precedes.
void putWasteBeforeChains(const RunSummary&, std::vector<Finding>& findings) {
    static const std::array waste{&doublePrecisionRule,  &singlePrecisionRule, &singleAttentionRule,
                                  &writtenAttentionRule, &recomputationRule,   &evaluationInStepRule,
                                  &unfusedOptimizerRule, &kernelLoopRule,      &irregularWorkRule};
    const auto chains = std::ranges::find(findings, &unfusedChainsRule, &Finding::rule);
    if (chains == findings.end()) return;
    std::stable_partition(chains, findings.end(),
                          [](const Finding& each) { return std::ranges::find(waste, each.rule) != waste.end(); });
}

bool isSingleAttention(const KernelGroup& each) {
    return each.family == KernelFamily::Attention && each.precision == KernelPrecision::Fp32;
}
bool isLowerProduct(const KernelGroup& each) {
    return each.family == KernelFamily::MatrixProduct &&
           (each.precision == KernelPrecision::Bf16 || each.precision == KernelPrecision::Fp16 ||
            each.precision == KernelPrecision::Fp8);
}

void findSingleAttention(RunFindings& run) {
    if (isShare(run, allNs(run, isLowerProduct), minOtherShare)) run.addKernels(isSingleAttention, minSingleShare);
}

bool isUnaligned(const KernelGroup& each) { return each.trait == KernelTrait::Unaligned; }

// Sequences.

bool isOfAttention(const KernelGroup& each) { return each.sequence == KernelSequence::Attention; }
bool isChain(const KernelGroup& each) { return each.sequence == KernelSequence::Chain; }
bool isLoop(const KernelGroup& each) { return each.sequence == KernelSequence::Loop; }
/// A layer forward and backward has two; a single one may be another formula.
constexpr double minAttentionsPerStep = 2.5;

double sequencesPerStep(const WorkerSummary& worker, IsOfGroup isOf) {
    double sum = 0;
    for (const KernelGroup& each : kernelsOf(worker))
        if (isOf(each)) sum += static_cast<double>(each.sequences);
    return sum / static_cast<double>(std::max<size_t>(worker.steps.size(), 1));
}

void findWrittenAttention(RunFindings& run) {
    if (sequencesPerStep(run.worker(), isOfAttention) >= minAttentionsPerStep)
        run.addKernels(isOfAttention, minAttentionShare);
}

std::string sayWrittenAttention(const FindingText& text) {
    return fmt::format(
        "Attention in single kernels (two products, between them scale, mask and softmax) takes {}, {} times{}: mostly "
        "{}.",
        text.time(), countText(sequencesPerStep(text.worker(), isOfAttention)), text.per(), text.main());
}

std::string saySequences(const FindingText& text, IsOfGroup isOf, std::string_view what, std::string_view changed) {
    const double count = sequencesPerStep(text.worker(), isOf);
    return fmt::format("{} take {}: {}{} of {} kernels each, mostly {}.{}", what, text.time(), countText(count),
                       text.per(), countText(text.finding().countPerStep / std::max(count, 1e-9)), text.main(),
                       forecastText(text, changed));
}

/// Adds kernels that fused ones would replace.
void findFusible(RunFindings& run, IsOfGroup isOf, double least) {
    const int64_t savedNs = run.kernelNs(isOf, &KernelGroup::savedNs);
    if (Finding* found = run.addKernels(isOf, least)) found->forecastNs = std::max<int64_t>(savedNs, 0);
}

// Masks.

bool isAttention(const KernelGroup& each) { return each.family == KernelFamily::Attention; }
/// Minimum share of attention for a finding about its mask, and of the conversions that show the mask.
constexpr double minMaskedShare = 0.20, minMaskShare = 0.01;
/// Maximum difference of the counts of calls and conversions. Queries and keys make two or three conversions per call.
constexpr double maxCountDifference = 0.25;

/// Returns PyTorch's conversions that run once per call of attention, on its line and in its ranges; null without any.
/// All work of a compiled program has one line.
const Contributor* maskConversions(const WorkerSummary& worker) {
    const Contributor* most = nullptr;
    for (const Contributor& each : worker.contributors) {
        if (each.launched.empty() || each.isOfCaller || !convertsTo16Bits(each.name.work)) continue;
        double calls = 0;
        bool mayBeOther = false;  // a kernel that takes no mask, or a product whose weights are converted
        for (const Contributor& other : worker.contributors) {
            const std::optional<KernelClass> is = classOf(other);
            if (!is || other.launched != each.launched || other.path != each.path) continue;
            if (is->family == KernelFamily::Attention) calls += static_cast<double>(other.count);
            mayBeOther = mayBeOther || is->family == KernelFamily::MatrixProduct || takesNoMask(other.name.work);
        }
        if (mayBeOther) continue;
        const double difference = std::abs(static_cast<double>(each.count) - calls);
        if (calls > 0 && difference <= maxCountDifference * calls &&
            (most == nullptr || each.exposedNs > most->exposedNs))
            most = &each;
    }
    return most;
}

/// Half of the pairs of attention are later than their query.
void findAttentionMask(RunFindings& run) {
    const Contributor* mask = maskConversions(run.worker());
    const int64_t attentionNs = allNs(run, isAttention);
    if (mask == nullptr || !isShare(run, attentionNs, minMaskedShare)) return;
    const int64_t maskNs = run.perStep(mask->exposedNs);
    if (isShare(run, maskNs, minMaskShare)) run.add(saturatingSum(attentionNs / 2, maskNs), minShare, mask);
}

std::string sayAttentionMask(const FindingText& text) {
    return fmt::format(
        "Attention most likely reads a mask from memory: one conversion for each call, {}, {}. If the mask is causal, "
        "the mask and the pairs that is_causal=True skips take up to {}.",
        text.main(), text.times(), text.time());
}

// Optimizers.

bool isUnfusedOptimizer(const KernelGroup& each) {
    if (each.trait == KernelTrait::Foreach) return each.purpose == LaunchPurpose::Optimizer;
    const bool isSimple = each.family == KernelFamily::Elementwise || each.family == KernelFamily::Reduction ||
                          each.family == KernelFamily::Conversion || each.family == KernelFamily::Fill;
    return each.purpose == LaunchPurpose::Optimizer && isSimple && !kernelClass(each.name).isCompiled();
}

// Layouts.

bool isLayout(const KernelGroup& each) { return each.family == KernelFamily::Layout; }
bool isChannelsFirst(const KernelGroup& each) { return isLayout(each) || each.trait == KernelTrait::ChannelsFirst; }
/// Minimum share of layout conversions. Without conversions, kernels for NCHW cost no more.
constexpr double minLayoutShare = 0.03;
/// Share of its time that other work for NCHW takes in NHWC. Measured for PyTorch's batch normalization: 0.39 (H200,
/// 128 channels).
constexpr double channelsLastShare = 0.5;

void findChannelsFirst(RunFindings& run) {
    if (!isShare(run, allNs(run, isLayout), minLayoutShare)) return;
    const auto conversionNs = static_cast<double>(run.kernelNs(isLayout));
    Finding* found = run.addKernels(isChannelsFirst, minChannelsFirstShare);
    if (found == nullptr) return;
    const double otherNs = static_cast<double>(found->maxGainNs) - conversionNs;
    found->forecastNs = static_cast<int64_t>(conversionNs + (1 - channelsLastShare) * otherNs);
}

std::string sayChannelsFirst(const FindingText& text) {
    return fmt::format(
        "Conversions between NCHW and NHWC around convolutions, and kernels that work on NCHW only, take {}: mostly "
        "{}, {}.{}",
        text.time(), text.main(), text.times(), forecastText(text, "In NHWC"));
}

// Purposes.

bool isRecomputed(const KernelGroup& each) { return each.purpose == LaunchPurpose::Recomputation; }
bool isEvaluation(const KernelGroup& each) { return each.purpose == LaunchPurpose::Evaluation; }
/// Share of the used memory up to which recomputation saves memory that is not needed.
constexpr double maxMemoryShare = 0.5;
/// Maximum share of the compute time for an evaluation inside a step. A larger evaluation is the program itself.
constexpr double maxEvaluationShare = 0.6;

void findRecomputation(RunFindings& run) {
    const auto used = static_cast<double>(run.worker().usedMemoryBytes);
    if (used > 0 && used <= maxMemoryShare * static_cast<double>(run.worker().memoryBytes))
        run.addKernels(isRecomputed, minRecomputedShare);
}

std::string sayRecomputation(const FindingText& text) {
    return fmt::format(
        "Activations that checkpoints dropped are computed again for {}, mostly {}, while at most {} of the GPU's {} "
        "are in use.",
        text.time(), text.main(), formatBytes(text.worker().usedMemoryBytes), formatBytes(text.worker().memoryBytes));
}

void findEvaluation(RunFindings& run) {
    const auto computeNs = static_cast<double>(run.mean().parts[StepPart::Compute]);
    if (static_cast<double>(allNs(run, isEvaluation)) < maxEvaluationShare * computeNs)
        run.addKernels(isEvaluation, minEvaluationShare);
}

// Work that is slow on a GPU.

bool isIrregular(const KernelGroup& each) {
    switch (each.family) {
        case KernelFamily::Sort:
        case KernelFamily::Random: return true;
        // Triangular matrices are solved and made at the rate of products.
        case KernelFamily::Decomposition: return each.trait != KernelTrait::Triangular;
        default: return each.trait == KernelTrait::SortedGradient;
    }
}

/// The gradient of indexing is written where the forward pass indexes.
void findIrregular(RunFindings& run) {
    Finding* found = run.addKernels(isIrregular, minIrregularShare);
    if (found == nullptr || kernelClass(found->contributor.work).trait != KernelTrait::SortedGradient) return;
    for (const KernelGroup& each : run.kernels()) {
        if (each.family != KernelFamily::Index || each.written.empty()) continue;
        found->written = each.written;
        return;
    }
}

std::string adviseIrregular(const FindingText& text) {
    const KernelClass is = kernelClass(text.finding().contributor.work);
    const bool isTorch = programKindOf(text.run()).framework == ProgramKind::Framework::Torch;
    switch (is.family) {
        case KernelFamily::Random:
            return isTorch ? "Draw random numbers for several steps at once and in the type in use; torch.compile "
                             "fuses dropout with its neighbours."
                           : "Draw random numbers for several steps at once and in the type in use.";
        case KernelFamily::Decomposition:
            return "Decompose less often or in batches, and solve instead of inverting: a Cholesky decomposition is "
                   "far cheaper than singular values.";
        default: break;
    }
    if (isTorch && is.trait == KernelTrait::SortedGradient)
        return "The gradient of tensor[index] sorts the indices. torch.index_select and torch.gather add it unsorted, "
               "and a boolean mask can be a product or torch.where.";
    return isTorch ? "Sort less: torch.topk for some values, once instead of in each layer, or while loading data."
                   : "Sort less: only the largest values, once instead of in each layer, or while loading data.";
}

bool isConversion(const KernelGroup& each) { return each.family == KernelFamily::Conversion; }

/// Returns true for work of a backward pass, as far as names and lines show.
bool isOfBackward(const Contributor& each) { return each.isOfCaller || isNamedBackward(each.name.work); }

/// Returns true if a finding is about conversions of a PyTorch program to 16 bits without any work of a training.
bool isOfInference(const FindingText& text) {
    const auto isUpdate = [](const KernelGroup& each) {
        return each.family == KernelFamily::Optimizer || each.purpose == LaunchPurpose::Optimizer ||
               each.purpose == LaunchPurpose::GradientNorm;
    };
    const auto isProductThere = [&](const Contributor& each) {
        const std::optional<KernelClass> is = classOf(each);
        return is && is->family == KernelFamily::MatrixProduct && each.launched.text == text.finding().launched.text;
    };
    // Without lines, the work of a backward pass may have any name. Weights are converted where they are used.
    return !text.finding().launched.empty() && std::ranges::any_of(text.worker().contributors, isProductThere) &&
           convertsTo16Bits(text.finding().contributor.work) &&
           std::ranges::none_of(text.worker().contributors, isOfBackward) &&
           std::ranges::none_of(kernelsOf(text.worker()), isUpdate);
}

std::string sayConversions(const FindingText& text) {
    return text.taking("Conversions between number types take") +
           (isOfInference(text) ? fmt::format(" No optimizer and no backward pass runs in the {}s: most likely these "
                                              "are weights, which torch.autocast converts at every use.",
                                              text.unit())
                                : std::string());
}

std::string adviseConversions(const FindingText& text) {
    if (!isOfInference(text)) return adviceOf(text.run(), typeConversionsRule);
    return "Convert the model once, before the steps: model.to(torch.bfloat16), or torch.float16. torch.autocast keeps "
           "converted weights only until its context ends, and only those that require gradients.";
}

/// Copies and kernels that only move values.
bool isMovement(const KernelGroup& each) { return each.family == KernelFamily::Movement || isLayout(each); }

/// A loop of a compiled program needs its copies: it stacks results and takes slices of its arguments.
bool movesWithinGpu(const Contributor& each) {
    if (isWithinXlaLoop(each.path)) return false;
    if (each.part == StepPart::ExposedDtoD) return true;
    const std::optional<KernelClass> is = classOf(each);
    return is && isMovement({.family = is->family});
}

void findDataMovement(RunFindings& run) {
    const auto isCopy = [](const Contributor& each) {
        return each.part == StepPart::ExposedDtoD && !isWithinXlaLoop(each.path);
    };
    const auto isInLoop = [](const Contributor& each) {
        const std::optional<KernelClass> is = classOf(each);
        return is && isMovement({.family = is->family}) && isWithinXlaLoop(each.path);
    };
    const int64_t kernelsNs = std::max<int64_t>(0, run.kernelNs(isMovement) - run.exposedNs(isInLoop));
    const Contributor* main = run.greatest(movesWithinGpu);
    Finding* found = run.add(saturatingSum(run.exposedNs(isCopy), kernelsNs), minMovementShare, main);
    if (found == nullptr) return;
    run.accounted.work.push_back(isMovement);
    if (main == nullptr || !main->isOfCaller || main->kind != ContributorKind::Kernel) return;
    const auto movedNs = [](const KernelGroup& each) { return isMovement(each) ? each.exposedNs : -1; };
    const auto most = std::ranges::max_element(run.kernels(), {}, movedNs);
    if (most != run.kernels().end() && most->name == main->name.work) found->written = most->written;
}

std::string sayDataMovement(const FindingText& text) {
    return text.taking("Copies within the GPU and kernels that only move values take");
}

Evidence movementEvidence(const FindingText& text) {
    const EvidenceQuery query(text);
    std::vector<std::string> kernels;
    bool hasCopies = false;
    for (const Contributor& each : text.worker().contributors) {
        if (!movesWithinGpu(each)) continue;
        hasCopies = hasCopies || each.kind == ContributorKind::Copy;
        if (each.kind == ContributorKind::Kernel && std::ranges::find(kernels, each.name.work) == kernels.end())
            kernels.push_back(each.name.work);
    }
    std::vector<std::string> sets{query.kernelsNamed(kernels)};
    if (hasCopies) sets.push_back(query.copies("k.copyKind = 8"));
    // Rows of loops have the same names.
    const bool isAll = std::ranges::none_of(text.worker().contributors, isWithinXlaLoop, &Contributor::path);
    return {query.exposed(sets, {}), isAll ? sumNs(text.worker(), movesWithinGpu) : 0};
}

// Occupation of the GPU.

bool isSmall(const KernelGroup& each) { return each.isSmallGrid; }
bool isTuning(const KernelGroup& each) {
    return each.trait == KernelTrait::Tuning || each.purpose == LaunchPurpose::Tuning;
}

/// Trials are the reason why the steps with them are longer.
void putTuningBeforeOddSteps(const RunSummary&, std::vector<Finding>& findings) {
    const auto odd = std::ranges::find(findings, &oddStepsRule, &Finding::rule);
    const auto tuning = std::ranges::find(findings, &autotuningRule, &Finding::rule);
    if (tuning == findings.end() || tuning < odd || tuning->maxGainNs < odd->maxGainNs / 2) return;
    std::rotate(odd, tuning, tuning + 1);
}

}  // namespace

const Rule doublePrecisionRule{
    .id = "double_precision",
    .title = "Work in double precision",
    .finds = "Kernels in double precision take at least 10 % of the step, next to work in lower precision.",
    .advice =
        "If that is not intended, convert the first float64 value at its source (NumPy arrays are float64): every "
        "result computed with it is in double precision, too.",
    .find = findDoublePrecision,
    .say =
        [](const FindingText& text) {
            return fmt::format("Kernels in double precision take {}, next to work in lower precision: mostly {}, {}.{}",
                               text.time(), text.main(), text.times(), forecastText(text, "In fp32"));
        },
    .evidence = [](const FindingText& text) { return evidenceByName(text, isDouble); },
};

const Rule singlePrecisionRule{
    .id = "single_precision",
    .title = "fp32 products leave tensor cores idle",
    .finds =
        "fp32 matrix products and convolutions without tensor cores take at least 15 % of the step, on a GPU that "
        "multiplies fp32 as TF32.",
    .advice =
        "If 10 bits of mantissa suffice for products, use TF32: torch.set_float32_matmul_precision(\"high\"). bf16 "
        "(torch.autocast) is faster still.",
    .jaxAdvice =
        "If 10 bits of mantissa suffice for products, use TF32: jax_default_matmul_precision=\"tensorfloat32\". "
        "bfloat16 is faster still.",
    .otherAdvice =
        "If 10 bits of mantissa suffice for products, use TF32 (CUBLAS_COMPUTE_32F_FAST_TF32). bf16 is faster still.",
    .find = findSinglePrecision,
    .say = saySinglePrecision,
    .evidence = [](const FindingText& text) { return evidenceByName(text, isSingleProduct); },
};

const Rule singleAttentionRule{
    .id = "single_attention",
    .title = "Attention in fp32 next to 16-bit products",
    .finds = "Attention in fp32 takes at least 15 % of the step, next to matrix products in 16 or 8 bits.",
    .advice =
        "Convert query, key and value to the type of the products before attention: a float32 factor, as of rotary "
        "positions or a normalization, promotes them. FlashAttention needs 16 bits.",
    .otherAdvice =
        "Convert query, key and value to the type of the products before attention. FlashAttention needs 16 bits.",
    .find = findSingleAttention,
    .say =
        [](const FindingText& text) {
            return text.taking("Attention in fp32, next to matrix products in lower precision, takes");
        },
    .evidence = [](const FindingText& text) { return evidenceByName(text, isSingleAttention); },
};

const Rule unalignedProductsRule{
    .id = "unaligned_products",
    .title = "Products of unaligned sizes",
    .finds =
        "Matrix products on tensor cores, of sizes that are no multiple of 16 bytes, take at least 10 % of the step.",
    .advice =
        "Pad the sizes that the program chooses (vocabulary, features, classes) to a multiple of 64, at least of 8 for "
        "16-bit types and of 4 for fp32.",
    .find = [](RunFindings& run) { run.addKernels(isUnaligned, minUnalignedShare); },
    .say = [](const FindingText& text) { return text.taking("Products whose sizes are no multiple of 16 bytes take"); },
    .evidence = [](const FindingText& text) { return evidenceByName(text, isUnaligned); },
};

const Rule writtenAttentionRule{
    .id = "written_attention",
    .title = "Attention without a fused kernel",
    .finds =
        "Attention takes at least 8 % of the step in single kernels, several times: two products and a softmax with "
        "elementwise kernels between.",
    .advice =
        "torch.nn.functional.scaled_dot_product_attention (in transformers attn_implementation=\"sdpa\", in "
        "nn.MultiheadAttention need_weights=False) computes it in one kernel, which never writes the scores to memory.",
    .jaxAdvice =
        "jax.nn.dot_product_attention(implementation=\"cudnn\") computes it in one kernel, which never writes the "
        "scores to memory.",
    .otherAdvice = "A fused attention kernel, as of FlashAttention, never writes the scores to memory.",
    .find = findWrittenAttention,
    .say = sayWrittenAttention,
    .evidence = [](const FindingText& text) { return evidenceOfGroups(text, isOfAttention); },
};

const Rule attentionMaskRule{
    .id = "attention_mask",
    .title = "Attention reads a mask from memory",
    .finds =
        "Attention takes at least a fifth of the step, and on its line a type conversion, as of a mask, runs once per "
        "call and takes at least 1 %.",
    .advice =
        "is_causal=True instead of a causal mask, which skips half of the pairs, and no mask if it is all-ones. "
        "Otherwise make the mask once, in the type of the queries.",
    .find = findAttentionMask,
    .say = sayAttentionMask,
    .evidence = [](const FindingText& text) { return evidenceOfGroups(text, isAttention); },
    .isEstimate = true,
};

const Rule unfusedChainsRule{
    .id = "unfused_chains",
    .title = "Chains of elementwise kernels",
    .finds =
        "Four or more elementwise kernels in a row, each of which reads and writes memory, take at least a quarter of "
        "the step.",
    .advice =
        "torch.compile, also of this function alone, makes one kernel of each chain. Some formulas have one: "
        "F.gelu(approximate=\"tanh\"), F.silu, F.rms_norm, F.layer_norm.",
    .jaxAdvice = "jax.jit around the whole step makes one kernel of each chain.",
    .otherAdvice = "Compute each chain in one kernel.",
    .find = [](RunFindings& run) { findFusible(run, isChain, minChainShare); },
    .say =
        [](const FindingText& text) { return saySequences(text, isChain, "Chains of elementwise kernels", "Fused"); },
    .evidence = [](const FindingText& text) { return evidenceOfGroups(text, isChain); },
    .order = putWasteBeforeChains,
};

const Rule kernelLoopRule{
    .id = "kernel_loop",
    .title = "A loop of elementwise kernels",
    .finds =
        "Sequences of 32 or more elementwise kernels, such as a loop over tensors, take at least 10 % of the step.",
    .advice =
        "torch._foreach_* (such as torch._foreach_lerp_) does the same for a list of tensors in a few kernels. For "
        "slices of one tensor, compute on the whole tensor.",
    .jaxAdvice = "jax.vmap or jax.lax.scan within jit replaces the loop.",
    .otherAdvice = "Compute on all tensors, or on the whole tensor, in one kernel.",
    .find = [](RunFindings& run) { findFusible(run, isLoop, minLoopShare); },
    .say =
        [](const FindingText& text) {
            return saySequences(text, isLoop, "Loops of elementwise kernels",
                                "In one kernel and without its idle time");
        },
    .evidence = [](const FindingText& text) { return evidenceOfGroups(text, isLoop); },
};

const Rule unfusedOptimizerRule{
    .id = "unfused_optimizer",
    .title = "Optimizer without fused kernels",
    .finds = "Kernels of an optimizer that each do one operation take at least 10 % of the step.",
    .advice =
        "fused=True (torch.optim.AdamW, Adam, SGD, Adagrad) updates all parameters in kernels that read and write each "
        "value once. For other optimizers try torch.compile of the step.",
    .jaxAdvice = "Update within jax.jit, with donated buffers.",
    .otherAdvice = "Update all parameters in a kernel that reads and writes each value once.",
    .find = [](RunFindings& run) { findFusible(run, isUnfusedOptimizer, minOptimizerShare); },
    .say =
        [](const FindingText& text) {
            return text.taking("Single operations of the optimizer take") + forecastText(text, "Fused");
        },
    .evidence = [](const FindingText& text) { return evidenceOfGroups(text, isUnfusedOptimizer); },
};

const Rule channelsFirstRule{
    .id = "channels_first",
    .title = "Convolutions in the slower layout",
    .finds =
        "Conversions between NCHW and NHWC around convolutions, with the kernels that work on NCHW only, take at least "
        "5 % of the step.",
    .advice =
        "model.to(memory_format=torch.channels_last), and the same for its input, keeps NHWC throughout. Pad channels "
        "to a multiple of 8.",
    .jaxAdvice = "Keep NHWC throughout (flax.linen.Conv does). Pad channels to a multiple of 8.",
    .otherAdvice = "Keep NHWC throughout. Pad channels to a multiple of 8.",
    .find = findChannelsFirst,
    .say = sayChannelsFirst,
    .evidence = [](const FindingText& text) { return evidenceByName(text, isChannelsFirst); },
};

const Rule recomputationRule{
    .id = "recomputation",
    .title = "Recomputation despite free memory",
    .finds =
        "Recomputed activations of checkpoints take at least 10 % of the step, while at most half of the GPU's memory "
        "is in use.",
    .advice = "Checkpoint fewer layers, or none, as long as the memory suffices.",
    .find = findRecomputation,
    .say = sayRecomputation,
    .evidence = [](const FindingText& text) { return evidenceOfGroups(text, isRecomputed); },
};

const Rule evaluationInStepRule{
    .id = "evaluation_in_step",
    .title = "Evaluation or checks within steps",
    .finds = "Functions named like an evaluation or a check take at least 10 % of the step, next to other work.",
    .advice = "Evaluate and check every few steps, or on a part of the data, from results that the step has anyway.",
    .find = findEvaluation,
    .say = [](const FindingText& text) { return text.taking("Functions named like an evaluation or a check take"); },
    .evidence = [](const FindingText& text) { return evidenceOfGroups(text, isEvaluation); },
};

const Rule irregularWorkRule{
    .id = "irregular_work",
    .title = "Sorting, random numbers or decompositions",
    .finds =
        "Sorting, sorted gradients of indexing, random numbers and decompositions of matrices take at least a fifth of "
        "the step.",
    .find = findIrregular,
    .say =
        [](const FindingText& text) {
            const KernelClass is = kernelClass(text.finding().contributor.work);
            return text.taking(is.trait == KernelTrait::SortedGradient
                                   ? "Gradients of indexing, which sort the indices, take"
                                   : fmt::format("Work that is slow on a GPU ({}) takes", name(is.family)));
        },
    .evidence = [](const FindingText& text) { return evidenceByName(text, isIrregular); },
    .advise = adviseIrregular,
};

const Rule typeConversionsRule{
    .id = "type_conversions",
    .title = "Conversions between number types",
    .finds = "Kernels that only convert to another number type take at least 20 % of the step.",
    .advice =
        "Keep weights and activations in one type: model.to(torch.bfloat16) with master weights in the optimizer, or "
        "one torch.autocast around the whole forward pass, without .float() between layers.",
    .jaxAdvice = "Keep weights and activations in one type.",
    .otherAdvice = "Keep weights and activations in one type.",
    .find = [](RunFindings& run) { run.addKernels(isConversion, minConversionShare); },
    .say = sayConversions,
    .evidence = [](const FindingText& text) { return evidenceByName(text, isConversion); },
    .advise = adviseConversions,
};

const Rule dataMovementRule{
    .id = "data_movement",
    .title = "Copies and moves within the GPU",
    .finds =
        "Copies within the GPU without overlap, and kernels that only move values, take at least a fifth of the step.",
    .advice =
        "Write results directly where they are wanted (out=, a buffer that is made once instead of repeated "
        "torch.cat), "
        "keep one memory format, and use views instead of clones.",
    .jaxAdvice =
        "Donate arguments that a jitted function returns changed (jax.jit(donate_argnums=...)): without it, each call "
        "copies them. Update parts of arrays within one jitted function.",
    .otherAdvice = "Write results where they are wanted, into buffers that stay, and copy less within the GPU.",
    .find = findDataMovement,
    .say = sayDataMovement,
    .evidence = movementEvidence,
};

const Rule idleSmsRule{
    .id = "idle_sms",
    .title = "Kernels too small for the GPU",
    .finds =
        "Kernels with at most one block for four SMs, which leave the rest of the GPU idle, take at least 40 % of the "
        "step.",
    .advice =
        "Give each launch more work: larger batches, all samples at once instead of a loop, independent products as "
        "one batched product.",
    .find = [](RunFindings& run) { run.addKernels(isSmall, minSmallShare); },
    .say = [](const FindingText& text) { return text.taking("Kernels of so few blocks that most SMs have none take"); },
    .evidence = [](const FindingText& text) { return evidenceOfGroups(text, isSmall); },
};

const Rule autotuningRule{
    .id = "autotuning",
    .title = "A compiler or autotuner tries kernels",
    .finds = "Kernels with which a compiler or autotuner compares algorithms take at least 3 % of the step.",
    .advice =
        "New values in the key of an autotuner (triton.autotune(key=...)) are tuned again: leave sizes that vary out "
        "of "
        "it, or pad them to a few.",
    .jaxAdvice =
        "New shapes are compiled and tuned again: pad them to a few sizes, and keep the results "
        "(jax_compilation_cache_dir).",
    .find = [](RunFindings& run) { run.addKernels(isTuning, minShare); },
    .say = [](const FindingText& text) { return text.taking("Trials of kernels by a compiler or autotuner take"); },
    .evidence = [](const FindingText& text) { return evidenceOfGroups(text, isTuning); },
    .order = putTuningBeforeOddSteps,
};

}  // namespace lanescope::explain
