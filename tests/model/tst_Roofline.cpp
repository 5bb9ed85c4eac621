// SPDX-License-Identifier: Apache-2.0

#include "model/analysis/RunSummary.h"
#include "model/analysis/rooflineRows.h"
#include "model/bandwidth/tensorUse.h"
#include "model/explain/Explanation.h"
#include "model/explain/rules.h"
#include "model/reports/reports.h"
#include "model/roofline/OperatorCall.h"
#include "model/roofline/ShapedCalls.h"
#include "model/roofline/operatorWork.h"
#include "model/trace/counterReadings.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/exported.h"
#include "tests/support/runTest.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;
using namespace lanescope::analysis;
using torchTrace::loaded;
using torchTrace::slice;
using torchTrace::traceOf;

namespace {

constexpr int64_t ms = 1'000'000;

/// Counts multiplications and additions one by one.
struct Machine {
    double operations = 0;
    void multiplyAdd() { operations += 2; }
};

double product(int b, int m, int n, int k) {
    Machine machine;
    for (int i = 0; i < b * m * n; ++i)
        for (int inner = 0; inner < k; ++inner) machine.multiplyAdd();
    return machine.operations;
}

struct Convolution {
    int batch, in, out, groups, size, kernel, stride, padding, dilation;
    int length() const { return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1; }
};

/// Counts each weight of each result, also where it lies in the padding, as the literature does.
double convolution(const Convolution& of) {
    Machine machine;
    for (int image = 0; image < of.batch; ++image)
        for (int filter = 0; filter < of.out; ++filter)
            for (int y = 0; y < of.length(); ++y)
                for (int x = 0; x < of.length(); ++x)
                    for (int channel = 0; channel < of.in / of.groups; ++channel)
                        for (int weight = 0; weight < of.kernel * of.kernel; ++weight) machine.multiplyAdd();
    return machine.operations;
}

/// Each element of the input meets each weight of its group.
double transposedConvolution(int batch, int in, int outOfGroup, int size, int kernel) {
    Machine machine;
    for (int each = 0; each < batch * in * size * size; ++each)
        for (int weight = 0; weight < outOfGroup * kernel * kernel; ++weight) machine.multiplyAdd();
    return machine.operations;
}

struct Attention {
    int batch, heads, queries, keys, keyWidth, valueWidth;
    bool isCausal, endsTogether;
};

/// Products of one forward: scores, and their mean of values. Times `products` of each width.
double attention(const Attention& of, int keyProducts, int valueProducts) {
    Machine machine;
    for (int head = 0; head < of.batch * of.heads; ++head)
        for (int query = 0; query < of.queries; ++query)
            for (int key = 0; key < of.keys; ++key) {
                const int lead = of.endsTogether ? of.keys - of.queries : 0;
                if (of.isCausal && key > query + lead) continue;
                for (int each = 0; each < keyProducts * of.keyWidth + valueProducts * of.valueWidth; ++each)
                    machine.multiplyAdd();
            }
    return machine.operations;
}

std::optional<OperatorWork> worked(const char* name, const std::string& payload) {
    const auto call = operatorCall(name, payload);
    return call ? workOf(*call) : std::nullopt;
}

std::string attentionPayload(const Attention& of, const char* before, const char* after) {
    const std::string q =
        QString("[%1, %2, %3, %4]").arg(of.batch).arg(of.heads).arg(of.queries).arg(of.keyWidth).toStdString();
    const std::string k =
        QString("[%1, %2, %3, %4]").arg(of.batch).arg(of.heads).arg(of.keys).arg(of.keyWidth).toStdString();
    const std::string v =
        QString("[%1, %2, %3, %4]").arg(of.batch).arg(of.heads).arg(of.keys).arg(of.valueWidth).toStdString();
    const std::string first = *before ? "[" + q.substr(1) + ", " : "";
    return "[" + first + q + ", " + k + ", " + v + "] [] [" + after + "]";
}

const std::string bf16 = R"("c10::BFloat16")";

/// An operator and its kernel, on a thread of a file of torch.profiler. Times in microseconds.
std::vector<std::string> launched(const std::string& name, const std::string& arguments, int at, int kernelAt, int took,
                                  int correlation, const std::string& kernel = "sm90_xmma_gemm_bf16bf16_bf16f32",
                                  const std::string& thread = "4001") {
    const std::string number = std::to_string(correlation);
    return {slice("cpu_op", name, "4000", thread, std::to_string(at), "8", arguments),
            slice("cuda_runtime", "cudaLaunchKernel", "4000", thread, std::to_string(at + 2), "4",
                  R"("correlation": )" + number),
            slice("kernel", kernel, "0", "7", std::to_string(kernelAt), std::to_string(took),
                  R"("device": 0, "context": 1, "stream": 7, "correlation": )" + number)};
}

std::string shapes(const std::string& dims, const std::string& types) {
    return R"("Input Dims": )" + dims + R"(, "Input type": )" + types;
}

const std::string gpuProperties =
    R"("deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150, "computeMajor": 9, )"
    R"("computeMinor": 0, "numSms": 132}],)";

