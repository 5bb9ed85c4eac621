// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include "capture/log/LogReader.h"
#include "capture/log/clocks.h"
#include "capture/watch/HangReport.h"
#include "capture/watch/ProcessProgress.h"
#include "capture/watch/threadPlaces.h"
#include "tests/capture/TestLog.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

constexpr int64_t s = 1'000'000'000;
constexpr int64_t startNs = 1'000 * s, nowNs = startNs + 61 * s;
constexpr uint64_t dp = 0xd0d0;
const char* const allReduce = "AllReduce";
const char* const allGather = "AllGather";

/// A rank of a simulated job, whose log is read as while it grows.
class Rank {
  public:
    explicit Rank(int rank, int worldSize = 8, const char* host = "n0")
        : pid_(4'000 + static_cast<uint32_t>(rank)), log_(pid_) {
        log_.property("rank", std::to_string(rank));
        log_.property("worldSize", std::to_string(worldSize));
        log_.property("host", host);
        log_.property("program", "/usr/bin/python3");
        stack(1, "main", "/srv/train.py", 30);
        log_.add(log::StackRecord{.stack = 2,
                                  .parent = 1,
                                  .function = log_.string("all_reduce"),
                                  .file = log_.string("/usr/lib/python3/dist-packages/torch/distributed.py"),
                                  .line = 7});
        join(dp, rank, worldSize, "");
    }
    void join(uint64_t hash, int rank, int rankCount, const char* name) {
        log_.add(log::NcclCommunicatorRecord{
            .timestampNs = startNs, .hash = hash, .name = log_.string(name), .rank = rank, .rankCount = rankCount});
        ranks_[hash] = rank;
    }
    void stack(uint32_t number, const char* function, const char* file, uint32_t line) {
        log_.add(log::StackRecord{
            .stack = number, .function = log_.string(function), .file = log_.string(file), .line = line});
    }
    uint64_t begin(log::NcclEvent event, const char* function, int64_t sequence, uint64_t hash = dp,
                   uint64_t count = 1'024, const char* type = "ncclFloat32", uint64_t parent = 0) {
        log::NcclOperationRecord record{};
        record.timestampNs = startNs + ++id_ + laterNs;
        record.id = id_;
        record.parent = parent;
        record.communicator = hash;
        record.count = count;
        record.sequence = sequence;
        record.threadId = pid_;
        record.function = log_.string(function);
        record.datatype = log_.string(type);
        record.rank = ranks_[hash];
        record.root = record.peer = -1;
        record.event = event;
        record.stack = 2;
        log_.add(record);
        return record.id;
    }
    void stop(uint64_t id) { log_.add(log::NcclStopRecord{.timestampNs = startNs + s, .id = id, .threadId = pid_}); }
    void collective(int64_t sequence, const char* function = allReduce, uint64_t hash = dp, uint64_t count = 1'024,
                    const char* type = "ncclFloat32") {
        const uint64_t call = begin(log::NcclEvent::Call, function, -1, hash, count, type);
        stop(begin(log::NcclEvent::Task, function, sequence, hash, count, type, call));
        stop(call);
    }
    void collectives(int64_t last, int count = 5) {
        for (int64_t sequence = last - count + 1; sequence <= last; ++sequence) collective(sequence);
    }
    void launch(uint32_t correlation, uint32_t stack = 1, int64_t timeNs = startNs,
                const char* api = "cuLaunchKernel") {
        log_.add(log::ApiRecord{.startNs = timeNs,
                                .endNs = timeNs + 1'000,
                                .name = log_.string(api),
                                .threadId = pid_,
                                .correlationId = correlation,
                                .isDriver = 1,
                                .stack = stack});
    }
    void kernel(uint32_t correlation, const char* name, int64_t endNs = startNs) {
        log_.add(log::KernelRecord{
            .startNs = endNs - 1'000, .endNs = endNs, .name = log_.string(name), .correlationId = correlation});
    }
    void graph(uint32_t correlation, uint32_t id, int64_t endNs = startNs) {
        log_.add(
            log::GraphRecord{.startNs = endNs - 1'000, .endNs = endNs, .graphId = id, .correlationId = correlation});
    }
    test::TestLog& log() { return log_; }
    int64_t laterNs = 0;  ///< Added to the times of NCCL's events.

    /// Reads what was written so far.
    ProcessState state() {
        log_.flush();
        const QTemporaryDir folder;
        log_.writeTo(folder.filePath(QStringLiteral("x.log")).toStdString());
        auto opened = Folder::open(folder.path().toStdString());
        auto reader = log::LogReader::open(std::make_shared<const Folder>(std::move(*opened)), "x.log");
        ProcessProgress progress;
        if (!reader || !reader->poll(progress)) qFatal("The log cannot be read.");
        ProcessState state = progress.state(pid_, nowNs);
        state.threads.push_back(
            thread("poll", "poll", {"/usr/lib/python3.11/threading.py:320 wait", "/srv/train.py:40 step"}));
        return state;
    }
    ThreadPlace thread(const char* state, const char* call, std::vector<std::string> stack) const {
        return {
            .id = pid_, .name = "python3", .state = state, .call = call, .sinceNs = startNs, .stack = std::move(stack)};
    }

  private:
    uint32_t pid_;
    test::TestLog log_;
    std::map<uint64_t, int> ranks_;
    uint64_t id_ = 0;
};

using Change = std::function<void(int rank, Rank&)>;

/// The report of a job whose ranks did the same up to AllReduce 1,481; `rest` does the rest.
HangReport jobOf(int ranks, const Change& rest) {
    HangReport report{.atNs = nowNs, .quietNs = 61 * s, .processes = {}};
    for (int rank = 0; rank < ranks; ++rank) {
        Rank made(rank, ranks, rank < 8 ? "n0" : "n1");
        made.collectives(1'481);
        rest(rank, made);
        report.processes.push_back(made.state());
    }
    return report;
}

void compareSentence(const HangReport& report, const char* sentence) {
    QCOMPARE(QString::fromStdString(hangSentence(report)), QString::fromUtf8(sentence));
    const QString text = QString::fromStdString(hangText(report));
    QVERIFY(text.startsWith(QString::fromUtf8(sentence) + '\n'));
    QVERIFY(text.count('\n') <= 62);
    // The same after a way through a file.
    const Result<HangReport> read = readHangJson(hangJson(report), "x");
    QVERIFY2(read, read ? "" : read.error().sentence.c_str());
    QCOMPARE(QString::fromStdString(hangText(*read)), text);
}

/// A Python program that reports each state with a line.
class Program {
  public:
    explicit Program(const char* script) {
        process_.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        process_.setChildProcessModifier([] { ::setsid(); });
        process_.start(QStringLiteral("python3"), {"-c", script});
    }
    ~Program() {
        if (pid() > 0) ::kill(-pid(), SIGKILL);  // with its child processes
        process_.waitForFinished();
    }
    bool isReady() {
        while (!process_.canReadLine())
            if (!process_.waitForReadyRead(60'000)) return false;
        return process_.readLine() == "ready\n";
    }
    pid_t pid() const { return static_cast<pid_t>(process_.processId()); }

  private:
    QProcess process_;
};

bool hasPython() { return !QStandardPaths::findExecutable(QStringLiteral("python3")).isEmpty(); }

}  // namespace

class tst_Hang : public QObject {
    Q_OBJECT

  private slots:
    void sleepingRankIsNamed() {
        HangReport report = jobOf(8, [](int rank, Rank& made) {
            if (rank != 3) made.collective(1'482);
        });
        report.processes[3].threads = {Rank(3).thread(
            "lock", "futex", {"/usr/lib/python3.11/threading.py:320 wait", "/srv/loader.py:88 next_batch"})};
        compareSentence(report,
                        "Rank 3 has not entered AllReduce 1,482 of the communicator of 8 ranks; its main thread waits "
                        "for a lock at loader.py:88 for 61 s.");
        QVERIFY(
            hangText(report).find("In the communicator of 8 ranks: ranks 0-2, 4-7 in AllReduce 1,482 with 4,096 bytes "
                                  "of float32 at train.py:30") != std::string::npos);
        QVERIFY(hangText(report).find("    /srv/loader.py:88 next_batch") != std::string::npos);
        QVERIFY(hangText(report).find("Processes: 8. No progress for 61 s.") != std::string::npos);
    }

    void sleepingRankOf64OnTwoHostsIsNamed() {
        // Ranks run ahead on the host by different amounts.
        const HangReport all = jobOf(64, [](int rank, Rank& made) {
            if (rank == 41) return;
            made.collective(1'482);
            if (rank % 2 == 0) made.collective(1'483);
        });
        HangReport first{
            .atNs = nowNs, .quietNs = 61 * s, .processes = {all.processes.begin(), all.processes.begin() + 32}};
        HangReport second{
            .atNs = nowNs, .quietNs = 60 * s, .processes = {all.processes.begin() + 32, all.processes.end()}};
        HangReport earlier = second;
        for (ProcessState& each : earlier.processes) each.communicators.clear(), each.atNs -= s;
        compareSentence(joined({second, first, earlier}),
                        "Rank 41 has not entered AllReduce 1,482 of the communicator of 64 ranks; its main thread "
                        "waits for input at train.py:40 for 61 s.");
        // One host alone reports what is missing.
        compareSentence(first,
                        "Ranks 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31 have not entered AllReduce "
                        "1,483 of the communicator of 64 ranks; for rank 1, its main thread waits for input at "
                        "train.py:40 for 61 s.");
    }

    void skippedCollectiveIsNamed() {
        compareSentence(jobOf(8,
                              [](int rank, Rank& made) {
                                  made.collective(76, allGather);
                                  rank == 5 ? made.collective(77, allGather) : made.collective(1'482);
                              }),
                        "Rank 5 skipped AllReduce 1,482 of the communicator of 8 ranks, which ranks 0-4, 6-7 entered "
                        "at train.py:30, and entered AllGather 77 instead at train.py:30.");
        compareSentence(jobOf(8,
                              [](int rank, Rank& made) {
                                  made.collective(1'482);
                                  if (rank == 5) made.collective(1'483);
                              }),
                        "Only rank 5 has entered AllReduce 1,483 of the communicator of 8 ranks at train.py:30; ranks "
                        "0-4, 6-7 have not: for rank 0, its main thread waits for input at train.py:40 for 61 s.");
    }

    void mismatchIsNamed() {
        compareSentence(
            jobOf(8, [](int rank, Rank& made) { made.collective(1'482, allReduce, dp, rank == 2 ? 512 : 1'024); }),
            "Rank 2 entered AllReduce 1,482 of the communicator of 8 ranks with 2,048 bytes of float32 at "
            "train.py:30, but ranks 0-1, 3-7 with 4,096 bytes of float32 at train.py:30.");
        compareSentence(jobOf(2,
                              [](int rank, Rank& made) {
                                  made.collective(1'482, allReduce, dp, 1'024, rank == 0 ? "ncclInt32" : "ncclFloat32");
                              }),
                        "Rank 1 entered AllReduce 1,482 of the communicator of 2 ranks with 4,096 bytes of float32 "
                        "at train.py:30, but rank 0 with 4,096 bytes of int32 at train.py:30.");
    }

    void endedRankIsNamed() {
        HangReport report = jobOf(8, [](int rank, Rank& made) {
            if (rank != 6) made.collective(1'482);
        });
        report.processes[6].isAlive = false;
        compareSentence(report,
                        "Rank 6 has ended (reason not known) and has not entered AllReduce 1,482 of the communicator "
                        "of 8 ranks; its last operation was AllReduce 1,481 at train.py:30.");
        report.processes[6].end = "signal 9";
        QVERIFY(hangSentence(report).starts_with("Rank 6 has ended (signal 9) and"));
        const HangReport ended = jobOf(2, [](int rank, Rank& made) {
            rank == 1 ? made.log().end(startNs, log::EndReason::Exit) : made.collective(1'482);
        });
        QVERIFY(hangSentence(ended).starts_with("Rank 1 has ended (exit) and has not entered AllReduce 1,482"));
    }

    void endlessKernelIsNamed() {
        const auto job = [](bool isOfNccl) {
            return jobOf(4, [isOfNccl](int rank, Rank& made) {
                made.collective(1'482);
                made.stack(3, "forward", "/srv/model.py", 12);
                for (uint32_t i = 1; i < 9; ++i) {
                    // The GPU work may be read before its call.
                    if (i % 2 == 0) made.kernel(i, "ncclDevKernel_AllReduce");
                    made.launch(i, 1, startNs - s + i);
                    if (i % 2 == 1) made.kernel(i, "ncclDevKernel_AllReduce");
                }
                if (rank == 2 && !isOfNccl) {
                    made.launch(20, 3, startNs - 2);
                    made.kernel(20, "_ZN2at4cuda12_GLOBAL__N_111spin_kernelEl");
                    made.launch(21, 3, startNs - 1);
                }
                made.launch(30, 1);
            });
        };
        compareSentence(job(false),
                        "Ranks 0-3 have entered AllReduce 1,482 of the communicator of 4 ranks at train.py:30; rank 2 "
                        "makes no progress: its kernel spin_kernel, launched at model.py:12 by cuLaunchKernel 61 s "
                        "ago, does not end.");
        compareSentence(job(true),
                        "Ranks 0-3 have entered AllReduce 1,482 of the communicator of 4 ranks at train.py:30; the "
                        "kernel does not end: the reason is not known.");
    }

    void endlessGraphIsNamed() {
        const auto job = [](int ranks, bool isKnown, bool isReported) {
            return jobOf(ranks, [=](int rank, Rank& made) {
                made.stack(3, "replay", "/srv/model.py", 12);
                if (isKnown) {
                    made.launch(1, 3, startNs - 2, "cuGraphLaunch");
                    made.graph(1, 7);
                }
                if (rank != 1) made.launch(2, 3, startNs, "cuGraphLaunch");
                if (rank != 1 && isReported) made.graph(2, 7, 0);
            });
        };
        const char* const named = "its CUDA graph 7, launched at model.py:12 by cuGraphLaunch 61 s ago, does not end.";
        for (const bool isReported : {true, false}) {
            HangReport alone = job(1, true, isReported);
            QVERIFY(alone.processes[0].launch.isGraph);
            alone.processes[0].communicators.clear();
            compareSentence(alone, (std::string("Rank 0 makes no progress: ") + named).c_str());
        }
        HangReport unknown = job(1, false, false);
        unknown.processes[0].communicators.clear();
        compareSentence(unknown,
                        "Rank 0 makes no progress: its CUDA graph (name not known), launched at model.py:12 by "
                        "cuGraphLaunch 61 s ago, does not end.");
        // The collectives in a graph wait for the rank that did not launch it.
        compareSentence(job(3, true, true),
                        "Ranks 0-2 have entered AllReduce 1,481 of the communicator of 3 ranks at train.py:30; rank 1 "
                        "makes no progress: its main thread waits for input at train.py:40 for 61 s.");
    }

    void launchesWithoutRecordAreNotEndless() {
        Rank made(0);
        made.launch(1, 1, startNs - 3);
        made.launch(2, 1, startNs - 2);  // its record was lost
        made.kernel(1, "a");
        made.launch(3, 1, startNs - 1);
        made.kernel(3, "b");
        QCOMPARE(made.state().launch.launchedNs, 0);
        made.launch(4);
        const OpenLaunch open = made.state().launch;
        QCOMPARE(open.launchedNs, startNs);
        QCOMPARE(open.api, std::string("cuLaunchKernel"));
        QCOMPARE(open.line, std::string("/srv/train.py:30 main"));
        QCOMPARE(open.kernel, std::string());  // two kernels had that line
        made.log().add(log::DroppedRecord{.timestampNs = startNs, .count = 3, .what = Loss::CudaActivity});
        QCOMPARE(made.state().launch.launchedNs, 0);
    }

    void ranksThatWaitForEachOtherAreNamed() {
        constexpr uint64_t tp = 0x7070, pp = 0x9090;
        compareSentence(jobOf(2,
                              [](int rank, Rank& made) {
                                  made.join(tp, rank, 2, "tp");
                                  made.join(pp, rank, 2, "pp");
                                  for (const uint64_t hash : {tp, pp}) made.collective(0, allReduce, hash);
                                  made.collective(1, allReduce, rank == 0 ? tp : pp);
                              }),
                        "Rank 1 has not entered AllReduce 1 of communicator tp of 2 ranks but another "
                        "communicator's collective: ranks wait for each other.");
        // A rank that waits for another is not the reason.
        compareSentence(jobOf(4,
                              [](int rank, Rank& made) {
                                  if (rank >= 2) {
                                      made.join(tp, rank - 2, 2, "tp");
                                      made.collective(0, allReduce, tp);
                                  }
                                  if (rank == 2) made.collective(1, allReduce, tp);
                                  if (rank < 2) made.collective(1'482);
                              }),
                        "Rank 3 has not entered AllReduce 1 of communicator tp of 2 ranks; its main thread waits for "
                        "input at train.py:40 for 61 s.");
    }

    /// Since NCCL 2.28 a call is known before its operation.
    void rankInsideACallHasEntered() {
        compareSentence(jobOf(8,
                              [](int rank, Rank& made) {
                                  if (rank != 3) made.begin(log::NcclEvent::Call, allReduce, -1);
                              }),
                        "Rank 3 has not entered AllReduce 1,482 of the communicator of 8 ranks; its main thread waits "
                        "for input at train.py:40 for 61 s.");
    }

    void eventsOfThreadsAreNotInOrder() {
        compareSentence(jobOf(8,
                              [](int rank, Rank& made) {
                                  made.laterNs = 1'000;
                                  if (rank != 3) made.collective(1'483);
                                  made.laterNs = 0;
                                  made.collective(1'482);
                              }),
                        "Rank 3 has not entered AllReduce 1,483 of the communicator of 8 ranks; its main thread waits "
                        "for input at train.py:40 for 61 s.");
    }

    void stuckDataLoaderIsNamed() {
        HangReport report = jobOf(8, [](int rank, Rank& made) {
            if (rank != 3) made.collective(1'482);
        });
        ProcessState& rank = report.processes[3];
        rank.threads = {
            Rank(3).thread("poll", "poll", {"/usr/lib/python3.11/selectors.py:415 select", "/srv/train.py:40 step"})};
        rank.threads[0].pipePeer = 77;
        rank.children = {
            {.pid = 77, .atNs = nowNs, .threads = {Rank(3).thread("lock", "futex", {"/srv/dataset.py:31 read"})}}};
        compareSentence(
            report,
            "Rank 3 has not entered AllReduce 1,482 of the communicator of 8 ranks; its main thread waits "
            "for data from a pipe of process 77 at train.py:40 for 61 s; child process 77 waits for a lock at "
            "dataset.py:31 for 61 s.");
        rank.children[0].threads[0].call = "write";
        rank.children[0].threads[0].pipePeer = rank.pid;
        QVERIFY(hangSentence(report).find("child process 77 waits for space in a full pipe of process 4003") !=
                std::string::npos);
        rank.threads[0].pipePeer = 0;
        rank.threads[0].hasNoPeer = true;
        rank.children[0].isAlive = false;
        rank.children[0].end = "signal 9";
        compareSentence(
            report,
            "Rank 3 has not entered AllReduce 1,482 of the communicator of 8 ranks; its main thread waits "
            "for data from a pipe that no other process has open at train.py:40 for 61 s; child process 77 has "
            "ended (signal 9).");
    }

    /// A thread of a compiler always waits for its child processes.
    void onlyDataLoadersAreWaitedFor() {
        ProcessState process{.pid = 7, .rank = 0, .atNs = nowNs};
        process.threads = {Rank(0).thread("lock", "futex", {"/srv/train.py:40 step"}),
                           Rank(0).thread("poll", "read", {"/usr/lib/python3/dist-packages/torch/pool.py:3 read"})};
        process.threads[1].pipePeer = 77;
        process.children = {
            {.pid = 77, .atNs = nowNs, .threads = {Rank(0).thread("lock", "futex", {"/srv/a.py:3 b"})}}};
        HangReport report{.atNs = nowNs, .quietNs = 60 * s, .processes = {process}};
        compareSentence(report, "Rank 0 makes no progress: its main thread waits for a lock at train.py:40 for 61 s.");
        report.processes[0].threads[1].stack = {
            "/usr/lib/python3/dist-packages/torch/utils/data/_utils/pin_memory.py:3 do"};
        compareSentence(
            report,
            "Rank 0 makes no progress: its main thread waits for a lock at train.py:40 for 61 s, its thread "
            "python3 waits for data from a pipe of process 77 at pin_memory.py:3 for 61 s; child process 77 "
            "waits for a lock at a.py:3 for 61 s.");
        // An ended helper process is no reason.
        report.processes.push_back({.pid = 9, .isAlive = false, .end = "signal 9", .atNs = nowNs});
        QVERIFY(hangSentence(report).starts_with("Rank 0 makes no progress"));
    }

    void processWithoutNcclIsNamed() {
        ProcessState process{.pid = 7, .host = "n0", .atNs = nowNs, .lastGpuEndNs = startNs};
        process.threads = {Rank(0).thread("running", "", {"/srv/train.py:20 spin"})};
        HangReport report{.atNs = nowNs, .quietNs = 60 * s, .processes = {process}};
        compareSentence(report,
                        "Process 7 makes no progress: its main thread runs Python at train.py:20 for 61 s, without GPU "
                        "work: a loop on the host.");
        report.processes[0].threads[0].state = "sleep";
        compareSentence(report, "Process 7 makes no progress: its main thread sleeps at train.py:20 for 61 s.");
        report.processes[0].threads.clear();
        compareSentence(report, "Process 7 makes no progress: its threads are not known: the reason is not known.");
        compareSentence({}, "No process reported its state.");
    }

    void anyLogAndReportIsHarmless() {
        std::mt19937_64 random(3);
        ProcessProgress progress;
        const auto word = [&] { return static_cast<uint32_t>(random() % 200'000); };
        size_t most = 0;
        const auto add = [&]<class Record>(Record record) {
            auto* const bytes = reinterpret_cast<unsigned char*>(&record);
            for (size_t i = 0; i < sizeof record; i += 4) {
                const uint32_t value = random() % 8 == 0 ? static_cast<uint32_t>(random()) : word();
                std::memcpy(bytes + i, &value, std::min<size_t>(4, sizeof record - i));
            }
            if constexpr (std::is_same_v<Record, log::StringRecord>)
                progress(record, random() % 4 ? "cuLaunchKernel" + std::to_string(word()) : "\x1b[2J\xff\n");
            else
                progress(record);
        };
        for (int round = 0; round < 20'000; ++round) {
            add(log::StringRecord{});
            add(log::PropertyRecord{});
            add(log::StackRecord{});
            log::ApiRecord launch{
                .startNs = round, .endNs = round, .name = word(), .correlationId = word(), .stack = word()};
            progress(launch);
            add(log::KernelRecord{});
            add(log::NcclCommunicatorRecord{});
            add(log::NcclOperationRecord{});
            add(log::NcclStopRecord{});
            most = std::max(most, progress.kept());
        }
        QVERIFY(most <= 2 * (ProcessProgress::maxStrings + ProcessProgress::maxStacks + ProcessProgress::maxLines +
                             ProcessProgress::maxLaunches + ProcessProgress::maxOpen) +
                            ProcessProgress::maxLaunches + ProcessProgress::maxOpen +
                            ProcessProgress::maxCommunicators);
        HangReport report{
            .atNs = nowNs, .quietNs = s, .processes = {progress.state(1, nowNs), progress.state(2, nowNs)}};
        const std::string json = hangJson(report), text = hangText(report);
        QVERIFY(std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n'; }));
        QVERIFY(readHangJson(json, "x"));
        for (int round = 0; round < 300; ++round) {
            std::string bad = hangJson(jobOf(2, [](int, Rank&) {}));
            for (int i = 0; i < 3; ++i) bad[random() % bad.size()] = static_cast<char>(random());
            if (const Result<HangReport> read = readHangJson(bad, "x")) hangText(*read);
        }
    }

    void hostileReportsAreRefused() {
        const auto refuse = [](const std::string& json) {
            const Result<HangReport> read = readHangJson(json, "hang-1.json");
            QVERIFY(!read);
            QVERIFY(QString::fromStdString(read.error().sentence).startsWith(QStringLiteral("hang-1.json: ")));
        };
        refuse("");
        refuse("[]");
        refuse("{}");
        refuse("{\"processes\": 3}");
        refuse("{\"processes\": [{\"pid\": \"x\"}]}");
        refuse("{\"processes\": [{\"atNs\": 1e300}]}");
        refuse(std::string(1'000'000, '['));
        std::string nested;
        for (int i = 0; i < 1'000; ++i) nested += "{\"children\":[";
        refuse("{\"processes\":[" + nested);
        std::string many = "{\"processes\":[{}";
        for (int i = 0; i < 100'000; ++i) many += ",{}";
        refuse(many + "]}");
        refuse(std::string(maxHangJsonBytes + 1, ' '));
        const Result<HangReport> odd = readHangJson(
            "{\"processes\":[{\"pid\":5,\"rank\":9223372036854775807,\"end\":\"\\u001b[2J\",\"isAlive\":false}]}", "x");
        QVERIFY(odd);
        QVERIFY(hangText(*odd).find('\x1b') == std::string::npos);
    }

    void commandJoinsHosts() {
        const QTemporaryDir folder;
        const QString program = QStringLiteral(LANESCOPE_BINARY_DIR "/bin/lanescope");
        const auto run = [&](const QStringList& words) {
            QProcess process;
            process.start(program, QStringList{"hang"} + words);
            process.waitForFinished(60'000);
            return std::tuple(process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError());
        };
        QCOMPARE(std::get<0>(run({folder.path()})), 3);
        const HangReport all = jobOf(16, [](int rank, Rank& made) {
            if (rank != 9) made.collective(1'482);
        });
        HangReport hosts[2] = {{.atNs = nowNs, .quietNs = s, .processes = {}},
                               {.atNs = nowNs, .quietNs = s, .processes = {}}};
        for (size_t i = 0; i < 16; ++i) hosts[i / 8].processes.push_back(all.processes[i]);
        test::TestLog::write(folder.filePath("hang-1.n0.json").toStdString(), hangJson(hosts[0]));
        test::TestLog::write(folder.filePath("hang-1.n1.json").toStdString(), hangJson(hosts[1]));
        const auto [status, output, errors] = run({folder.path()});
        QCOMPARE(errors, QByteArray());
        QCOMPARE(status, 0);
        QVERIFY2(output.startsWith("Rank 9 has not entered AllReduce 1,482 of the communicator of 16 ranks;"),
                 output.constData());
        const auto json = run({"-f", "json", folder.path()});
        QCOMPARE(QJsonDocument::fromJson(std::get<1>(json)).object()["processes"].toArray().size(), 16);
        test::TestLog::write(folder.filePath("hang-2.json").toStdString(), "{");
        const auto bad = run({folder.path()});
        QCOMPARE(std::get<0>(bad), 1);
        QVERIFY(std::get<2>(bad).contains("hang-2.json: not a hang report"));
        QCOMPARE(std::get<0>(run({folder.filePath("absent")})), 1);
    }

    void lockOfRealProcessIsFound() {
        if (!hasPython() || test::hasAddressSanitizer) QSKIP("No Python here, or no memory of others.");
        Program program(
            "import threading\nlock = threading.Lock()\nlock.acquire()\ndef wait_here():\n  print('ready', "
            "flush=True)\n"
            "  lock.acquire()\nwait_here()\n");
        QVERIFY(program.isReady());
        ThreadPlaces places(program.pid());
        ProcessState process;
        QTRY_VERIFY_WITH_TIMEOUT((places.read(log::eventTimeNs(), process),
                                  process.threads.size() == 1 && process.threads[0].state == "lock"),
                                 60'000);
        const int64_t sinceNs = process.threads[0].sinceNs;
        QCOMPARE(process.threads[0].stack.front(), std::string("<string>:6 wait_here"));
        QCOMPARE(process.threads[0].call, std::string("futex"));
        places.read(log::eventTimeNs() + 5 * s, process);
        QCOMPARE(process.threads[0].sinceNs, sinceNs);
        QVERIFY(hangSentence({.processes = {process}}).find("waits for a lock at <string>:6 for 5 s") !=
                std::string::npos);
    }

    void dataLoaderOfRealProcessIsFound() {
        if (!hasPython() || test::hasAddressSanitizer) QSKIP("No Python here, or no memory of others.");
        Program program(
            "import os, signal\nr, w = os.pipe()\nchild = os.fork()\ndef load_here():\n  signal.pause()\ndef "
            "wait_here():\n"
            "  print('ready', flush=True)\n  os.read(r, 1)\nload_here() if child == 0 else wait_here()\n");
        QVERIFY(program.isReady());
        ThreadPlaces places(program.pid());
        ProcessState process;
        QTRY_VERIFY_WITH_TIMEOUT(
            (places.read(log::eventTimeNs(), process),
             process.children.size() == 1 && process.threads[0].pipePeer == process.children[0].pid &&
                 !process.children[0].threads.empty() && process.children[0].threads[0].call == "" &&
                 process.children[0].threads[0].state == "blocked"),
            60'000);
        QCOMPARE(process.threads[0].stack.front(), std::string("<string>:8 wait_here"));
        QCOMPARE(process.children[0].threads[0].stack.front(), std::string("<string>:5 load_here"));
        ::kill(static_cast<pid_t>(process.children[0].pid), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT(
            (places.read(log::eventTimeNs(), process), process.children.size() == 1 && !process.children[0].isAlive),
            60'000);
        QCOMPARE(process.children[0].end, std::string("signal 9"));
        QVERIFY(process.threads[0].hasNoPeer);
        const std::string sentence = hangSentence({.processes = {process}});
        QVERIFY2(sentence.find("has ended (signal 9)") != std::string::npos, sentence.c_str());
    }

    /// Idle workers have the writing ends of the result pipe, too.
    void busyOneOfSeveralWorkersIsFound() {
        if (!hasPython() || test::hasAddressSanitizer) QSKIP("No Python here, or no memory of others.");
        Program program(
            "import multiprocessing as mp, signal\ndef stuck_here():\n  signal.pause()\ndef work(tasks, results):\n"
            "  while True:\n    task = tasks.get()\n    if task == 1: stuck_here()\n    results.put(task)\n"
            "def train_here():\n  for i in range(3): tasks[i].put(i)\n  results.get()\n  results.get()\n"
            "  print('ready', flush=True)\n  results.get()\nmp.set_start_method('fork')\nresults = mp.Queue()\n"
            "tasks = [mp.Queue() for _ in range(3)]\n"
            "for each in tasks: mp.Process(target=work, args=(each, results), daemon=True).start()\ntrain_here()\n");
        QVERIFY(program.isReady());
        ThreadPlaces places(program.pid());
        ProcessState process;
        const auto isFound = [&] {
            places.read(log::eventTimeNs(), process);
            const auto stuck = std::ranges::find_if(process.children, [](const ProcessState& each) {
                return !each.threads.empty() && !each.threads[0].stack.empty() &&
                       each.threads[0].stack[0] == "<string>:3 stuck_here";
            });
            return stuck != process.children.end() && process.threads[0].pipePeer == stuck->pid;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isFound(), 60'000);
        QCOMPARE(ownLine(process.threads[0].stack), std::string("<string>:14 train_here"));
        const std::string sentence = hangSentence({.processes = {process}});
        QVERIFY2(sentence.find(" at <string>:3") != std::string::npos, sentence.c_str());
    }

    void endedProcessIsNoticed() {
        ProcessState process;
        ThreadPlaces places(::getpid());
        places.read(log::eventTimeNs(), process);
        QVERIFY(process.isAlive && !process.threads.empty());
        process.startTicks = "1";  // an earlier process of the same number
        places.read(log::eventTimeNs(), process);
        QVERIFY(!process.isAlive && process.threads.empty());
    }
};

LANESCOPE_TEST(tst_Hang, QCoreApplication)
#include "tst_Hang.moc"
