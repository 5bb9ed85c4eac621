// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/shownNumbers.h"
#include "model/compare/RunComparison.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "tests/model/madeSteps.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::explain;

namespace {

constexpr const char* copyKernel =
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>>(int)";
constexpr const char* catKernel = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 2>(float*)";
constexpr const char* doubleGemm = "sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize128x64x16";

void addKernel(MadeRun& made, const char* name, int64_t ns) {
    made.add(StepPart::Compute, ContributorKind::Kernel, name, ns);
}

Finding findingOf(MadeRun& made, const Rule* rule) {
    for (Finding& finding : explain::explain(made.run()).findings)
        if (finding.rule == rule) return finding;
    return {};
}

}  // namespace

class tst_kernelKinds : public QObject {
    Q_OBJECT

  private slots:
    void dataMovementIsReportedFromOneThird() {
        MadeRun little;
        addKernel(little, copyKernel, 20 * ms);
        addKernel(little, catKernel, 10 * ms);
        QVERIFY(rulesOf(little).empty());
        // Copies within the GPU count as movement.
        little.add(StepPart::ExposedDtoD, ContributorKind::Copy, "DtoD", 25 * ms);
        QCOMPARE(rulesOf(little), std::vector{&dataMovementRule});
        const Finding finding = findingOf(little, &dataMovementRule);
        QCOMPARE(finding.maxGainNs, 55 * ms);
        QVERIFY2(finding.sentence.starts_with("Copies within the GPU and kernels that only move "
                                              "values take 55.000 ms of a step (35.5 %): mostly "),
                 finding.sentence.c_str());
    }

    void computeIsNoDataMovement() {
        MadeRun made;
        addKernel(made, "void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add>", 90 * ms);
        addKernel(made, "void cunn_SoftMaxForward<8, float>(float*)", 60 * ms);
        QVERIFY(rulesOf(made).empty());
    }

    void doublePrecisionIsReportedNextToOtherPrecisions() {
        MadeRun made;
        addKernel(made, doubleGemm, 20 * ms);
        QCOMPARE(rulesOf(made), std::vector{&doublePrecisionRule});
        const Finding finding = findingOf(made, &doublePrecisionRule);
        QCOMPARE(finding.maxGainNs, 20 * ms);
        QVERIFY2(finding.sentence.find("20.000 ms of a step (16.7 %)") != std::string::npos, finding.sentence.c_str());
        MadeRun little;
        addKernel(little, doubleGemm, 5 * ms);
        QVERIFY(rulesOf(little).empty());
    }

    /// A program that multiplies only in double precision does so on purpose.
    void doublePrecisionProgramIsNotReported() {
        MadeRun made;
        made.run().workers[0].contributors[0].name = "volta_dgemm_128x64_nn";
        addKernel(made, doubleGemm, 50 * ms);
        QVERIFY(rulesOf(made).empty());
    }

    void longDoublePrecisionProductIsReportedOnce() {
        MadeRun made;
        made.run().workers[0].contributors[0].count = 400;
        Contributor product = contributor(StepPart::Compute, ContributorKind::Kernel, doubleGemm, 0);
        product.count = MadeRun::steps;
        made.add(0, product, 60 * ms);
        QCOMPARE(rulesOf(made), std::vector{&doublePrecisionRule});
        QCOMPARE(rulesOf(explain::explain(made.run(), {&doublePrecisionRule})), std::vector{&longKernelRule});
    }

    void longDataMovementKernelIsReportedOnce() {
        MadeRun made;
        made.run().workers[0].contributors[0].count = 400;
        Contributor copies = contributor(StepPart::Compute, ContributorKind::Kernel, catKernel, 0);
        copies.count = MadeRun::steps;
        made.add(0, copies, 90 * ms);
        QCOMPARE(rulesOf(made), std::vector{&dataMovementRule});
    }

