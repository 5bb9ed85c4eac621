// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "model/analysis/groupKernels.h"
#include "model/explain/programKind.h"
#include "model/pages/ExplanationReport.h"
#include "model/reports/reports.h"
#include "model/text/kernelFamilies.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "tests/model/madeSteps.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::explain;

namespace {

constexpr const char* product = "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_NNT";
constexpr const char* single = "ampere_sgemm_128x64_nn";
constexpr const char* add =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
    ">(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";
constexpr const char* doubleAdd =
    "void at::native::vectorized_elementwise_kernel<2, at::native::CUDAFunctor_add<double>, std::array<char*, 3ul> "
    ">(int, at::native::CUDAFunctor_add<double>, std::array<char*, 3ul>)";
constexpr const char* conversion =
    "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)"
    "::{lambda(float)#1}, std::array<char*, 2ul> >(int)";
constexpr const char* reduction =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float>, unsigned "
    "int, float, 4> >(at::native::ReduceOp<float>)";
constexpr const char* softmax =
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(float*, float const*)";
constexpr const char* logSoftmax =
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(float*, float const*)";
constexpr const char* norm = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)";
constexpr const char* toNhwc = "void cudnn::engines_precompiled::nchwToNhwcKernel<float, float, float>(int)";
constexpr const char* batchNorm = "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(int)";
constexpr const char* convolution =
    "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x64x32_execute_kernel__5x_cudnn";
constexpr const char* foreachMul =
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0> "
    ">(int)";
constexpr const char* fusedAdam =
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float> "
    ">(int)";
constexpr const char* sort =
    "void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<at_cuda_detail::cub::Policy, false>(int)";
constexpr const char* unaligned =
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_nn_align2>(int)";
constexpr const char* singleAttention =
    "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, "
    "cutlass::arch::Sm80>::Params)";
constexpr const char* attention =
    "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_t>::Params)";
constexpr const char* anyReduction =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<bool, at::native::func_wrapper_t<bool, "
    "at::native::or_kernel_cuda(at::TensorIterator&)>, unsigned int, bool, 4> >(int)";
constexpr const char* tuning = "stream_executor::gpu::RedzoneAllocatorKernelImpl(unsigned char*, unsigned char)";

struct Launched {
    const char* name;
    int64_t us;
    std::string file = {};
    std::string function = {};
    uint32_t blocks = 1024;
    bool isConcurrent = false;  ///< Runs as long as the one before, at the same time on another stream.
    std::string code = {};      ///< Text of its line.
    int64_t idleUs = 0;         ///< The GPU is idle before it.
};

/// Ten steps of the same kernels.
RunSummary summaryOf(const std::vector<Launched>& work, int64_t usedMemory = 0) {
    SimulatedTrace made;
    const uint32_t thread = made.defaultThread(), stream = made.defaultStream();
    const uint32_t secondStream = made.stream(0, 0, 1, 77);
    int64_t atNs = 1'000'000;
    uint32_t correlation = 0;
    for (int64_t number = 0; number < 10; ++number) {
        int64_t stepNs = 0;
        for (const Launched& each : work) stepNs += each.isConcurrent ? 0 : (each.us + each.idleUs) * 1'000;
        made.addNvtx(thread, "step " + std::to_string(number), atNs, atNs + stepNs);
        int64_t callNs = atNs + 1'000, kernelNs = atNs + 10'000;
        for (const Launched& each : work) {
            uint32_t stack = noIndex;
            if (!each.file.empty())
                stack = made.stack(noIndex, made.intern(each.function), made.intern(each.file), 12, 0, 0,
                                   each.code.empty() ? 0 : made.intern(each.code));
            made.addApi(thread, "cuLaunchKernel", callNs, callNs + 200, ++correlation, stack);
            callNs += 300;
            LaunchConfig config;
            config.shortName = config.mangledName = config.demangledName = made.intern(each.name);
            config.grid = {each.blocks, 1, 1};
            config.block = {128, 1, 1};
            kernelNs += (each.isConcurrent ? -each.us : each.idleUs) * 1'000;
            made.add<kinds::Kernel>({.startNs = kernelNs,
                                     .endNs = kernelNs + each.us * 1'000,
                                     .stream = each.isConcurrent ? secondStream : stream,
                                     .correlation = correlation,
                                     .config = made.launchConfig(config)});
            kernelNs += each.us * 1'000;
        }
        atNs += stepNs;
    }
    Result<RunSummary> summary = summarizeRun(*made.finish());
    if (!summary) qFatal("The run cannot be summarized.");
    for (WorkerSummary& worker : summary->workers) {
        worker.hasTensorFloat = true;
        worker.usedMemoryBytes = usedMemory;
        worker.memoryBytes = 100;
    }
    return *summary;
}