TracePtr traceWith(const std::vector<std::vector<std::string>>& parts) {
    std::vector<std::string> events;
    for (const auto& part : parts) events.insert(events.end(), part.begin(), part.end());
    return loaded(traceOf(events, gpuProperties));
}

CounterSeries counter(const char* key, const char* source, CounterUnit unit, int64_t everyNs,
                      const std::vector<double>& list, int64_t startNs = 0) {
    CounterSeries series;
    series.key = series.name = key;
    series.source = source;
    series.unit = unit;
    series.gpu = 0;
    LargeVector<int64_t> times;
    LargeVector<double> values;
    for (size_t index = 0; index < list.size(); ++index) {
        times.push_back(startNs + static_cast<int64_t>(index) * everyNs);
        values.push_back(list[index]);
    }
    series.set(times, values, startNs + static_cast<int64_t>(list.size()) * everyNs);
    return series;
}

/// Makes the GPU one with a known data sheet.
void nameGpu(SimulatedTrace& builder) {
    Gpu& gpu = builder.gpus().front();
    gpu.name = "NVIDIA H200";
    gpu.computeMajor = 9;
}

/// Steps of 100 ms with one product each, on a GPU with a known data sheet.
struct TrainingRun {
    explicit TrainingRun(int steps) {
        addRank(builder.defaultThread(), builder.defaultStream(), steps);
        nameGpu(builder);
    }
    /// Adds another process with a GPU of its own.
    void addRank(uint32_t pid, int steps) {
        const uint32_t process = builder.addProcess(pid, "python3"), gpu = builder.addGpu();
        addRank(builder.addThread(process, pid), builder.addStream(process, gpu, 7, true), steps);
    }
    void addRank(uint32_t thread, uint32_t stream, int steps) {
        builder.addSteps(thread, steps, 100 * ms, 90 * ms, [&](int64_t at, int step) {
            builder.addNvtx(thread,
                            "aten::mm, op_id = " + std::to_string(step) + ", sizes = [[8192, 8192], [8192, 8192]]",
                            at + ms, at + 2 * ms);
            builder.launch(thread, stream, "nvjet_tst_128x256_64x4_coopA_NNT", at + ms, at + 2 * ms, at + 92 * ms);
        });
    }
    SimulatedTrace builder;
};

}  // namespace

class tst_Roofline : public QObject {
    Q_OBJECT

  private slots:
    void productsAreCountedAsBruteForceCounts() {
        QCOMPARE(worked("aten::mm", "[[5, 7], [7, 3]]")->flops, product(1, 5, 3, 7));
        QCOMPARE(worked("aten::addmm", "[[3], [5, 7], [7, 3], [], []]")->flops, product(1, 5, 3, 7));
        QCOMPARE(worked("aten::bmm", "[[4, 5, 7], [4, 7, 3]]")->flops, product(4, 5, 3, 7));
        QCOMPARE(worked("aten::baddbmm", "[[4, 5, 3], [4, 5, 7], [4, 7, 3], [], []]")->flops, product(4, 5, 3, 7));
        QCOMPARE(worked("aten::_scaled_mm", "[[5, 7], [7, 3], [], []]")->flops, product(1, 5, 3, 7));
        QCOMPARE(worked("aten::mv", "[[5, 7], [7]]")->flops, product(1, 5, 1, 7));
        QCOMPARE(worked("aten::mm", "[[4096, 1024], [1024, 512]]")->shape, std::string("4096 x 512 x 1024"));
        // Rows of three groups: 2, 4 and 5 of 11.
        QCOMPARE(worked("aten::_grouped_mm", "[[11, 7], [3, 7, 6], [3]]")->flops,
                 product(1, 2, 6, 7) + product(1, 4, 6, 7) + product(1, 5, 6, 7));
        // Groups of the inner dimension: 3 and 4 of 7.
        QCOMPARE(worked("aten::_grouped_mm", "[[5, 7], [7, 6], [2]]")->flops,
                 product(1, 5, 6, 3) + product(1, 5, 6, 4));
    }

