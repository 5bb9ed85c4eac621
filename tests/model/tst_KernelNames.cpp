// SPDX-License-Identifier: Apache-2.0
#include "model/reports/reports.h"
#include "model/text/kernelNames.h"
#include "model/text/knownRangeName.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

struct Named {
    std::string known, name;
};

/// Kernel names as profilers write them, and their short names.
std::vector<Named> recordedNames() {
    std::ifstream file(LANESCOPE_SOURCE_DIR "/tests/model/kernelNames.tsv");
    std::vector<Named> names;
    for (std::string line; std::getline(file, line);) {
        const size_t tab = line.find('\t');
        if (!line.starts_with('#') && tab != std::string::npos)
            names.push_back({line.substr(0, tab), line.substr(tab + 1)});
    }
    return names;
}

constexpr const char* add =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3>)";

}  // namespace

class TestKernelNames : public QObject {
    Q_OBJECT

  private slots:
    void kernelsHaveTheirCommonNames() {
        const std::vector<Named> names = recordedNames();
        QVERIFY(names.size() >= 100);
        for (const Named& each : names)
            QVERIFY2(knownKernelName(each.name) == each.known,
                     (knownKernelName(each.name) + " of " + each.name).c_str());
    }

    /// Kernels that no available recording contains.
    void syntheticKernelsHaveTheirCommonNames() {
        const std::string lambdas =
            "::{lambda()#1}::operator()() const::{lambda()#4}::operator()() "
            "const::{lambda(c10::BFloat16, c10::BFloat16)#1}";
        QCOMPARE(knownKernelName("void at::native::vectorized_elementwise_kernel<4, "
                                 "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, "
                                 "at::native::GeluType)" +
                                 lambdas + ", at::detail::Array<char*, 3> >(int)"),
                 std::string("GeluBackward bf16"));
        QCOMPARE(knownKernelName("void at::native::vectorized_elementwise_kernel<4, at::native::"
                                 "(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)" +
                                 lambdas + ", at::detail::Array<char*, 2> >(int)"),
                 std::string("silu bf16"));
        QCOMPARE(knownKernelName("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
                                 "(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::"
                                 "(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::"
                                 "(anonymous namespace)::ADAM_MODE)0, false>, float const*, double>(int)"),
                 std::string("foreach FusedAdam f32"));
        QCOMPARE(knownKernelName("triton_red_fused__softmax_7"), std::string("fused softmax (Triton, reduction)"));
        QCOMPARE(knownKernelName("loop_add_fusion_3"), std::string("add (XLA, loop fusion)"));
        QCOMPARE(knownKernelName("input_reduce_fusion.2"), std::string("reduce (XLA, input fusion)"));
        QCOMPARE(knownKernelName("fusion_12"), std::string("fusion (XLA)"));
        QCOMPARE(knownKernelName("_attn_fwd_0d1d2d34d5de6de7c8c9d10d"), std::string("_attn_fwd (Triton)"));
        QCOMPARE(knownKernelName("add_kernel_0d1d2d3de"), std::string("add_kernel (Triton)"));
        QCOMPARE(knownKernelName("triton_poi_fused_add_relu_0_0d1d2de"),
                 std::string("fused add relu (Triton, pointwise)"));
        QCOMPARE(knownKernelName("triton_softmax_5"), std::string("softmax (XLA, Triton)"));
        QCOMPARE(knownKernelName("triton_gemm_dot_12"), std::string("dot (XLA, Triton gemm)"));
        QCOMPARE(knownKernelName("gemm_fusion_dot_general_12"), std::string("dot general (XLA, gemm fusion)"));
        for (const char* plain :
             {"gemm", "relu", "loop", "input_kernel", "conv_0d", "k_012", "k_0d2d", "_0d1d", "copy_1d",
              "void flash::fwd<Traits<64>, "
              "false>(P)"})
            QCOMPARE(knownKernelName(plain), std::string());
    }