std::vector<Launched> repeated(size_t times, const std::vector<Launched>& work, const std::vector<Launched>& rest) {
    std::vector<Launched> all = rest;
    for (size_t time = 0; time < times; ++time) all.insert(all.end(), work.begin(), work.end());
    return all;
}

}  // namespace

class tst_KernelRules : public QObject {
    Q_OBJECT

  private slots:
    void everyFamilyPatternHasItsSource() {
        for (const FamilyPattern& each : familyPatterns()) {
            QVERIFY((!each.begin.empty() || !each.part.empty() || !each.word.empty()) && !each.source.empty());
        }
    }

    void kernelsHaveTheirClass_data() {
        const test::Rows<QString, QString> rows;
        const auto row = [&](const char* kernel, const char* is) { rows(kernel, kernel, is); };
        row(product, "matrix_product bf16 none");
        row("nvjet_hsh_64x8_64x16_4x1_v_bz_NNT", "matrix_product fp16 none");
        row(single, "matrix_product fp32 none");
        row("volta_dgemm_128x64_nn", "matrix_product fp64 none");
        row("groupedgemm_kernel", "matrix_product unknown none");
        row("sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x128x32_execute_kernel__5x_cublas",
            "matrix_product tf32 none");
        row("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
            "matrix_product fp32 none");
        row("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(int)", "matrix_product fp32 none");
        row("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align4>(int)",
            "matrix_product tf32 none");
        row(unaligned, "matrix_product bf16 unaligned");
        row("cutlass_80_tensorop_f16_s16816gemm_f16_64x64_nn_align16", "matrix_product fp16 none");
        row("void gemv2T_kernel_val<int, int, __nv_bfloat16, float>(int)", "matrix_product bf16 none");
        row("Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1", "matrix_product unknown none");
        row("gemm_fusion_dot_12", "matrix_product unknown none");
        row("triton_tem_fused_addmm_3", "matrix_product unknown none");
        row("void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64> >(flash::Params)", "attention unknown none");
        row("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x64_kernel0_0",
            "attention unknown none");
        row("fmha_cutlassB_f32_aligned_64x64_k64_sm80(PyTorchMemEffAttention::AttentionBackwardKernel::Params)",
            "attention fp32 none");
        row(convolution, "convolution bf16 none");
        row("volta_scudnn_128x64_relu_interior_nn_v1", "convolution fp32 none");
        row("void implicit_convolve_sgemm<__nv_bfloat16, __nv_bfloat16, 1024>(int)", "convolution bf16 none");
        row("void "
            "cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_128x128_16x4_nhwc_align4>(int)",
            "convolution tf32 none");
        row(toNhwc, "layout unknown none");
        row("batched_transpose_16x32_half", "layout unknown none");
        row(batchNorm, "normalization unknown channels_first");
        row("void cudnn::batchnorm_fwtr_nhwc_semiPersist<float>(int)", "normalization unknown none");
        row("void at::native::batch_norm_backward_kernel<c10::BFloat16, float, float, int>(int)",
            "normalization unknown channels_first");
        row(norm, "normalization unknown none");
        row("triton_red_fused__to_copy_native_layer_norm_backward_view_10", "normalization unknown none");
        row(softmax, "softmax unknown none");
        row(logSoftmax, "softmax unknown log_softmax");
        row("void cunn_SoftMaxForward<8, float, float, float, at::native::LogSoftMaxForwardEpilogue>(float*)",
            "softmax unknown log_softmax");
        row(add, "elementwise unknown none");
        row(doubleAdd, "elementwise fp64 none");
        row("void at::native::vectorized_elementwise_kernel<4, "
            "at::native::nan_to_num_kernel_cuda(at::TensorIteratorBase&, "
            "c10::optional<double>)::{lambda(float)#1}>(int)",
            "elementwise unknown none");
        row("triton_poi_fused_gelu_gelu_backward_view_7", "elementwise unknown none");
        row("loop_add_tanh_fusion", "elementwise unknown none");
        row("input_add_reduce_fusion", "reduction unknown none");
        row("wrapped_transpose", "movement unknown none");
        row(reduction, "reduction unknown none");
        row(conversion, "conversion unknown none");
        row("void at::native::elementwise_kernel<128, 4, direct_copy_kernel_cuda(at::TensorIteratorBase&)>(int)",
            "movement unknown none");
        row("void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda(at::TensorIteratorBase&), "
            "LoadWithCast<1> >(int)",
            "conversion unknown none");
        row("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 1, 128, 1>(float*)",
            "movement unknown none");
        row(fusedAdam, "optimizer unknown none");
        row(foreachMul, "optimizer unknown foreach");
        row(sort, "sort unknown none");
        row("void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(int)", "index unknown none");
        row("void at::native::(anonymous namespace)::fused_dropout_kernel_vec<c10::BFloat16, float>(int)",
            "elementwise unknown none");
        row("void at::native::distribution_elementwise_grid_stride_kernel<float, 4>(long)", "random unknown none");
        row("void at::native::indexing_backward_kernel<float, 4>(long const*)", "index unknown sorted_gradient");
        row("void at::native::vectorized_gather_kernel<16, long>(char*)", "index unknown none");
        row("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)",
            "fill unknown none");
        row("void at::native::(anonymous namespace)::max_pool_backward_nchw<float, float>(float const*)",
            "pooling unknown channels_first");
        row("void getrf_pivot<double, double>(int)", "decomposition fp64 triangular");
        row("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication unknown none");
        row(tuning, "other unknown tuning");
        row("my_stencil", "other unknown none");
    }
    void kernelsHaveTheirClass() {
        const auto [kernel, is] = test::row<QString, QString>();
        const KernelClass found = kernelClass(kernel.toStdString());
        QCOMPARE(QString::fromStdString(fmt::format("{} {} {}", identifier(found.family), identifier(found.precision),
                                                    identifier(found.trait))),
                 is);
    }