    void bytesAreThoseOfOperandsAndResult() {
        QCOMPARE(worked("aten::mm", "[[5, 7], [7, 3]] [" + bf16 + ", " + bf16 + "]")->bytes, 2.0 * (35 + 21 + 15));
        QCOMPARE(worked("aten::mm", R"([[5, 7], [7, 3]] ["float", "float"])")->bytes, 4.0 * (35 + 21 + 15));
        // Kernels show the precision of products only.
        QVERIFY(!worked("aten::add", "[[4, 6], [6], []]"));
        // Results of fp8 products have 16 bits.
        QCOMPARE(worked("aten::_scaled_mm", R"([[5, 7], [7, 3]] ["c10::Float8_e4m3fn", "c10::Float8_e4m3fn"])")->bytes,
                 35.0 + 21 + 2 * 15);
        QCOMPARE(worked("aten::add", R"([[4, 6], [6], []] ["float", "float", "Scalar"])")->bytes, 4.0 * (24 + 6 + 24));
        QCOMPARE(worked("aten::copy_", R"([[4, 6], [4, 6], []] ["float", "c10::Half", "Scalar"])")->bytes,
                 24.0 * (4 + 2));
        QCOMPARE(worked("aten::fill_", R"([[4, 6], []] ["float", "Scalar"])")->bytes, 24.0 * 4);
    }