    void similarNamesAreNotMatched() {
        for (const char* name : {"groupedgemm_kernel", "void scaledgemm<float>(float*)"}) {
            MadeRun made;
            addKernel(made, name, 50 * ms);
            QVERIFY(rulesOf(made).empty());
        }
        for (const char* name : {"volta_dgemm_128x64_nn", "cutlass_80_tensorop_d16816gemm_64x64"}) {
            MadeRun made;
            addKernel(made, name, 50 * ms);
            QCOMPARE(rulesOf(made), std::vector{&doublePrecisionRule});
        }
        for (const char* name :
             {"void at::native::elementwise_kernel<bfloat16_copy_kernel_cuda(TensorIteratorBase&)>", "nchwToNhwcKernel",
              "void cudnn::engines_precompiled::nhwcToNchwKernel<float>", "transpose_readWrite_alignment_kernel"}) {
            MadeRun made;
            addKernel(made, name, 60 * ms);
            QCOMPARE(rulesOf(made), std::vector{&dataMovementRule});
        }
    }

    void truncatedNamesMatchTheKnownOnes() {
        QCOMPARE(shortContributorName(copyKernel), std::string("copy"));
        const std::string vectorized =
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
            "std::array<char*, 3ul>>(int, at::native::CUDAFunctor_add<float>)";
        std::string unrolled = vectorized;
        unrolled.replace(unrolled.find("vectorized"), 10, "unrolled");
        QCOMPARE(shortContributorName(vectorized), shortContributorName(unrolled));
        // If two share a short name, the source identifies the removed one.
        QVERIFY(replacedName(unrolled, vectorized).starts_with("at::native::unrolled_elementwise_kernel<"));
        QCOMPARE(replacedName("gemm", vectorized), std::string("gemm"));
        const std::string fused = "triton_poi_fused_" + std::string(5'000, 'a') + "_0";
        QVERIFY(shortContributorName(fused).size() < 80);
    }

    /// The line of more than half of the work; for a thread without Python, the line of its caller.
    void workNamesItsLaunchingLine() {
        SimulatedTrace builder;
        const uint32_t main = builder.addThread(0, 4242, "python3");
        const uint32_t other = builder.addThread(0, 4250, "pt_autograd_0");
        const uint32_t stream = builder.defaultStream();
        const auto lineOf = [&](const char* function, uint32_t line) {
            return builder.stack(noIndex, builder.intern(function), builder.intern("/home/ada/train.py"), line);
        };
        const uint32_t forward = lineOf("forward", 212), step = lineOf("step", 310);
        uint32_t correlation = 0;
        const auto launch = [&](uint32_t thread, const char* name, uint32_t stack, int64_t fromNs, int64_t ns) {
            ++correlation;
            builder.add<kinds::Api>({.startNs = fromNs - 20'000,
                                     .endNs = fromNs - 10'000,
                                     .name = builder.intern("cuLaunchKernel"),
                                     .thread = thread,
                                     .correlation = correlation,
                                     .stack = stack});
            builder.addKernel(stream, name, fromNs, fromNs + ns, correlation);
        };
        for (int64_t number = 0; number < 10; ++number) {
            const int64_t at = 20 * ms * number;
            builder.addNvtx(main, "step " + std::to_string(number), at, at + 20 * ms);
            launch(main, "gemm", forward, at + ms, 3 * ms);
            launch(main, "gemm", step, at + 5 * ms, 1 * ms);
            launch(main, "mixed", forward, at + 7 * ms, 1 * ms);
            launch(main, "mixed", step, at + 9 * ms, 1 * ms);
            launch(other, "backward", noIndex, at + 11 * ms, 1 * ms);
        }
        const auto summary = summarizeRun(*builder.finish());
        QVERIFY(summary);
        std::map<std::string, std::string> launched;
        for (const Contributor& each : summary->workers.front().contributors)
            launched[each.name.work.substr(0, each.name.work.find('<'))] = each.launched;
        QCOMPARE(launched["void gemm"], std::string("launched at train.py:212 in forward"));
        QCOMPARE(launched["void mixed"], std::string());
        QCOMPARE(launched["void backward"], std::string("called from train.py:310 in step"));
        const LaunchTimes& launches = summary->workers.front().launches;
        const auto steps = static_cast<int64_t>(summary->workers.front().steps.size());
        QCOMPARE(launches.count, 5 * steps);
        QCOMPARE(launches.placeCount, 2 * steps);
        QVERIFY(launches.place.starts_with("launched at train.py:"));
    }

    /// Kernels overlap the copies of one line; the exposed time belongs to another line.
    void overlappedWorkDoesNotNameTheLine() {
        SimulatedTrace builder;
        const uint32_t main = builder.addThread(0, 4242, "python3");
        const uint32_t stream = builder.defaultStream(), other = builder.addStream(0, 0, 8);
        const auto lineOf = [&](const char* function, uint32_t line) {
            return builder.stack(noIndex, builder.intern(function), builder.intern("/home/ada/train.py"), line);
        };
        const uint32_t prefetch = lineOf("prefetch", 7), step = lineOf("step", 310);
        uint32_t correlation = 0;
        const auto call = [&](uint32_t stack, int64_t atNs) {
            builder.add<kinds::Api>({.startNs = atNs - 20'000,
                                     .endNs = atNs - 10'000,
                                     .name = builder.intern("cuLaunch"),
                                     .thread = main,
                                     .correlation = ++correlation,
                                     .stack = stack});
            return correlation;
        };
        for (int64_t number = 0; number < 10; ++number) {
            const int64_t at = 20 * ms * number;
            builder.addNvtx(main, "step " + std::to_string(number), at, at + 20 * ms);
            builder.addKernel(stream, "gemm", at + ms, at + 12 * ms, call(step, at + ms));
            builder.addMemcpy(other, MemcpyKind::HtoD, 1 << 20, at + 2 * ms, at + 8 * ms, call(prefetch, at + 2 * ms));
            builder.addMemcpy(stream, MemcpyKind::HtoD, 1 << 20, at + 13 * ms, at + 15 * ms, call(step, at + 13 * ms));
        }
        const auto summary = summarizeRun(*builder.finish());
        QVERIFY(summary);
        for (const Contributor& each : summary->workers.front().contributors) {
            if (each.part != StepPart::ExposedHtoD) continue;
            QVERIFY(each.exposedNs < each.totalNs / 2);
            QVERIFY2(each.launched != "launched at train.py:7 in prefetch", each.launched.c_str());
        }
    }

    void findingShowsWhereItsWorkWasLaunched() {
        MadeRun made;
        Contributor copies = contributor(StepPart::Compute, ContributorKind::Kernel, copyKernel, 0);
        copies.launched = "launched at train.py:104 in with_new";
        made.add(0, copies, 90 * ms);
        const Finding finding = findingOf(made, &dataMovementRule);
        QCOMPARE(finding.launched, copies.launched);
        QVERIFY2(finding.sentence.find("in forward, launched at train.py:104 in with_new, ") != std::string::npos,
                 finding.sentence.c_str());
    }

    /// The cause of the idle time in most steps explains more than a level change of the step time.
    void causeOfALevelChangeComesFirst() {
        MadeRun made;
        auto& worker = made.run().workers[0];
        const StepSummary like = worker.steps.front();
        worker.steps.clear();
        for (int64_t number = 0; number < 30; ++number) {
            worker.steps.push_back(like);
            worker.steps.back().number = number;
            worker.steps.back().startNs = number * 1'000 * ms;
            const int64_t moreNs = (number < 10 ? 0 : 60 * ms) + number * 7'919 % 100'000;
            worker.steps.back().parts[StepPart::LaunchBound] += moreNs;
            worker.steps.back().wallNs += moreNs;
        }
        Contributor waits =
            contributor(StepPart::LaunchBound, ContributorKind::Idle,
                        idle(CauseKind::OutsideCalls, ThreadState::Gil, Observation::Alternating), 20 * 35 * ms);
        waits.waitedNs = waits.exposedNs;
        worker.contributors.push_back(waits);
        worker.contributors.push_back(
            contributor(StepPart::LaunchBound, ContributorKind::Idle, idleIn("cuLaunchKernel"), 20 * 25 * ms));
        const std::vector<const Rule*> rules = rulesOf(made);
        QVERIFY(rules.size() >= 2);
        QCOMPARE(rules[0], &hostWaitsRule);
        QCOMPARE(rules[1], &stepPatternRule);
    }
};

LANESCOPE_TEST(tst_kernelKinds, NoApplication)
#include "tst_kernelKinds.moc"