    void ruleFindsTheFaultAndNotTheChange_data() {
        const test::Rows<std::vector<Launched>, std::vector<Launched>, int, const Rule*> rows;
        const auto row = [&](const Rule& rule, const std::vector<Launched>& before, const std::vector<Launched>& after,
                             int used = 0, const char* more = "") {
            rows(fmt::format("{}{}", rule.id, more).c_str(), before, after, used, &rule);
        };
        const std::vector<Launched> rest(10, Launched{product, 50});
        const std::string train = "/src/train.py", adam = "/lib/python3/site-packages/torch/optim/adam.py";
        row(singlePrecisionRule, {{single, 400}, {norm, 600}}, {{product, 60}, {norm, 600}});
        row(singlePrecisionRule, {{"volta_scudnn_128x64_relu_interior_nn_v1", 400}, {norm, 600}},
            {{convolution, 60}, {norm, 600}}, 0, " convolution");
        row(singleAttentionRule, {{product, 500}, {singleAttention, 300}}, {{product, 500}, {attention, 60}});
        row(singleAttentionRule, {{product, 500}, {singleAttention, 300}}, {{single, 500}, {singleAttention, 300}}, 0,
            " of a program in fp32");
        row(doublePrecisionRule, {{product, 500}, {doubleAdd, 100}}, {{product, 500}, {add, 50}});
        row(doublePrecisionRule, {{product, 500}, {"volta_dgemm_128x64_nn", 100}}, {{doubleAdd, 500}, {doubleAdd, 100}},
            0, " product");
        row(unalignedProductsRule, {{product, 500}, {unaligned, 100}}, {{product, 500}, {product, 60}});
        row(writtenAttentionRule,
            repeated(4, {{product, 20}, {add, 20}, {add, 20}, {softmax, 20}, {conversion, 5}, {product, 20}, {norm, 5}},
                     rest),
            repeated(4,
                     {{product, 20}, {add, 20}, {add, 20}, {logSoftmax, 20}, {conversion, 5}, {product, 20}, {norm, 5}},
                     rest));
        // Queries, keys and values may need a conversion each.
        row(attentionMaskRule,
            repeated(4, {{conversion, 10, train, "forward"}, {attention, 80, train, "forward"}}, rest),
            repeated(4,
                     {{conversion, 10, train, "forward"},
                      {conversion, 10, train, "forward"},
                      {attention, 80, train, "forward"}},
                     rest));
        row(unfusedChainsRule, repeated(8, {{add, 10}, {add, 10}, {add, 10}, {add, 10}, {product, 20}}, rest),
            repeated(8, {{add, 10}, {product, 20}, {add, 10}, {norm, 5}}, rest));
        // Kernels of a compiler are no chain.
        row(unfusedChainsRule,
            repeated(8, {{add, 10}, {reduction, 5}, {add, 10}, {add, 10}, {add, 10}, {product, 20}}, rest),
            repeated(
                8,
                {{"loop_a_fusion", 9}, {"loop_b_fusion", 9}, {"loop_c_fusion", 9}, {"loop_d_fusion", 9}, {product, 20}},
                rest),
            0, " with a reduction");
        row(kernelLoopRule, repeated(40, {{add, 4}}, rest), repeated(2, {{foreachMul, 10}}, rest));
        row(unfusedOptimizerRule, repeated(40, {{add, 4, adam, "_single_tensor_adam"}}, rest),
            repeated(1, {{fusedAdam, 60, adam, "_fused_adam"}}, rest));
        row(unfusedOptimizerRule, repeated(10, {{foreachMul, 20, adam, "_multi_tensor_adam"}}, rest),
            repeated(10,
                     {{foreachMul, 20, "/lib/python3/site-packages/torch/nn/utils/clip_grad.py", "clip_grad_norm_"}},
                     rest),
            0, " foreach");
        row(channelsFirstRule, repeated(4, {{toNhwc, 10}, {convolution, 40}, {batchNorm, 60}}, rest),
            repeated(4, {{convolution, 40}, {"void cudnn::batchnorm_fwtr_nhwc_semiPersist<float>(int)", 20}}, rest));
        const std::string checkpoint = "/lib/python3/site-packages/torch/utils/checkpoint.py";
        row(recomputationRule, repeated(4, {{product, 50, checkpoint, "recompute_fn"}}, rest),
            repeated(4, {{product, 50, train, "forward"}}, rest), 10);
        // Without free memory recomputation is right.
        row(recomputationRule, repeated(4, {{product, 50, checkpoint, "recompute_fn"}}, rest),
            repeated(4, {{product, 50, checkpoint, "checkpoint"}}, rest), 20, " not of the first pass");
        row(evaluationInStepRule, repeated(2, {{product, 50, train, "accuracy"}}, rest),
            repeated(2, {{product, 50, train, "loss"}}, rest));
        row(evaluationInStepRule, repeated(2, {{product, 50, train, "accuracy"}}, rest),
            repeated(2, {{product, 50, train, "accuracy"}}, {}), 0, " of a program that evaluates");
        row(evaluationInStepRule, repeated(2, {{product, 50, train, "step.<locals>.accuracy"}}, rest),
            repeated(2, {{product, 50, train, "metrics.<locals>.step"}}, rest), 0, " within a function");
        const Launched gradient{"void at::native::(anonymous namespace)::compute_grad_weight<float, long>(long)", 20};
        const Launched fill{"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)",
                            40};
        row(denseEmbeddingsRule, {{product, 200}, gradient, fill, {fusedAdam, 400, adam, "_fused_adam"}},
            {{product, 200}, gradient, {fusedAdam, 400, adam, "_fused_adam"}});
        row(denseEmbeddingsRule,
            {{product, 200}, gradient, {fill.name, 12}, {foreachMul, 400, adam, "_multi_tensor_adam"}},
            {{product, 200}, gradient, {fill.name, 4}, {foreachMul, 400, adam, "_multi_tensor_adam"}}, 0, " foreach");
        row(irregularWorkRule, {{product, 500}, {sort, 200}}, {{product, 500}, {sort, 20}});
        row(irregularWorkRule, {{product, 500}, {"void gesvdbj_batch_32x16<float>(int)", 200}},
            {{product, 500}, {"void kernel_trsm_l_mul32<double, 8, false>(int)", 200}}, 0, " decomposition");
        row(irregularWorkRule,
            {{product, 500}, {"void at::native::indexing_backward_kernel<float, 4>(long const*)", 200}},
            {{product, 500}, {"void at::native::indexFuncLargeIndex<float, long>(int)", 200}}, 0, " gradient");
        row(typeConversionsRule, {{product, 500}, {conversion, 200}}, {{product, 500}, {conversion, 100}});
        row(idleSmsRule, {{product, 200}, {product, 400, {}, {}, 8}}, {{product, 200}, {product, 100, {}, {}, 512}});
        row(idleSmsRule, {{product, 200}, {product, 400, {}, {}, 8}},
            {{product, 200}, {product, 400, {}, {}, 8}, {reduction, 400, {}, {}, 64, true}}, 0, " next to others");
        row(autotuningRule, {{"gemm_fusion_dot_12", 500}, {tuning, 100}}, {{"gemm_fusion_dot_12", 500}, {tuning, 10}});
        const std::string tuner = "/lib/python3/site-packages/triton/runtime/autotuner.py";
        row(autotuningRule, {{product, 500}, {add, 100, tuner, "Autotuner._bench.<locals>.kernel_call"}},
            {{product, 500}, {add, 100, tuner, "Autotuner.run"}}, 0, " of Triton");
    }
    void ruleFindsTheFaultAndNotTheChange() {
        const auto [before, after, used, rule] =
            test::row<std::vector<Launched>, std::vector<Launched>, int, const Rule*>();
        const RunSummary run = summaryOf(before, used);
        const Explanation explanation = explain::explain(run);
        const Finding* found = findingOf(explanation, rule);
        QVERIFY2(found != nullptr, report::explanationAsText({run, explanation}).c_str());
        // One cause has one finding.
        QCOMPARE(rulesOf(explanation), std::vector{rule});
        QVERIFY(!found->sql.empty() && !found->advice.empty() && !found->contributor.empty());
        QVERIFY2(found->maxGainNs <= explanation.workers.front().meanNs, found->sentence.c_str());
        const Explanation changed = explain::explain(summaryOf(after, used));
        const Finding* left = findingOf(changed, rule);
        QVERIFY2(left == nullptr, left == nullptr ? "" : left->sentence.c_str());
    }