    void xlaAnnotationsAreNamedBySubject() {
        QCOMPARE(knownRangeName("TSL:XlaModule:#hlo_module=jit_step,program_id=12#"),
                 std::string("jit_step (XlaModule)"));
        QCOMPARE(knownRangeName("XlaModule:#prefix=x,hlo_module=jit_step#"), std::string("jit_step (XlaModule)"));
        QCOMPARE(knownRangeName("Thunk:#hlo_op=loop_add_fusion#"), std::string("loop_add_fusion (Thunk)"));
        // Format of JAX 0.7.
        constexpr const char* thunk =
            "TSL:Thunk:#name=jit(step)/transpose(jvp())/dot_general,hlo_op=gemm_fusion_dot.16,"
            "unique_hlo_op_id=4294967315#";
        QCOMPARE(knownRangeName(thunk), std::string("gemm_fusion_dot.16 (Thunk)"));
        QVERIFY(xlaAnnotation(thunk)->source == "jit(step)/transpose(jvp())/dot_general");
        QVERIFY(xlaAnnotation(thunk)->what == "Thunk");
        QCOMPARE(knownRangeName("TSL:Thunk:#hlo_op=fusion.3,hlo_module=jit_step#"),
                 std::string("fusion.3 in jit_step (Thunk)"));
        QVERIFY(searchedPart("fusion.3 in jit_step (Thunk)") == "fusion.3");
        QVERIFY(searchedPart("layer #") == "layer ");
        QCOMPARE(knownRangeName("XlaPass:#name=algsimp,module=jit_step,program_id=6634#"),
                 std::string("algsimp (XlaPass)"));
        for (const char* plain : {"step 1", ":#a=b#", "a:#", "a:##", "a:#hlo_op=#", "#12", ""})
            QCOMPARE(knownRangeName(plain), std::string());
    }

    void pyTorchOperatorsInNvtxAreShortened() {
        QCOMPARE(knownRangeName("aten::mm, seq = 12, op_id = 345"), std::string("aten::mm"));
        QCOMPARE(knownRangeName("aten::to, op_id = 7"), std::string("aten::to"));
        QCOMPARE(knownRangeName("run_training_batch, op_id = #"), std::string("run_training_batch"));
        QCOMPARE(knownRangeName("aten::mm, sizes = [[2, 3], [3, 4]], input_op_ids = []"), std::string("aten::mm"));
        QCOMPARE(knownRangeName("autograd::engine::evaluate_function: AddmmBackward0, op_id = 9"),
                 std::string("autograd::engine::evaluate_function: AddmmBackward0"));
        for (const char* plain : {"x, seq = y", ", op_id = 3", "load, sizes = 3x4", "a, op_id"})
            QCOMPARE(knownRangeName(plain), std::string());
    }

    /// Names come from untrusted files.
    void oddNamesAreShortenedSafely() {
        std::mt19937 random(11);
        const std::string letters = "<>(){}[],: _:aZ09at::native::reduce_kernel<triton_poi_";
        for (int round = 0; round < 20'000; ++round) {
            std::string name = round % 3 == 0 ? add : std::string();
            const auto length = random() % 60;
            for (unsigned i = 0; i < length; ++i) {
                const char letter = letters[random() % letters.size()];
                if (name.empty() || random() % 2 == 0)
                    name += letter;
                else
                    name[random() % name.size()] = letter;
            }
            (void)knownKernelName(name);
            (void)knownRangeName(name);
        }
        std::string deep = "void at::native::vectorized_elementwise_kernel<4, ";
        for (int i = 0; i < 2'000; ++i) deep += "at::native::gpu_kernel_impl<";
        (void)knownKernelName(deep);
    }

    void slicesReportsAndDetailsUseShortNames() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addKernel(stream, add, 0, 100);
        builder.addKernel(stream, "gemm", 100, 150);
        builder.addKernel(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 200, 300);
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->nameOf({EventKind::Kernel, 0}), std::string("add f32"));
        QCOMPARE(trace->nameOf({EventKind::Kernel, 1}), std::string("gemm"));
        const SliceLocation at = trace->locate({EventKind::Kernel, 0});
        const Lane& lane = trace->tracks[at.track].lanes[at.lane];
        QCOMPARE(trace->strings.at(lane.name[at.slice]), std::string_view("add f32"));
        const Result<ReportTable> families = makeReport(*trace, "cuda_gpu_kern_sum:family", std::nullopt);
        QVERIFY(families);
        QCOMPARE(families->rows.size(), size_t{3});
        const auto hasRow = [&](const std::string& name) {
            return std::ranges::any_of(families->rows, [&](const std::vector<Cell>& row) {
                return std::get<std::string>(row.back()) == name;
            });
        };
        QVERIFY(hasRow("add f32"));
        QVERIFY(hasRow("gemm"));
    }
};

LANESCOPE_TEST(TestKernelNames, NoApplication)
#include "tst_KernelNames.moc"