    void convolutionsAreCountedAsBruteForceCounts() {
        for (const Convolution& of :
             {Convolution{2, 4, 6, 1, 9, 3, 1, 1, 1}, Convolution{2, 4, 6, 2, 9, 3, 2, 0, 1},
              Convolution{1, 4, 4, 4, 11, 3, 1, 2, 2}, Convolution{1, 3, 5, 1, 8, 1, 3, 0, 1}}) {
            const std::string input = QString("[%1, %2, %3, %3]").arg(of.batch).arg(of.in).arg(of.size).toStdString();
            const std::string weight =
                QString("[%1, %2, %3, %3]").arg(of.out).arg(of.in / of.groups).arg(of.kernel).toStdString();
            const std::string gradient =
                QString("[%1, %2, %3, %3]").arg(of.batch).arg(of.out).arg(of.length()).toStdString();
            const QString lists = QString(R"("[%1, %1]", "[%2, %2]", "[%3, %3]", "False", "[0, 0]", "%4")")
                                      .arg(of.stride)
                                      .arg(of.padding)
                                      .arg(of.dilation)
                                      .arg(of.groups);
            const auto forward =
                worked("aten::convolution",
                       "[" + input + ", " + weight + ", []] [] [\"\", \"\", \"\", " + lists.toStdString() + "]");
            QVERIFY(forward);
            QCOMPARE(forward->flops, convolution(of));
            QCOMPARE(forward->bytes,
                     2.0 * (of.batch * of.in * of.size * of.size + of.out * of.in / of.groups * of.kernel * of.kernel +
                            of.batch * of.out * of.length() * of.length()));
            for (const auto& [wanted, times] :
                 {std::pair("[True, True, False]", 2), std::pair("[False, True, True]", 1),
                  std::pair("[True, False, False]", 1)}) {
                const auto backward =
                    worked("aten::convolution_backward", "[" + gradient + ", " + input + ", " + weight +
                                                             "] [] [\"\", \"\", \"\", \"[0]\", " + lists.toStdString() +
                                                             ", \"" + wanted + "\"]");
                QVERIFY(backward);
                QCOMPARE(backward->flops, times * convolution(of));
            }
        }
        const auto transposed = worked(
            "aten::convolution",
            R"([[2, 4, 5, 5], [4, 3, 3, 3], []] [] ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1"])");
        QVERIFY(transposed);
        QCOMPARE(transposed->flops, transposedConvolution(2, 4, 3, 5, 3));
    }

    void attentionIsCountedAsBruteForceCounts() {
        for (const bool isCausal : {false, true}) {
            const Attention of{2, 3, 7, 9, 4, 5, isCausal, false};
            const std::string flag = isCausal ? "\"True\"" : "\"False\"";
            const auto forward = worked("aten::_scaled_dot_product_flash_attention",
                                        attentionPayload(of, "", ("\"\", \"\", \"\", \"0.\", " + flag).c_str()));
            QVERIFY(forward);
            QCOMPARE(test::listed(forward->flops, forward->recomputed), test::listed(attention(of, 1, 1), 0.0));
            // Gradients of queries, keys and values, and that of the scores; the scores are computed again.
            const std::string before = R"("", "", "", "", "", "", "", "", "", "", "0.", )";
            const auto backward = worked("aten::_scaled_dot_product_flash_attention_backward",
                                         attentionPayload(of, "gradient", (before + flag).c_str()));
            QVERIFY(backward);
            QCOMPARE(backward->flops, attention(of, 2, 2));
            QCOMPARE(backward->recomputed, attention(of, 1, 0));
        }
        // Masks of flash_attn end with the last key, also if there are more queries than keys.
        for (const auto& [queries, keys] : {std::pair(3, 8), std::pair(8, 3), std::pair(5, 5)}) {
            const Attention of{1, 2, queries, keys, 4, 4, true, true};
            const std::string payload =
                QString(R"([[1, %1, 2, 4], [1, %2, 2, 4], [1, %2, 2, 4]] [] ["", "", "", "0.", "0.5", "True"])")
                    .arg(queries)
                    .arg(keys)
                    .toStdString();
            QCOMPARE(worked("flash_attn::_flash_attn_forward", payload)->flops, attention(of, 1, 1));
        }
        QVERIFY(!worked("aten::_scaled_dot_product_flash_attention", "[[2, 3, 7, 4], [2, 3, 9, 4], [2, 3, 9, 5]]"));
    }

    void corruptShapesHaveNoWork() {
        for (const char* payload : {"", "[", "[[", "[[5, 7]", "[[5, 7], [8, 3]]", "[[5, 7], [7]]", "[[5, -7], [-7, 3]]",
                                    "[[5, 99999999999999999999], [7, 3]]", "[[5, 7.5], [7.5, 3]]", "[[], []]", "x",
                                    "[[0, 7], [7, 3]]", "\"[\"", "]]]]"})
            QVERIFY2(!worked("aten::mm", payload), payload);
        QVERIFY(!worked("aten::convolution", "[[2, 4, 5, 5], [4, 4, 3, 3], []]"));
        QVERIFY(!worked("aten::unknown", "[[5, 7], [7, 3]]"));
        const std::string many = "[" + std::string(100'000, '[');
        QVERIFY(!worked("aten::mm", many));
    }

    void rangesOfEmitNvtxHaveShapes() {
        const auto call =
            operatorCall("aten::mm, seq = 3, op_id = 12, sizes = [[8, 16], [16, 4]], input_op_ids = []", "");
        QVERIFY(call);
        QCOMPARE(call->name, std::string_view("aten::mm"));
        QCOMPARE(workOf(*call)->flops, product(1, 8, 4, 16));
        QVERIFY(!operatorCall("step 3", ""));
    }

    void rangesOfShapesHaveTypesAndValues() {
        const auto workOfRange = [](const std::string& name) {
            const auto call = operatorCall(name, "");
            return call ? workOf(*call) : std::nullopt;
        };
        const auto add = workOfRange("aten::add, sizes = [[4, 6], [6], []], types = [c10::BFloat16, float, ]");
        QVERIFY(add);
        QCOMPARE(test::listed(add->bytes, add->precision), test::listed(24.0 * 2 + 6 * 4 + 24 * 2, "bf16"));
        const std::string convolved =
            "aten::convolution, sizes = [[2, 4, 9, 9], [6, 2, 3, 3], [6], [], [], [], [], [], []], types = [float, "
            "float, float, , , , , , ], values = [, , , [2, 2], [0, 0], [1, 1], False, [0, 0], ]";
        QCOMPARE(workOfRange(convolved)->flops, convolution({2, 4, 6, 2, 9, 3, 2, 0, 1}));
        const std::string backward =
            "aten::convolution_backward, sizes = [[2, 6, 4, 4], [2, 4, 9, 9], [6, 2, 3, 3], [], [], [], [], [], [], "
            "[], []], types = [float, float, float, , , , , , , , ], values = [, , , [6], [2, 2], [0, 0], [1, 1], "
            "False, [0, 0], , [False, True, True]]";
        QCOMPARE(workOfRange(backward)->flops, convolution({2, 4, 6, 2, 9, 3, 2, 0, 1}));
        const std::string attended =
            "aten::_scaled_dot_product_flash_attention, sizes = [[2, 3, 7, 4], [2, 3, 7, 4], [2, 3, 7, 4], [], [], [], "
            "[]], types = [c10::Half, c10::Half, c10::Half, , , , ], values = [, , , , True, False, ]";
        QCOMPARE(workOfRange(attended)->flops, attention({2, 3, 7, 7, 4, 4, true, false}, 1, 1));
        // Without its lists, or with broken ones.
        QVERIFY(!workOfRange("aten::add, sizes = [[4, 6], [6], []], types = [float, float"));
        QVERIFY(!workOfRange("aten::add, sizes = [[4, 6], [6], []], values = [, , ]"));
        QVERIFY(!workOfRange("aten::add, types = [float, float], sizes = "));
    }

    /// Each element that is read or written once counts its bytes.
    void memoryOfOperatorsIsCountedAsBruteForceCounts() {
        struct Memory {
            double bytes = 0;
            void touch(int elements, int size) {
                for (int each = 0; each < elements; ++each) bytes += size;
            }
        };
        const auto bytesOf = [](const std::string& name) { return workOf(*operatorCall(name, ""))->bytes; };
        const auto touched = [](std::initializer_list<std::pair<int, int>> parts) {
            Memory memory;
            for (const auto& [elements, size] : parts) memory.touch(elements, size);
            return memory.bytes;
        };
        QCOMPARE(bytesOf("aten::_to_copy, sizes = [[4, 6], []], types = [float, ], values = [, c10::Half]"),
                 touched({{24, 4}, {24, 2}}));
        QCOMPARE(bytesOf("aten::_to_copy, sizes = [[4, 6], []], types = [float, ]"), touched({{24, 4}, {24, 4}}));
        QCOMPARE(bytesOf("aten::clone, sizes = [[4, 6], []], types = [c10::Half, ]"), touched({{24, 2}, {24, 2}}));
        QCOMPARE(bytesOf("aten::cat, sizes = [[30], []], types = [c10::Half, ]"), touched({{30, 2}, {30, 2}}));
        QCOMPARE(bytesOf("aten::mean, sizes = [[4, 6], []], types = [float, ]"), touched({{24, 4}}));
        QCOMPARE(bytesOf("aten::_softmax, sizes = [[4, 6], [], []], types = [float, , ], values = [, , False]"),
                 touched({{24, 4}, {24, 4}}));
        QCOMPARE(
            bytesOf(
                "aten::_softmax_backward_data, sizes = [[4, 6], [4, 6], [], []], types = [float, float, , ], values "
                "= [, , , float]"),
            touched({{24, 4}, {24, 4}, {24, 4}}));
        QCOMPARE(
            bytesOf("aten::native_layer_norm, sizes = [[4, 6], [], [6], [6], []], types = [float, , float, float, ], "
                    "values = [, [6], , , ]"),
            touched({{24, 4}, {6, 4}, {6, 4}, {24, 4}}));
        // Tensors of a list are one of all elements.
        QCOMPARE(bytesOf("aten::_foreach_addcdiv_, sizes = [[50], [50], [50], []], types = [float, float, float, ]"),
                 touched({{50, 4}, {50, 4}, {50, 4}, {50, 4}}));
        // Parameters and two means are read and written, gradients are read.
        QCOMPARE(bytesOf("aten::_fused_adamw_, sizes = [[50], [50], [50], [50], [], [3], [], []], types = [float, "
                         "c10::BFloat16, float, float, , float, , ]"),
                 touched({{50, 4}, {50, 2}, {50, 4}, {50, 4}, {3, 4}, {50, 4}, {50, 4}, {50, 4}}));
        QVERIFY(isElementwise("aten::_fused_adamw_"));
    }

    void kernelNamesShowTheMaskOfAttention() {
        const std::string traits = "flash_fwd_kernel<Traits<128, 64, false, c10::BFloat16>, false, ";
        QCOMPARE(hasCausalMask("void pytorch_flash::" + traits + "true, false>(Flash_fwd_params)"),
                 std::optional(true));
        QCOMPARE(hasCausalMask("void pytorch_flash::" + traits + "false, true>(Flash_fwd_params)"),
                 std::optional(false));
        QVERIFY(!hasCausalMask("gemm<1, 2, true>"));
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        for (int call = 0; call < 2; ++call) {
            builder.addNvtx(thread,
                            "aten::_scaled_dot_product_flash_attention, op_id = " + std::to_string(call) +
                                ", sizes = [[2, 3, 7, 4], [2, 3, 7, 4], [2, 3, 7, 4], [], []]",
                            call * ms, (call + 1) * ms - 1);
            builder.launch(thread, stream, call == 0 ? traits + "true>" : "cudnn_attention", call * ms + 1000,
                           call * ms + 10'000, call * ms + 20'000);
        }
        const ShapedCalls found = shapedCalls(*builder.finish());
        QCOMPARE(test::listed(found.calls.size(), found.knownKernels.size()), "1 | 1");
        QCOMPARE(found.groups[0].work.flops, attention({2, 3, 7, 7, 4, 4, true, false}, 1, 1));
    }

    void kernelNamesShowThePrecision() {
        for (const auto& [kernel, precision] :
             {std::pair("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNN", "bf16"), std::pair("nvjet_hsh_64x8_64x16", "fp16"),
              std::pair("nvjet_sm90_qqtst_128x128", "fp8"), std::pair("sm90_xmma_gemm_f32f32_tf32f32_f32_nn", "tf32"),
              std::pair("cutlass_80_tensorop_s1688gemm_128x128", "tf32"), std::pair("ampere_sgemm_128x64_nn", "fp32"),
              std::pair("ampere_fp16_s16816gemm_fp16_128x64", "fp16"), std::pair("volta_dgemm_64x64", "fp64"),
              std::pair("vectorized_add", "")})
            QCOMPARE(kernelPrecision(kernel), std::string_view(precision));
        QCOMPARE(precisionOf("fp32", "sm90_xmma_gemm_f32f32_tf32f32_f32_nn"), std::string_view("tf32"));
        QCOMPARE(precisionOf("bf16", "my_kernel"), std::string_view("bf16"));
    }

    void profileShapesKeepTypesAndValues() {
        const TracePtr trace = traceWith(
            {launched("aten::mm", shapes("[[64, 32], [32, 16]]", "[" + bf16 + ", " + bf16 + "]"), 10, 30, 5, 1),
             launched("aten::view", shapes("[[64, 32], []]", "[" + bf16 + ", \"\"]"), 50, 70, 5, 2)});
        const ShapedCalls found = shapedCalls(*trace);
        QCOMPARE(found.calls.size(), size_t{1});
        QCOMPARE(found.groups[0].precision, std::string_view("bf16"));
        QCOMPARE(found.groups[0].work.flops, product(1, 64, 16, 32));
        QCOMPARE(test::listed(found.calls[0].kernelNs, found.knownKernels.size()), "5000 | 2");
        // An export keeps them.
        QCOMPARE(shapedCalls(*loaded(test::kinetoOf(*trace))).groups[0].work, found.groups[0].work);
    }

    void innermostOperatorHasTheWork() {
        std::vector<std::string> outer{slice("cpu_op", "aten::linear", "4000", "4001", "5", "40",
                                             shapes("[[64, 32], [16, 32]]", "[" + bf16 + ", " + bf16 + "]"))};
        const TracePtr trace = traceWith(
            {outer, launched("aten::mm", shapes("[[64, 32], [32, 16]]", "[" + bf16 + ", " + bf16 + "]"), 10, 60, 5, 1),
             launched("aten::copy_", shapes("[[64, 16], [64, 16]]", "[" + bf16 + ", " + bf16 + "]"), 30, 70, 2, 2)});
        const ShapedCalls found = shapedCalls(*trace);
        QCOMPARE(found.groups.size(), size_t{2});
        QCOMPARE(test::listed(found.groups[0].work.operation, found.groups[1].work.operation), "mm | copy");
        QCOMPARE(found.groups[1].modelFlops(), 0.0);
    }

    void repeatedForwardsCountForHfuOnly() {
        const std::string types = "[" + bf16 + ", " + bf16 + "]", dims = shapes("[[64, 32], [32, 16]]", types);
        // A reentrant checkpoint: the forward again, then its backward.
        const TracePtr trace = traceWith(
            {launched("aten::mm", dims, 10, 20, 5, 1),
             {slice("cpu_op", "autograd::engine::evaluate_function: CheckpointFunctionBackward", "4000", "4001", "90",
                    "60")},
             launched("aten::mm", dims, 100, 110, 5, 2),
             {slice("cpu_op", "autograd::engine::evaluate_function: MmBackward0", "4000", "4001", "118", "20")},
             launched("aten::mm", shapes("[[32, 64], [64, 16]]", types), 120, 130, 5, 3)});
        const ShapedCalls found = shapedCalls(*trace);
        QCOMPARE(found.calls.size(), size_t{3});
        const auto groupOf = [&](size_t call) -> const ShapedGroup& { return found.groups[found.calls[call].group]; };
        QVERIFY(!groupOf(0).isRecomputed && groupOf(1).isRecomputed && !groupOf(2).isRecomputed);
        QCOMPARE(groupOf(1).modelFlops(), 0.0);
        QCOMPARE(groupOf(1).repeatedFlops(), product(1, 64, 16, 32));

        // Any other: its functions are on the stack.
        const TracePtr other = traceWith(
            {{slice("cpu_op", "autograd::engine::evaluate_function: MmBackward0", "4000", "4001", "90", "60"),
              slice("python_function", "torch/utils/checkpoint.py(1129): unpack_hook", "4000", "4001", "95", "30"),
              slice("python_function", "torch/utils/checkpoint.py(1410): recompute_fn", "4000", "4001", "96", "28")},
             launched("aten::mm", dims, 100, 110, 5, 2),
             launched("aten::mm", dims, 130, 160, 5, 3)});
        const ShapedCalls stacked = shapedCalls(*other);
        QVERIFY(stacked.groups[stacked.calls[0].group].isRecomputed);
        QVERIFY(!stacked.groups[stacked.calls[1].group].isRecomputed);
    }

    void countedOperationsGiveMfu() {
        TrainingRun run(12);
        const auto summary = summarizeRun(*run.builder.finish());
        QVERIFY(summary);
        const WorkerSummary& worker = summary->workers.front();
        QCOMPARE(test::listed(worker.use.source(), worker.use.precision), test::listed(MfuSource::Shapes, "bf16"));
        QCOMPARE(worker.use.modelPerStep, int64_t{2} * 8192 * 8192 * 8192);
        const double perSecond = 2.0 * 8192 * 8192 * 8192 / 0.1,
                     sheet = datasheetFlopsPerSecond("NVIDIA H200", 9, 0, 132, "bf16");
        QVERIFY(std::abs(*worker.use.mfu() - perSecond / sheet) < 0.01 * perSecond / sheet);
        QCOMPARE(worker.shaped.size(), size_t{1});
        QCOMPARE(worker.shaped.front().shape, std::string("8192 x 8192 x 8192"));
        const std::string sentence = explain::explain(*summary).sentence;
        QVERIFY2(sentence.find("MFU 1.1 % of the bf16 peak in the data sheet, computed from counted operations in ") !=
                     std::string::npos,
                 sentence.c_str());
    }

    void unknownKernelsLeaveMfuToCounters() {
        TrainingRun run(12);
        // Nearly half of the time is of a kernel without an operator.
        const uint32_t stream = run.builder.addStream(0, 0, 8);
        for (int step = 0; step < 12; ++step)
            run.builder.launch(run.builder.defaultThread(), stream, "triton_fused", (step * 100 + 5) * ms,
                               (step * 100 + 10) * ms, (step * 100 + 90) * ms);
        run.builder.counter(counter("tensor.activity", "gpm", CounterUnit::Percent, 400 * ms, {50, 50, 50}));
        run.builder.counter(counter("clock.sm", "nvml", CounterUnit::Hertz, 200 * ms,
                                    {1.83e9, 1.83e9, 1.83e9, 1.83e9, 1.83e9, 1.83e9}));
        const auto summary = summarizeRun(*run.builder.finish());
        const ComputeUse& use = summary->workers.front().use;
        QVERIFY(!use.isCounted());
        QCOMPARE(use.source(), MfuSource::Counters);
        QVERIFY(use.byCounters() && !use.hfu());
    }

    void readingsWithinStepsGiveMfu() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        nameGpu(builder);
        builder.addSteps(thread, 4, 1000 * ms, 990 * ms, [&](int64_t at) {
            for (int kernel = 0; kernel < 9; ++kernel)
                builder.launch(thread, stream, "nvjet_tst_128x256", at + (1 + kernel) * ms,
                               at + (10 + 100 * kernel) * ms, at + (100 + 100 * kernel) * ms);
        });
        std::vector<double> activity, clock(20, 1.8e9);
        for (int reading = 0; reading < 20; ++reading) activity.push_back(reading < 5 ? 20 : 60);
        builder.counter(counter("tensor.activity", "gpm", CounterUnit::Percent, 200 * ms, activity));
        builder.counter(counter("clock.sm", "nvml", CounterUnit::Hertz, 200 * ms, clock));
        const TracePtr trace = builder.finish();
        const auto summary = summarizeRun(*trace);
        QVERIFY(summary);
        const WorkerSummary& worker = summary->workers.front();
        QCOMPARE(test::listed(worker.use.source(), worker.use.sampler), test::listed(MfuSource::Counters, "gpm"));
        QVERIFY(worker.use.readings > 0 && worker.use.readSteps > 0);
        // 60 % of 1.8 GHz, of the 1.98 GHz at which tensor cores that are always active reach the data sheet's peak.
        const StepSummary& last = worker.steps.back();
        const auto mfu = worker.mfuOf(last);
        QVERIFY(mfu);
        const double expected = 0.6 * 1.8 / 1.98;
        QVERIFY(std::abs(*mfu - expected) < 0.01);
        // The lane has the same values, and nothing after the last reading.
        const auto lane = std::ranges::find(trace->counters, mfuKey, &CounterSeries::key);
        QVERIFY(lane != trace->counters.end());
        QVERIFY(std::abs(lane->value(*lane->sampleAt(3500 * ms)) - 100 * expected) < 0.1);
        QVERIFY(!lane->sampleAt(5000 * ms));
    }

    void stepsShorterThanReadingsHaveNoMfuOfTheirOwn() {
        TrainingRun run(20);
        run.builder.counter(
            counter("tensor.activity", "gpm", CounterUnit::Percent, 400 * ms, {50, 50, 50, 50, 50}, -310 * ms));
        run.builder.counter(counter("clock.sm", "nvml", CounterUnit::Hertz, 400 * ms, std::vector<double>(5, 1.83e9)));
        const auto summary = summarizeRun(*run.builder.finish());
        const WorkerSummary& worker = summary->workers.front();
        // The first reading ends within the first step, and began long before.
        QVERIFY(worker.use.byCounters() && worker.use.readSteps > 0);
        for (const StepSummary& step : worker.steps) QVERIFY(!worker.mfuOf(step));
    }

    void traceWithoutReadingsHasNoMfu() {
        SimulatedTrace builder;
        for (int step = 0; step < 6; ++step)
            builder.launch(builder.defaultThread(), builder.defaultStream(), "gemm", step * ms, step * ms + 1000,
                           step * ms + 900'000);
        const auto summary = summarizeRun(*builder.finish());
        QCOMPARE(summary->workers.front().use, ComputeUse());
        QVERIFY(explain::explain(*summary).sentence.find("MFU") == std::string::npos);
    }

    void shapesBelowMeasuredRoofAreFound() {
        for (const bool isMeasured : {true, false}) {
            TrainingRun run(12);
            if (isMeasured) {
                std::vector<Roof>& roofs = run.builder.description().interconnect.roofs;
                roofs.push_back(
                    {.kind = RoofKind::Gemm, .gpu = 0, .operation = "bf16", .perSecond = 700'000'000'000'000});
                roofs.push_back(
                    {.kind = RoofKind::Dram, .gpu = 0, .operation = "read", .perSecond = 4'000'000'000'000});
            }
            const auto summary = summarizeRun(*run.builder.finish());
            const explain::Explanation made = explain::explain(*summary);
            const auto found = std::ranges::find(made.findings, &explain::farFromRoofRule, &explain::Finding::rule);
            QCOMPARE(found != made.findings.end(), isMeasured);
            if (!isMeasured) continue;
            QVERIFY2(
                found->sentence.starts_with("mm 8192 x 8192 x 8192 bf16 runs at 1.7 % of the measured compute roof: "),
                found->sentence.c_str());
            // 90 ms of a step, less the 1.57 ms of the roof.
            QVERIFY(std::abs(double(found->maxGainNs) / double(ms) - (90 - 1.5707)) < 0.1);
        }
    }

    void reportComparesShapesWithTheirRoof() {
        TrainingRun run(12);
        const TracePtr trace = run.builder.finish();
        const Roofline roofline = rooflineOf(*trace);
        QCOMPARE(roofline.rows.size(), size_t{1});
        QCOMPARE(roofline.rows[0].work.count, int64_t{12});
        QCOMPARE(roofline.rows[0].work.isMeasured, false);
        // The kernel of a step takes 90 ms. A row is of one GPU.
        TrainingRun both(12);
        both.addRank(4711, 12);
        for (const Roofline& made : {roofline, rooflineOf(*both.builder.finish())}) {
            QVERIFY(made.rows[0].aboveRoofPerStepNs);
            QCOMPARE(*made.rows[0].aboveRoofPerStepNs, 90 * ms - made.rows[0].work.roofNs);
        }
        QCOMPARE(roofline.kernelNs, roofline.knownKernelNs);
        const auto table = makeReport(*trace, "roofline");
        QVERIFY(table);
        QCOMPARE(table->rows.size(), size_t{1});
        QCOMPARE(std::get<std::string>(table->rows[0][8]), std::string("data sheet compute"));
        QCOMPARE(rooflineOf(*trace, TimeRange{0, 150 * ms}).rows[0].work.count, int64_t{2});
    }

    void unknownRoofIsEmptyNotZero() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        builder.gpus().front() = Gpu{.name = "Unknown GPU"};
        builder.addNvtx(thread, "aten::mm, op_id = 1, sizes = [[8, 16], [16, 4]]", 0, ms);
        builder.launch(thread, stream, "gemm", 1000, 2 * ms, 3 * ms);
        const auto table = makeReport(*builder.finish(), "roofline");
        QVERIFY(std::holds_alternative<std::monostate>(table->rows[0][7]));
        QVERIFY(std::holds_alternative<std::monostate>(table->rows[0][9]));
        QVERIFY(std::holds_alternative<std::monostate>(table->rows[0][10]));
    }
};

LANESCOPE_TEST(tst_Roofline, NoApplication)
#include "tst_Roofline.moc"