    void forecastsCountWhatRemains_data() {
        const test::Rows<std::vector<Launched>, const Rule*, int> rows;
        const auto row = [&](const Rule& rule, const std::vector<Launched>& work, int forecastUs,
                             const char* more = "") {
            rows(fmt::format("{}{}", rule.id, more).c_str(), work, &rule, forecastUs);
        };
        const std::vector<Launched> rest(10, Launched{product, 50});
        const std::string train = "/src/train.py", adam = "/lib/python3/site-packages/torch/optim/adam.py";
        row(unfusedChainsRule, repeated(8, {{add, 10}, {add, 30}, {add, 10}, {add, 10}, {product, 20}}, rest), 8 * 30);
        row(kernelLoopRule, repeated(20, {{add, 4, train, "scale"}, {add, 2, train, "shift"}}, rest), 20 * 2);
        // Gaps of up to 50 us within the loop count, not the first one.
        std::vector<Launched> end = rest;
        end.insert(end.begin(), {add, 2, train, "shift", 1024, false, {}, 55});
        row(kernelLoopRule, repeated(20, {{add, 4, train, "scale", 1024, false, {}, 5}, {add, 2, train, "shift"}}, end),
            21 * 2 + 19 * 5, " with idle time");
        // All of the loop is one operation.
        row(kernelLoopRule, repeated(40, {{add, 4}}, rest), 0, " of one operation");
        row(unfusedOptimizerRule,
            repeated(10,
                     {{add, 4, adam, "lerp"}, {add, 4, adam, "mul"}, {add, 8, adam, "addcmul"}, {add, 4, adam, "a"}},
                     rest),
            10 * (20 - 2 * 8));
        row(doublePrecisionRule, {{product, 500}, {"volta_dgemm_128x64_nn", 100}}, 87);
        row(doublePrecisionRule, {{product, 500}, {doubleAdd, 100}}, 50, " elementwise");
        row(channelsFirstRule, repeated(4, {{toNhwc, 10}, {convolution, 40}, {batchNorm, 60}}, rest), 4 * (10 + 30));
    }
    void forecastsCountWhatRemains() {
        const auto [work, rule, forecastUs] = test::row<std::vector<Launched>, const Rule*, int>();
        const RunSummary run = summaryOf(work);
        const Explanation explanation = explain::explain(run);
        const Finding* found = findingOf(explanation, rule);
        QVERIFY2(found != nullptr, report::explanationAsText({run, explanation}).c_str());
        const int64_t missedNs = std::abs(found->forecastNs - forecastUs * 1'000);
        QVERIFY2(missedNs < 1'000, std::to_string(found->forecastNs).c_str());
        QCOMPARE(found->sentence.find(", about ") != std::string::npos, forecastUs > 0);
        QVERIFY2(found->sentence.find(",,") == std::string::npos, found->sentence.c_str());
    }

    void linesAreQuoted() {
        const Launched sorting{sort, 200, "/src/train.py", "rank", 1024, false, "scores.sort(descending=True)"};
        const RunSummary run = summaryOf({{product, 500}, sorting});
        QCOMPARE(run.workers.front().code,
                 (std::vector<CodeLine>{{"train.py:12 in rank", "train.py:12", "scores.sort(descending=True)"}}));
        // Files of one name and different texts are not distinguished.
        Launched other = sorting;
        other.file = "/other/train.py";
        other.code = "other()";
        QVERIFY(summaryOf({{product, 500}, sorting, other}).workers.front().code.empty());
        const Explanation explanation = explain::explain(run);
        QCOMPARE(explanation.findings.front().code, std::string("train.py:12: scores.sort(descending=True)"));
        const report::ExplanationReport report{run, explanation};
        HAS(report::explanationAsText(report), "Code: train.py:12: scores.sort(descending=True)\n");
        HAS(report::explanationAsHtml(report), "<code>train.py:12: scores.sort(descending=True)</code>");
        HAS(report::explanationAsJson(report), "\"code\": \"train.py:12: scores.sort(descending=True)\"");
    }

    /// A backward pass has the line of its caller; the forward pass is where the code is.
    void lineOutsideOfTheBackwardPassIsNamed() {
        const std::string train = "/src/train.py";
        RunSummary run =
            summaryOf({{product, 500},
                       {"void at::native::indexing_backward_kernel<float, 4>(long const*)", 200},
                       {"void at::native::indexFuncLargeIndex<float, long>(int)", 20, train, "Bias.forward"}});
        const Explanation explanation = explain::explain(run);
        QCOMPARE(explanation.findings.front().rule, &irregularWorkRule);
        HAS(explanation.findings.front().sentence, " (outside of the backward pass: train.py:12 in Bias.forward)");
    }

    void recomputationIsRightIfMemoryIsUsed() {
        const std::vector<Launched> work{{product, 500},
                                         {product, 200, "/lib/torch/utils/checkpoint.py", "recompute_fn"}};
        QVERIFY(findingOf(explain::explain(summaryOf(work, 90)), &recomputationRule) == nullptr);
        QVERIFY(findingOf(explain::explain(summaryOf(work, 0)), &recomputationRule) == nullptr);
    }

    void singleSoftmaxIsNoAttention() {
        const std::vector<Launched> work{{product, 100}, {add, 50}, {softmax, 200}, {product, 100}};
        QVERIFY(rulesOf(explain::explain(summaryOf(work))).empty());
    }

    void conversionsOfAnInferenceAreThoseOfWeights() {
        const std::string file = "/src/serve.py", adam = "/lib/python3/site-packages/torch/optim/adam.py";
        const auto adviceFor = [](const std::vector<Launched>& work) {
            const Explanation explanation = explain::explain(summaryOf(work));
            const Finding* found = findingOf(explanation, &typeConversionsRule);
            return found == nullptr ? std::string() : found->sentence + found->advice;
        };
        const std::vector<Launched> inference{{product, 500, file, "forward"}, {conversion, 200, file, "forward"}};
        const std::string advice = adviceFor(inference);
        for (const char* part : {"most likely these are weights", "Convert the model once"}) HAS(advice, part);
        for (const std::vector<Launched>& other :
             {std::vector<Launched>{{product, 500}, {conversion, 200}},
              repeated(1, {{fusedAdam, 50, adam, "_fused_adam"}}, inference),
              repeated(1, {{"void at::native::GeluBackwardCUDAKernelImpl<float>(int)", 50, file, "f"}}, inference)}) {
            const std::string otherAdvice = adviceFor(other);
            HAS(otherAdvice, "Keep weights and activations");
            HAS_NO(otherAdvice, "weights, which");
        }
    }

    void workOfCompiledProgramsIsNotClaimed_data() {
        const test::Rows<std::string, bool, bool> rows;
        rows("loop", "while.# (Thunk)/command_buffer_# (Thunk)", false, false);
        rows("loop in a module", "jit_step (XlaModule)/while.3 in jit_step (Thunk)", false, false);
        rows("program", "jit_step (XlaModule)/copy.# (Thunk)", true, false);
        rows("program that makes an array", "jit_broadcast_in_dim (XlaModule)/broadcast.# (Thunk)", true, true);
        rows("range of the program", "while waiting", true, true);
    }
    void workOfCompiledProgramsIsNotClaimed() {
        const auto [path, hasCopies, hasMemsets] = test::row<std::string, bool, bool>();
        const auto isFound = [&](StepPart part, ContributorKind kind, const Rule& rule) {
            MadeRun made;
            Contributor each = contributor(part, kind, "some", 0);
            each.path = path;
            made.add(0, each, 40 * ms);
            return findingOf(explain::explain(made.run()), &rule) != nullptr;
        };
        QCOMPARE(isFound(StepPart::ExposedDtoD, ContributorKind::Copy, dataMovementRule), hasCopies);
        QCOMPARE(isFound(StepPart::Memset, ContributorKind::Memset, memsetsRule), hasMemsets);
    }

    void checksOfGradientsAreReported_data() {
        const test::Rows<int64_t, int64_t, bool, bool> rows;
        rows("anomaly detection", 1'000, 1'004, true, true);
        rows("larger copies", 1'000, 4'000, true, false);
        rows("one per step", 10, 10, true, false);
        rows("line of the program", 1'000, 1'000, false, false);
    }
    void checksOfGradientsAreReported() {
        const auto [count, bytes, isOfCaller, isReported] = test::row<int64_t, int64_t, bool, bool>();
        MadeRun made;
        made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("cuStreamSynchronize"), 30 * ms);
        Contributor copies = contributor(StepPart::ExposedDtoH, ContributorKind::Copy, "DtoH to pinned", 0);
        Contributor reductions = contributor(StepPart::Compute, ContributorKind::Kernel, anyReduction, 0);
        copies.count = reductions.count = count;
        copies.bytes = bytes;
        copies.launched = reductions.launched = {"called from train.py:9 in step", "train.py:9 in step"};
        copies.isOfCaller = reductions.isOfCaller = isOfCaller;
        made.add(0, copies, ms);
        made.add(0, reductions, ms);
        const Finding found = foundBy(explain::explain(made.run()), &hostSyncRule);
        QCOMPARE(found.sentence.find("100 copies per step of one byte read results of \"any\" within the backward pass "
                                     "called from train.py:9 in step; no line of the program") != std::string::npos,
                 isReported);
        // The checks run on the GPU, too.
        QCOMPARE(found.maxGainNs, isReported ? 32 * ms : 30 * ms);
        QCOMPARE(found.advice.find("set_detect_anomaly") != std::string::npos, isReported);
    }

    /// Copies and kernels of the checks are part of one finding, which a replay without waits does not forecast.
    void checksOfGradientsCountOnce() {
        for (const bool isPageable : {false, true}) {
            MadeRun made;
            made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("cuStreamSynchronize"), 30 * ms);
            Contributor copies = contributor(StepPart::ExposedDtoH, ContributorKind::Copy, "DtoH", 0,
                                             isPageable ? ContributorTrait::Pageable : ContributorTrait::None);
            Contributor tests = contributor(StepPart::Compute, ContributorKind::Kernel, anyReduction, 0);
            copies.count = copies.bytes = tests.count = 1'000;
            Contributor own = tests;
            copies.launched = tests.launched = {"called from train.py:9 in step", "train.py:9 in step"};
            copies.isOfCaller = tests.isOfCaller = true;
            made.add(0, copies, 10 * ms);
            made.add(0, tests, 60 * ms);
            // The program's own reduction is no check.
            made.add(0, own, 5 * ms);
            made.run().workers[0].forecasts = {{causality::Subject::Sync, 20 * ms, ms}};
            const Explanation explanation = explain::explain(made.run());
            const Finding* found = findingOf(explanation, &hostSyncRule);
            QVERIFY(found != nullptr && !found->saving);
            QCOMPARE(found->maxGainNs, isPageable ? 90 * ms : 100 * ms);
            QCOMPARE(found->sentence.find("the checks' kernels and copies, and idle") == std::string::npos, isPageable);
            QVERIFY(findingOf(explanation, &exposedCopiesRule) == nullptr);
            QCOMPARE(findingOf(explanation, &pageableCopiesRule) != nullptr, isPageable);
            for (const Finding& each : explanation.findings) QVERIFY(each.contributor != ContributorName(anyReduction));
        }
    }

