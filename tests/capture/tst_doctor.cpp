// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>

#include "capture/collector/RunInfo.h"
#include "capture/doctor/diagnose.h"
#include "capture/machine/MeasuredPeaks.h"
#include "tests/capture/TestLog.h"
#include "tests/support/FullDisk.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

constexpr const char* library = LANESCOPE_BINARY_DIR "/lib/standin/libcuda-standin.so";

int64_t rateOf(const Measurement& measured, const char* kind, const char* direction, const char* memory) {
    for (const MeasuredPeak& peak : measured.peaks)
        if (peak.kind == kind && peak.direction == direction && peak.memory == memory) return peak.bytesPerSecond;
    return 0;
}

bool isAbout(int64_t rate, double gigabytesPerSecond) {
    return std::abs(double(rate) / 1e9 - gigabytesPerSecond) < 0.05 * gigabytesPerSecond;
}

}  // namespace

class tst_doctor : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::string in(const char* name) const { return folder_.filePath(name).toStdString(); }

  private slots:
    void init() { qunsetenv("STANDIN_CUDA"); }

    void otherProfilersAreFound() {
        QDir(folder_.path()).mkpath("proc/123");
        QDir(folder_.path()).mkpath("proc/not-a-process");
        test::TestLog::write(in("proc/123/comm"), "python\n");
        test::TestLog::write(in("proc/not-a-process/comm"), "nsys\n");
        QCOMPARE(checkOtherProfilers(in("proc")).status, CheckStatus::Ok);
        QDir(folder_.path()).mkpath("proc/124");
        test::TestLog::write(in("proc/124/comm"), "nsys\n");
        const Check check = checkOtherProfilers(in("proc"));
        QCOMPARE(check.status, CheckStatus::Warning);
        QVERIFY(check.sentence.find("nsys (124)") != std::string::npos);
    }

    void ncclObstaclesAreReported() {
        qunsetenv("NCCL_NVTX_DISABLE");
        qunsetenv("NCCL_PROFILER_PLUGIN");
        QCOMPARE(checkNcclVariables().status, CheckStatus::Ok);
        qputenv("NCCL_PROFILER_PLUGIN", "inspector");
        QVERIFY(checkNcclVariables().sentence.find("is inspector") != std::string::npos);
        qputenv("NCCL_NVTX_DISABLE", "1");
        QCOMPARE(checkNcclVariables().status, CheckStatus::Warning);
        QVERIFY(checkNcclVariables().sentence.find("NCCL_NVTX_DISABLE") != std::string::npos);
        qunsetenv("NCCL_NVTX_DISABLE");
        qunsetenv("NCCL_PROFILER_PLUGIN");
    }

    void driverRestrictionIsRead() {
        QCOMPARE(checkCounterPermission(in("missing")).status, CheckStatus::Ok);
        test::TestLog::write(in("params"), "Other: 3\nRmProfilingAdminOnly: 0\n");
        QCOMPARE(checkCounterPermission(in("params")).status, CheckStatus::Ok);
        test::TestLog::write(in("params"), "RmProfilingAdminOnly: 1\n");
        const auto expected = geteuid() == 0 ? CheckStatus::Ok : CheckStatus::Warning;
        QCOMPARE(checkCounterPermission(in("params")).status, expected);
    }

    void agentIsChecked() {
        QCOMPARE(checkAgent(in("none.so")).status, CheckStatus::Failure);
        test::TestLog::write(in("odd.so"), "nothing in here");
        QVERIFY(checkAgent(in("odd.so")).sentence.find("not an agent") != std::string::npos);
        test::TestLog::write(in("without.so"), test::fakeAgent());
        const Check without = checkAgent(in("without.so"));
        QCOMPARE(without.status, CheckStatus::NoCuda);
        QVERIFY(without.sentence.find("without CUPTI") != std::string::npos);
        test::TestLog::write(in("with.so"), test::fakeAgent() + "cuptiActivityEnable");
        QCOMPARE(checkAgent(in("with.so")).status, CheckStatus::Ok);
    }

    void checksRunInAnotherProcess() {
        QCOMPARE(probe([] { return std::string("answer"); }), std::optional<std::string>("answer"));
        QVERIFY(!probe([]() -> std::string {
                     std::raise(SIGKILL);
                     return {};
                 }).has_value());
    }

    void oneFailureIsEnough() {
        const Check ok{CheckStatus::Ok, {}, {}, {}}, warning{CheckStatus::Warning, {}, {}, {}};
        QVERIFY(canRecord({ok, warning}) && !canRecord({ok, {CheckStatus::Failure, {}, {}, {}}}));
        const Check noCuda{CheckStatus::NoCuda, {}, {}, {}};
        QVERIFY(!canRecord({noCuda, ok}));
        QCOMPARE(worstOf({noCuda, warning}), CheckStatus::NoCuda);
    }

    void knownFactsOfARunStayWhenTheDiskIsFull() {
        RunInfo info;
        info.startRealtimeNs = 5;
        QVERIFY(info.save(folderOf(in("kept.json")), "kept.json").has_value());
        info.commandLine = {std::string(100'000, 'x')};
        {
            const FullDisk full(4096);
            const auto saved = info.save(folderOf(in("kept.json")), "kept.json");
            QVERIFY(!saved.has_value() && saved.error().sentence.starts_with("Cannot write "));
            QVERIFY(saved.error().sentence.find("Success") == std::string::npos);
        }
        const auto read = test::orFail(RunInfo::load(folderOf(in("kept.json")), "kept.json"));
        QCOMPARE(read.startRealtimeNs, int64_t{5});
        QVERIFY(read.commandLine.empty());
    }

    void runIsRemembered() {
        RunInfo info{.startRealtimeNs = 123456789012345, .commandLine = {"python", "a b", "\xff"}};
        info.machine.driverVersion = "580.1";
        info.recordsCuda = false;
        MachineGpu gpu{.uuid = "GPU-1", .nvlinkCount = 18};
        info.machine.gpus = {gpu};
        info.machine.links = {{0, 1, 18, "NVSwitch", "NV18"}};
        QVERIFY(info.save(folderOf(in("kept.json")), "session.json").has_value());
        const auto read = test::orFail(RunInfo::load(folderOf(in("kept.json")), "session.json"));
        QCOMPARE(test::listed(read.startRealtimeNs, read.recordsCuda), test::listed(info.startRealtimeNs, false));
        QCOMPARE(read.commandLine.size(), 3u);
        QCOMPARE(test::listed(read.commandLine[1], read.machine.gpus.at(0).nvlinkCount), "a b | 18");
        QCOMPARE(read.machine.links.at(0).connection, "NVSwitch");
        for (const char* text : {"", "[]", "{", "{\"machine\": 3}", "{\"commandLine\": {\"a\": 1}}",
                                 "{\"startRealtimeNs\": \"x\", \"machine\": {\"gpus\": [1, {}]}}"}) {
            test::TestLog::write(in("odd.json"), text);
            const auto odd = RunInfo::load(folderOf(in("kept.json")), "odd.json");
            if (odd) QCOMPARE(odd->startRealtimeNs, 0);
        }
        QVERIFY(!RunInfo::load(folderOf(in("kept.json")), "missing.json").has_value());
        QCOMPARE(::mkfifo(in("pipe.json").c_str(), 0600), 0);
        QVERIFY(
            !RunInfo::load(folderOf(in("kept.json")), "pipe.json").has_value());  // Instead of waiting for a writer.
    }

    void everyKindOfCopyIsMeasured() {
        const auto driver = test::orFail(CudaDriver::open(library));
        QStringList said;
        MeasureOptions options;
        options.progress = [&](const std::string& what) {
            said << QString::fromStdString(what);
            return true;
        };
        const Measurement measured = test::orFail(measureRates(*driver, options));
        QCOMPARE(measured.gpus.size(), size_t{2});
        QCOMPARE(measured.gpus[0].uuid, std::string("GPU-01010101-0101-0101-0101-010101010101"));
        QCOMPARE(measured.gpus[0].nominalMemoryBytesPerSecond, int64_t{1'024'000'000'000});
        QVERIFY(measured.gpus[0].refusal.empty());
        // For each GPU four kinds with the host, one within, one to the other.
        QCOMPARE(measured.peaks.size(), size_t{12});
        QVERIFY(isAbout(rateOf(measured, "host-copy", "rx", "pinned"), 50));
        QVERIFY(isAbout(rateOf(measured, "host-copy", "tx", "pageable"), 40));
        QVERIFY(isAbout(rateOf(measured, "dram", "", ""), 800));  // read and written
        QVERIFY(isAbout(rateOf(measured, "nvlink", "tx", ""), 200));
        QVERIFY(said.contains("GPU 1: HtoD pinned"));
    }

    void memoryAndProductsAreMeasured() {
        qputenv("STANDIN_CUDA", "roomy");
        const auto driver = CudaDriver::open(library);
        std::unique_ptr<CublasLt> products = test::orFail(CublasLt::open(library));
        QCOMPARE(products->version(), std::string("cuBLASLt 13.1.0"));
        MeasureOptions options;
        options.products = products.get();
        options.state = [](const std::string&) { return GpuState{1'755, 650'000, 50}; };
        const Measurement measured = test::orFail(measureRates(**driver, options));
        std::map<std::string, MeasuredRoof> best;
        for (const MeasuredRoof& roof : measured.roofs)
            if (roof.perSecond > best[roof.operation].perSecond) best[roof.operation] = roof;
        QCOMPARE(best.size(), size_t{8});  // five precisions, and reading, writing, copying
        QVERIFY(isAbout(best["write"].perSecond, 900) && isAbout(best["read"].perSecond, 850));
        QVERIFY(isAbout(best["copy"].perSecond, 800) && isAbout(best["bf16"].perSecond / 1000, 800));
        QVERIFY(isAbout(best["fp64"].perSecond / 1000, 100));
        QCOMPARE(best["bf16"].powerMilliwatts, int64_t{650'000});
        QVERIFY(!CublasLt::open("libc.so.6"));
        QVERIFY(CublasLt::open("nowhere.so").error().sentence.starts_with("nowhere.so: cannot be loaded."));
    }

    /// Rates are of all bytes that are read, by every thread as often.
    void readBytesAreWholeTurns() {
        qputenv("STANDIN_CUDA", "roomy");
        const auto driver = CudaDriver::open(library);
        const Result<Measurement> measured = measureRates(**driver, {});
        QVERIFY(measured && measured->gpus[0].notes.empty());
        const auto read = std::ranges::find(measured->roofs, "read", &MeasuredRoof::operation);
        QVERIFY(read != measured->roofs.end());
        // 19 turns of 16.5 MiB fit into 320 MiB; the stand-in takes 5 us more for each call.
        constexpr double bytes = 19 * 4 * 16 * 8 * 132 * 256.0, ns = 5'000 + bytes / 850;
        QVERIFY(std::abs(static_cast<double>(read->perSecond) / (bytes * 1e9 / ns) - 1) < 0.001);
    }

    void partsThatCannotBeMeasuredAreReported() {
        qputenv("STANDIN_CUDA", "plain");
        const auto driver = CudaDriver::open(library);
        const Result<std::unique_ptr<CublasLt>> products = CublasLt::open(library);
        MeasureOptions options;
        options.products = products->get();
        const Measurement measured = test::orFail(measureRates(**driver, options));
        QCOMPARE(measured.gpus[1].notes,
                 (std::vector<std::string>{"reading of memory is not measured: it compiles no PTX.",
                                           "matrix products are not measured: cuBLASLt does not start on it."}));
        for (const MeasuredRoof& roof : measured.roofs) QVERIFY(roof.kind != "gemm" && roof.operation != "read");
    }

    void busyGpusAreSkipped() {
        const auto driver = CudaDriver::open(library);
        MeasureOptions options;
        options.utilization = [](const std::string& uuid) -> std::optional<unsigned> {
            return uuid.starts_with("GPU-01") ? 80u : 0u;
        };
        Result<Measurement> measured = measureRates(**driver, options);
        QVERIFY(measured->gpus[0].refusal.find("80 % busy") != std::string::npos);
        for (const MeasuredPeak& peak : measured->peaks) {
            QVERIFY(peak.gpuUuid.starts_with("GPU-02"));
            QVERIFY(peak.peerUuid.empty());  // that would disturb the other one
        }
        options.isForced = true;
        measured = measureRates(**driver, options);
        QCOMPARE(measured->peaks.size(), size_t{12});
    }

    void endsOnRequest() {
        const auto driver = CudaDriver::open(library);
        MeasureOptions options;
        options.progress = [](const std::string&) { return false; };
        const Result<Measurement> measured = measureRates(**driver, options);
        QVERIFY(measured->peaks.empty() && !measured->gpus[1].refusal.empty());
    }

    void missingPartsAreReported() {
        QVERIFY(!CudaDriver::open("libdoes-not-exist.so"));
        QVERIFY(CudaDriver::open("libc.so.6").error().sentence.find("is too old to measure") != std::string::npos);
        qputenv("STANDIN_CUDA", "broken");
        QVERIFY(CudaDriver::open(library).error().sentence.find("cuInit 100") != std::string::npos);
        qputenv("STANDIN_CUDA", "none");
        QVERIFY(!measureRates(**CudaDriver::open(library), {}));
        qputenv("STANDIN_CUDA", "full");
        const auto full = measureRates(**CudaDriver::open(library), {});
        QVERIFY(full->gpus[0].refusal.find("too little free memory") != std::string::npos);
    }

    void frozenClockGivesNoRate() {
        qputenv("STANDIN_CUDA", "frozen");
        QVERIFY(measureRates(**CudaDriver::open(library), {})->peaks.empty());
    }

    void peaksStayWhenTheDiskIsFull() {
        const std::string file = in("full/peaks.json");
        MeasuredPeaks peaks;
        peaks.peaks = {{"dram", "GPU-a", "", "", "", 7}};
        QVERIFY(peaks.save(file));
        MeasuredPeaks more = peaks;
        more.peaks.resize(1000, peaks.peaks[0]);
        {
            const FullDisk full(4096);
            QVERIFY(!more.save(file));
        }
        QVERIFY(MeasuredPeaks::load(file)->peaks == peaks.peaks);
    }

    void peaksAreStoredByGpu() {
        const std::string file = in("state/lanescope/peaks.json");
        MeasuredPeaks peaks;
        peaks.measuredAtUtcNs = 5;
        peaks.peaks = {{"host-copy", "GPU-a", "", "rx", "pinned", 55}, {"dram", "GPU-b", "", "", "", 7}};
        QVERIFY(peaks.save(file));
        MeasuredPeaks read = test::orFail(MeasuredPeaks::load(file));
        QVERIFY(read.peaks == peaks.peaks);
        read.merge(MeasuredPeaks{.peaks = {{"dram", "GPU-b", "", "", "", 9}}});
        QCOMPARE(read.peaks.size(), size_t{2});
        QCOMPARE(read.peaks[1].bytesPerSecond, int64_t{9});
        QVERIFY(!MeasuredPeaks::load(in("missing.json")));
        for (const char* text : {"", "[]", "{\"version\": 1}", "{\"version\": 2, \"peaks\": []}"}) {
            test::TestLog::write(in("odd.json"), text);
            QVERIFY(!MeasuredPeaks::load(in("odd.json")));
        }
        test::TestLog::write(in("odd.json"),
                             "{\"version\": 1, \"peaks\": [3, {\"kind\": 5}, {\"kind\": \"dram\","
                             " \"gpuUuid\": \"GPU-a\", \"bytesPerSecond\": -4}]}");
        QVERIFY(MeasuredPeaks::load(in("odd.json"))->peaks.empty());
    }

    void stateFolderIsPrivate() {
        qputenv("XDG_STATE_HOME", "/somewhere");
        QCOMPARE(MeasuredPeaks::defaultFile()->string(), std::string("/somewhere/lanescope/peaks.json"));
        qunsetenv("XDG_STATE_HOME");
        qputenv("HOME", "/home/someone");
        QCOMPARE(MeasuredPeaks::defaultFile()->string(),
                 std::string("/home/someone/.local/state/lanescope/peaks.json"));
    }
};

LANESCOPE_TEST(tst_doctor, QCoreApplication)
#include "tst_doctor.moc"