    void adviceFitsTheFramework() {
        const auto adviceOf = [](const char* elementwise) {
            MadeRun made;
            made.run().workers[0].hasTensorFloat = true;
            made.run().workers[0].contributors[0].name = elementwise;
            made.add(StepPart::Compute, ContributorKind::Kernel, single, 90 * ms);
            const Explanation explanation = explain::explain(made.run());
            const Finding* found = findingOf(explanation, &singlePrecisionRule);
            return found == nullptr ? std::string() : found->advice;
        };
        QVERIFY(adviceOf(add).find("use TF32: torch.") != std::string::npos);
        QVERIFY(adviceOf("loop_add_fusion").find("use TF32: jax_") != std::string::npos);
        const std::string neutral = adviceOf("my_stencil");
        QVERIFY(!neutral.empty() && neutral.find("torch") == std::string::npos &&
                neutral.find("jax") == std::string::npos);
    }

    void computeSentenceNamesFamilies() {
        const RunSummary run = summaryOf({{product, 610}, {add, 210}, {norm, 150}, {"my_stencil", 30}});
        const Explanation explanation = explain::explain(run);
        QCOMPARE(explanation.compute, std::string("Of the compute: matrix products 61.0 % (bf16), elementwise 21.0 %, "
                                                  "normalization 15.0 %, other 3.0 %."));
        const report::ExplanationReport report{run, explanation};
        QVERIFY(report::explanationAsText(report).find("Of the compute: matrix") != std::string::npos);
        QVERIFY(report::explanationAsHtml(report).find("Of the compute: matrix") != std::string::npos);
        const auto json = nlohmann::json::parse(report::explanationAsJson(report));
        QCOMPARE(json["compute"]["sentence"].get<std::string>(), explanation.compute);
        QCOMPARE(json["compute"]["families"][0]["family"].get<std::string>(), std::string("matrix_product"));
        QCOMPARE(json["compute"]["families"][0]["precision"].get<std::string>(), std::string("bf16"));
    }

    void productsInDoublePrecisionAreMentioned() {
        const Explanation explanation =
            explain::explain(summaryOf(repeated(10, {{"volta_dgemm_128x64_nn", 50}}, {{norm, 20}})));
        QVERIFY(explanation.findings.empty());
        HAS(explanation.compute, " The matrix products are in double precision. If fp32 suffices, convert the data");
    }

    void familiesSumToTheComputeTime() {
        const RunSummary run = summaryOf(repeated(8, {{add, 10}, {add, 10}, {add, 10}, {product, 20}, {sort, 5}}, {}));
        int64_t sumNs = 0;
        for (const FamilySum& each : familySums(run.workers.front())) sumNs += each.exposedNs;
        QCOMPARE(sumNs, run.workers.front().totalParts()[StepPart::Compute]);
        const std::vector<FamilySum> sums = familySums(run.workers.front());
        QCOMPARE(sums.front().family, KernelFamily::Elementwise);
        QCOMPARE(sums.front().count, int64_t(240));
    }
};

LANESCOPE_TEST(tst_KernelRules, NoApplication)
#include "tst_KernelRules.moc"
