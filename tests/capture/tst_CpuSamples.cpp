// SPDX-License-Identifier: Apache-2.0
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>

#include "capture/collector/PerfImporter.h"
#include "capture/log/clocks.h"
#include "capture/perf/PerfEvents.h"
#include "capture/threads/StateRuns.h"
#include "model/format/tables/Threads.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/stacks.h"
#include "tests/capture/CollectorFixture.h"
#include "tests/capture/PerfBytes.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using namespace lanescope::capture;

using lanescope::test::PerfBytes;

// Functions for synthetic stacks; the first has the name of the interpreter's.
extern "C" {
[[gnu::noinline, gnu::used]] int _PyEval_EvalFrameDefault(int number) { return number + 1; }
[[gnu::noinline, gnu::used]] int perf_test_inner(int number) { return number + 2; }
[[gnu::noinline, gnu::used]] int perf_test_glue(int number) { return number + 3; }
[[gnu::noinline, gnu::used]] int perf_test_outer(int number) { return number + 4; }
}

namespace {

constexpr bool isSanitized = test::hasAddressSanitizer || test::hasThreadSanitizer;

/// A recorded program, and its and `record`'s output.
struct Recorded {
    TracePtr trace;
    QJsonObject said;
    QByteArray errors;
    int status = -1;
};

Recorded recorded(const QStringList& command, const QStringList& options, const std::function<void()>& inChild = {}) {
    const QTemporaryDir folder;
    const QString output = folder.filePath(QStringLiteral("run.sqlite"));
    QProcess process;
    if (inChild) process.setChildProcessModifier(inChild);
    process.start(QStringLiteral(LANESCOPE_BINARY_DIR "/bin/lanescope"),
                  QStringList{"record", "--no-sample", "-o", output} + options + QStringList{"--"} + command);
    Recorded made;
    if (!process.waitForFinished(120'000)) return made;
    made.status = process.exitCode();
    made.errors = process.readAllStandardError();
    made.said = QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    if (auto trace = loadTrace(output.toStdString(), {})) made.trace = *trace;
    return made;
}

/// Share of each named function among the samples in any of them, by the innermost.
QMap<QString, double> shares(const Trace& trace, const QStringList& names) {
    QMap<QString, double> found;
    double all = 0;
    const CpuStateTable& states = trace.cpuStates;
    for (uint32_t row = 0; row < states.size(); ++row) {
        if (states.source[row] != StateSource::Samples || states.stack[row] == noIndex) continue;
        for (const uint32_t frame : framesOf(trace, states.stack[row])) {
            const QString name = QString::fromStdString(std::string(trace.strings.at(trace.stacks.function[frame])));
            if (!names.contains(name)) continue;
            found[name] += 1;
            all += 1;
            break;
        }
    }
    for (double& each : found) each *= 100 / std::max(all, 1.0);
    return found;
}

/// The note of the trace on its CPU samples.
std::string sentenceOf(const Trace& trace) {
    for (const HealthNote& note : trace.health)
        if (note.code == HealthCode::CpuSamples) return note.sentence;
    return {};
}

/// All health notes of a trace under construction.
std::string healthOf(TraceWriter& trace) {
    auto rows = trace.database().prepare("SELECT sentence FROM LANESCOPE_HEALTH");
    if (!rows) return rows.error().sentence;
    std::string said;
    while (rows->step().value_or(false)) said += rows->text(0);
    return said;
}

/// Returns "99.7" of "...; 99.7 % of the stacks are complete ...".
double wholePercent(const std::string& sentence) {
    const size_t at = sentence.find(" % of the stacks are complete");
    if (at == std::string::npos) return -1;
    return std::stod(sentence.substr(sentence.rfind(' ', at - 1)));
}

void refusePerf() {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{4, code};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/// Adds the memory mappings of this program from /proc.
void mapOwn(PerfBytes& made, uint32_t process) {
    const std::string own = std::filesystem::read_symlink("/proc/self/exe").string();
    std::ifstream maps("/proc/self/maps");
    std::string line;
    while (std::getline(maps, line)) {
        unsigned long from = 0, until = 0, offset = 0;
        char rights[5] = {};
        if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx", &from, &until, rights, &offset) == 4 && rights[2] == 'x' &&
            line.ends_with(own))
            made.mapping(process, 1, from, until - from, offset, own);
    }
}

uint64_t addressOf(int (*function)(int)) { return reinterpret_cast<uintptr_t>(function); }

constexpr int64_t ms = 1'000'000;

/// A log of perf events, and a trace to import it into.
struct PerfTrace {
    explicit PerfTrace(const PerfBytes& made, uint64_t maxBytes = 1 << 20) {
        auto log = test::orFail(PerfLog::create(folderOf(path), nameOf(path), {}, maxBytes));
        log.add(0, made.all);
        log.end(1'000'000'000, 1'000'000);
    }
    auto import() {
        PerfImporter importer(*writer, log::eventOffsetNs());
        return test::orFail(importer.import(folderOf(path), nameOf(path), 0, false));
    }
    const QTemporaryDir folder;
    const std::string path = folder.filePath("box.-.9.perf").toStdString();
    const std::string database = folder.filePath("t.sqlite").toStdString();
    std::unique_ptr<TraceWriter> writer = test::orFail(TraceWriter::create(database));
};

class Runs {
  public:
    void operator()(const log::ThreadRunRecord& record) { all.push_back(record); }
    std::vector<log::ThreadRunRecord> all;
};

/// Runs made from a series of samples.
std::vector<log::ThreadRunRecord> runsOf(const std::function<void(StateRuns&)>& sample) {
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("here.sampler.1")).toStdString();
    {
        SampleLog log = test::sampleLogAt(path, uint64_t{1} << 30);
        StateRuns runs(log, 7, 8);
        sample(runs);
        runs.end();
        log.flush();
        log.end();
    }
    auto reader = test::openLog(path + ".log");
    Runs found;
    while (reader && reader->poll(found, 100).value_or(0) > 0) continue;
    return found.all;
}

ThreadSample seen(ThreadState state, uint32_t stack = 0) {
    ThreadSample all{.state = state, .stack = stack};
    return all;
}

}  // namespace

/// Tests of samples and switches by the kernel's perf events, from the program to the trace.
class tst_CpuSamples : public QObject {
    Q_OBJECT

  private slots:
    void pythonFramesReplaceInterpreterFrames() {
        constexpr int64_t base = 1'000'000'000;
        PerfBytes made;
        made.name(7, 7, 0, "python", true);
        mapOwn(made, 7);
        // Outermost last: outer, interpreter, glue, interpreter, inner; by frame pointers.
        const auto call = [](int (*function)(int)) { return addressOf(function) + 2; };
        const uint64_t stack[] = {0x7010, call(_PyEval_EvalFrameDefault), 0x7020, call(perf_test_glue),
                                  0x7030, call(_PyEval_EvalFrameDefault), 0,      call(perf_test_outer)};
        const auto sample = [&](int64_t timeNs) {
            made.sample(7, 7, timeNs, addressOf(perf_test_inner) + 1, 0x7000, 0x7000, stack);
        };
        sample(base);                // within a sample interval
        sample(base + 25'000'000);   // 15 ms after it
        sample(base + 100'000'000);  // without any state sample
        made.change(7, 7, base, true).change(7, 7, base + 5, false, true);
        made.change(8, 8, base, true);  // of a process without a sample
        PerfTrace perf(made);
        TraceWriter& trace = *perf.writer;
        const int64_t main = trace.intern({0, trace.intern("main"), trace.intern("a.py"), 3});
        const int64_t load = trace.intern({main, trace.intern("load"), trace.intern("a.py"), 88});
        constexpr const auto& t = tables::threadStates;
        trace.add(t, t.start = base - 10'000'000, t.end = base + 10'000'000, t.globalTid = globalTid(7, 7), t.state = 1,
                  t.callchainId = load, t.cpuNs = 0, t.delayNs = 0);
        PerfImporter importer(trace, log::eventOffsetNs());
        const auto counts = test::orFail(importer.import(folderOf(perf.path), nameOf(perf.path), 0, false));
        QCOMPARE(counts.samples, int64_t{3});
        // It is also given a core on exec.
        QCOMPARE(test::listed(counts.switches, counts.inPython, counts.withPython), "4 | 3 | 2");
        // The same from another machine, without an end: its stacks are separate, and its Python frames unknown.
        const std::string other = perf.folder.filePath("other.-.9.perf").toStdString();
        std::filesystem::copy_file(perf.path, other);
        std::filesystem::resize_file(other, std::filesystem::file_size(other) - 1);
        const auto ofOther = test::orFail(importer.import(folderOf(other), nameOf(other), 1, false));
        QCOMPARE(test::listed(ofOther.samples, ofOther.withPython), "3 | 0");
        QVERIFY(trace.finish());
        perf.writer.reset();
        const auto loaded = test::orFail(loadTrace(perf.database, {}));
        const Trace& read = *loaded;
        QCOMPARE(std::ranges::count(read.health, HealthCode::LogCut, &HealthNote::code), 1);
        std::vector<std::string> stacks;
        const CpuStateTable& states = read.cpuStates;
        for (uint32_t row = 0; row < states.size(); ++row) {
            if (states.source[row] != StateSource::Samples) continue;
            std::string words;
            for (const uint32_t frame : framesOf(read, states.stack[row])) {
                words += std::string(read.strings.at(read.stacks.function[frame]));
                if (read.stacks.line[frame] > 0) words += ":" + std::to_string(read.stacks.line[frame]);
                words += " ";
            }
            stacks.push_back(words);
        }
        const std::string mixed = "perf_test_inner load:88 main:3 perf_test_outer ";
        const std::string native =
            "perf_test_inner _PyEval_EvalFrameDefault perf_test_glue _PyEval_EvalFrameDefault perf_test_outer ";
        std::ranges::sort(stacks);
        QCOMPARE(stacks, (std::vector<std::string>{native, native, native, native, mixed, mixed}));
    }

    /// Each thread has its own sampling period, so a thread with less core time is never sampled.
    void unsampledTimeIsReported() {
        constexpr int64_t base = 1'000'000'000, ms = 1'000'000;
        PerfBytes made;
        for (uint32_t process = 100; process < 700; ++process)
            made.change(process, process, base + process * ms, true)
                .change(process, process, base + process * ms + 70'000, false);
        PerfTrace trace(made);
        const auto counts = trace.import();
        QCOMPARE(counts.switches, int64_t{1000});  // of the first 500
        const std::string said = healthOf(*trace.writer);
        HAS(said, "100.0 % of 0.042 s of CPU time belong to threads without samples");
        HAS(said, "Skipped 100 processes without samples");
        QVERIFY(said.find("of the stacks are complete") == std::string::npos);
    }

    void manyThreadsAreReportedAsFarAsKnown() {
        constexpr uint32_t threads = 200'001;
        constexpr int64_t base = 1'000'000'000;
        PerfBytes made;
        for (uint32_t thread = 1; thread <= threads; ++thread)
            made.change(7, thread, base + thread * 10, true).change(7, thread, base + thread * 10 + 5, false);
        // The first thread is known and stays so.
        made.change(7, 1, base * 2, true).change(7, 1, base * 3, false);
        PerfTrace trace(made, 1 << 26);
        QCOMPARE(trace.import().switches, int64_t{threads} * 2 + 2);
        const std::string said = healthOf(*trace.writer);
        QVERIFY2(said.find("100.0 % of 1.001 s of CPU time") != said.npos, said.c_str());
        QVERIFY2(said.find(" 2 samples and context switches of threads beyond the first 200000") != said.npos,
                 said.c_str());
    }

    /// The kernel reports nothing on a program with other privileges after its exec.
    void privilegedProgramsAreReported() {
        for (const auto& [count, words] : {std::pair(1u, "Data of p0 is missing: it has another user's rights"),
                                           std::pair(6u, "Data of p0, p1, p2, p3, p4 and p5 is missing: they have"),
                                           std::pair(7u, "Data of p0, p1, p2, p3, p4 and 2 others is missing")}) {
            constexpr int64_t base = 1'000'000'000, us = 1'000;
            PerfBytes made;
            for (uint32_t each = 0; each <= count; ++each) {
                const uint32_t process = 8 + each;
                const std::string name = each < count ? "p" + std::to_string(each) : "true";
                made.change(process, process, base, true);
                // On another core, reported earlier.
                if (each == count) made.mapping(process, base + 2 * us, 0x1000, 0x1000, 0, "/bin/true");
                made.name(process, process, base + us, name.c_str(), true);
                made.exit(process, process, base + 9 * us);
            }
            PerfTrace trace(made);
            trace.import();
            const std::string said = healthOf(*trace.writer);
            QVERIFY2(said.find(words) != said.npos, said.c_str());
        }
    }

    /// A real set-UID program, among others of the same shell.
    void setUidProgramIsReported() {
        if (isSanitized) QSKIP("The kernel is the same.");
        if (const auto allowed = tryPerfEvents(); !allowed) QSKIP(allowed.error().sentence.c_str());
        if (::geteuid() != 0) QSKIP("A program of another user can only be made by root.");
        const QTemporaryDir folder;
        constexpr uid_t other = 65534;
        const QString program = folder.filePath(QStringLiteral("other"));
        QVERIFY(QFile::copy(QStandardPaths::findExecutable(QStringLiteral("sleep")), program));
        const std::string path = program.toStdString();
        QVERIFY(::chmod(folder.path().toStdString().c_str(), 0755) == 0);
        QVERIFY(::chown(path.c_str(), other, other) == 0 && ::chmod(path.c_str(), 04755) == 0);
        const Recorded made = recorded({"sh", "-c", program + " 0.1; sleep 0.1"}, {"--cpu-samples", "perf"});
        QVERIFY2(made.trace, made.errors.constData());
        const std::string how = sentenceOf(*made.trace);
        QVERIFY2(how.find("Data of other is missing") != how.npos, how.c_str());
    }

    void functionsHaveCorrectShares() {
        if (isSanitized) QSKIP("Shares of time are for programs at their own speed.");
        if (const auto allowed = tryPerfEvents(); !allowed) QSKIP(allowed.error().sentence.c_str());
        const QString compiler = QStandardPaths::findExecutable(QStringLiteral("cc"));
        if (compiler.isEmpty()) QSKIP("There is no C compiler.");
        const QTemporaryDir folder;
        const QString source = QStringLiteral(LANESCOPE_SOURCE_DIR "/tests/workloads/known_functions.c");
        for (const char* flag : {"-fomit-frame-pointer", "-fno-omit-frame-pointer"}) {
            const QString program = folder.filePath(QStringLiteral("known"));
            QCOMPARE(QProcess::execute(compiler, {"-O2", flag, "-pthread", "-o", program, source}), 0);
            const Recorded made = recorded({program, "3"}, {"--cpu-samples", "perf", "--cpu-samples-hz", "1000"});
            QVERIFY2(made.trace, made.errors.constData());
            const QMap<QString, double> found = shares(*made.trace, made.said.keys());
            double all = 0;
            for (const QString& each : made.said.keys()) all += made.said[each].toDouble();
            for (const QString& each : made.said.keys()) {
                const double own = 100 * made.said[each].toDouble() / all;
                QVERIFY2(std::abs(found[each] - own) < 3,
                         qPrintable(QStringLiteral("%1: %2, by its own clock %3").arg(each).arg(found[each]).arg(own)));
            }
            const std::string how = sentenceOf(*made.trace);
            QVERIFY2(wholePercent(how) >= 99 || how.find("libdw ") != std::string::npos, how.c_str());
            qInfo("%s: %s", flag, how.c_str());
        }
    }

    void switchCountsAreExact() {
        if (isSanitized) QSKIP("Sanitizers have threads of their own.");
        if (const auto allowed = tryPerfEvents(); !allowed) QSKIP(allowed.error().sentence.c_str());
        const QString python = QStandardPaths::findExecutable(QStringLiteral("python3"));
        if (python.isEmpty()) QSKIP("There is no Python.");
        const Recorded made = recorded({python, "-c", "import time; time.sleep(0.3); sum(range(3000000))"},
                                       {"--cpu-samples", "perf", "--cpu-samples-hz", "1000"});
        QVERIFY2(made.trace, made.errors.constData());
        QCOMPARE(made.status, 0);
        // The single sleep is one row, from giving up the core until the next core, with a sampled
        // reason; before and after it, the thread had a core all the time or never.
        const CpuStateTable& states = made.trace->cpuStates;
        int sleeps = 0;
        int64_t scheduled = 0;
        for (uint32_t row = 0; row < states.size(); ++row) {
            if (states.source[row] != StateSource::Scheduler) continue;
            ++scheduled;
            const int64_t ns = states.endNs[row] - states.startNs[row];
            QVERIFY(states.state[row] != ThreadState::Running || states.cpuNs[row] == ns);
            QVERIFY(states.state[row] != ThreadState::Runnable || states.delayNs[row] == ns);
            if (states.state[row] == ThreadState::Sleep && ns > 290'000'000) ++sleeps;
        }
        QCOMPARE(sleeps, 1);
        QVERIFY(scheduled > 2);
    }

    void writtenSamplesSurviveAKilledRecord() {
        if (isSanitized) QSKIP("Sanitizers have threads of their own.");
        if (const auto allowed = tryPerfEvents(); !allowed) QSKIP(allowed.error().sentence.c_str());
        const QString python = QStandardPaths::findExecutable(QStringLiteral("python3"));
        if (python.isEmpty()) QSKIP("There is no Python.");
        const QString lanescope = QStringLiteral(LANESCOPE_BINARY_DIR "/bin/lanescope");
        const QTemporaryDir folder;
        const QString output = folder.filePath("run.sqlite");
        const QString script = QStringLiteral(
            "import os, signal, sys, time\nwhile time.thread_time() < 1: pass\n"
            "time.sleep(1)\nif len(sys.argv) > 1: os.kill(os.getppid(), signal.SIGKILL)");
        const QStringList record{"record",        "--no-sample", "--no-threads", "-o", output,
                                 "--cpu-samples", "perf",        "--force",      "--"};
        // A recording that ends well leaves no extra file.
        QCOMPARE(QProcess::execute(lanescope, record + QStringList{python, "-c", script}), 0);
        QCOMPARE(QDir(folder.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).filter(".run"),
                 QStringList());
        // The trace is made of the samples even if the recording process is killed.
        QCOMPARE(QProcess::execute(lanescope, record + QStringList{python, "-c", script, "kill"}), 0);
        const auto trace = test::orFail(loadTrace(output.toStdString(), {}));
        int64_t samples = 0;
        for (uint32_t row = 0; row < trace->cpuStates.size(); ++row)
            samples += trace->cpuStates.source[row] == StateSource::Samples ? 1 : 0;
        QVERIFY(samples > 80);
    }

    void refusedSamplingEndsRecordAtOnce() {
        if (isSanitized) QSKIP("Sanitizers do not like filters.");
        const QTemporaryDir folder;
        const QString mark = folder.filePath("mark");
        const Recorded made = recorded({"touch", mark}, {"--cpu-samples", "perf"}, [] { refusePerf(); });
        QCOMPARE(made.status, 1);
        QVERIFY(!QFile::exists(mark));
        QVERIFY2(made.errors.contains("seccomp filter") && made.errors.contains("--cpu-samples"),
                 made.errors.constData());
        QCOMPARE(made.errors.trimmed().count('\n'), 0);
        // Without a request, nothing is reported.
        QCOMPARE(recorded({"touch", mark}, {}, [] { refusePerf(); }).status, 0);
        QVERIFY(QFile::exists(mark));
    }

    void sleepReasonsAreRead() {
        const SystemCall running = parseSystemCall("running\n");
        QVERIFY(running.isKnown && running.isRunning);
        const SystemCall futex = parseSystemCall(QByteArray::number(SYS_futex).toStdString() + " 0x7f00 0x189 0x0\n");
        QVERIFY(futex.isKnown && !futex.isRunning);
        QCOMPARE(futex.argument, uint64_t{0x7f00});
        QCOMPARE(sleepReason(futex), ThreadState::Lock);
        QVERIFY(isFutex(futex.number));
        QCOMPARE(sleepReason(parseSystemCall("-1 0x7ffc 0x7f29\n")), ThreadState::Disk);
        QVERIFY(!parseSystemCall("").isKnown);
        SystemCall call;
        call.number = SYS_clock_nanosleep;
        QCOMPARE(sleepReason(call), ThreadState::Sleep);
        call.number = SYS_ioctl;
        QCOMPARE(sleepReason(call), ThreadState::Device);
        call.number = SYS_ppoll;
        QCOMPARE(test::listed(sleepReason(call), nameOfCall(call.number)), test::listed(ThreadState::Poll, "ppoll"));
        call.number = 100'000;
        QCOMPARE(sleepReason(call), ThreadState::Blocked);
        QVERIFY(nameOfCall(call.number).empty());
    }

    void equalSamplesMakeOneRun() {
        const auto runs = runsOf([](StateRuns& made) {
            for (int sample = 0; sample <= 10; ++sample)
                made.add(1'000 * ms + sample * 10 * ms, seen(ThreadState::Sleep, 3), 0, 0);
        });
        QCOMPARE(runs.size(), size_t{1});
        QCOMPARE(test::listed(runs[0].startNs, runs[0].endNs), test::listed(1'000 * ms, 1'100 * ms));
        QCOMPARE(test::listed(runs[0].stack, runs[0].samples), "3 | 11");
    }

    /// The core time gives the moments of falling asleep and waking.
    void edgesFollowTheKernelCount() {
        const auto runs = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Running, 1), 0, 0);
            made.add(1'010 * ms, seen(ThreadState::Sleep, 2), 2 * ms, 1 * ms);
            made.add(1'020 * ms, seen(ThreadState::Running, 1), 4 * ms, 0);
            made.add(1'030 * ms, seen(ThreadState::Running, 1), 10 * ms, 0);
        });
        QCOMPARE(runs.size(), size_t{3});
        QCOMPARE(test::listed(runs[0].endNs, runs[0].cpuNs), test::listed(1'003 * ms, 2 * ms));
        QCOMPARE(test::listed(runs[0].delayNs, runs[1].startNs), test::listed(1 * ms, 1'003 * ms));
        QCOMPARE(test::listed(runs[1].endNs, runs[2].cpuNs), test::listed(1'016 * ms, 14 * ms));
    }

    /// A woken thread without a core still has the place of its wait.
    void wakeUpDelayBelongsToTheWait() {
        const auto runs = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Sleep, 1), 0, 0);
            made.add(1'010 * ms, seen(ThreadState::Running, 2), 2 * ms, 3 * ms);
            made.add(1'020 * ms, seen(ThreadState::Running, 2), 10 * ms, 0);
        });
        QCOMPARE(runs.size(), size_t{3});
        QCOMPARE(static_cast<ThreadState>(runs[1].state), ThreadState::Runnable);
        QCOMPARE(test::listed(runs[1].stack, runs[1].startNs), test::listed(1u, 1'005 * ms));
        QCOMPARE(test::listed(runs[1].endNs, runs[1].delayNs, runs[2].delayNs), test::listed(1'008 * ms, 3 * ms, 0));
        QCOMPARE(runs[2].cpuNs, 12 * ms);
    }

    void runBetweenTwoWaitsIsFound() {
        const auto runs = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Sleep, 1), 0, 0);
            made.add(1'010 * ms, seen(ThreadState::Lock, 2), 4 * ms, 0);
            made.add(1'020 * ms, seen(ThreadState::Lock, 2), 0, 0);
        });
        QCOMPARE(runs.size(), size_t{3});
        QCOMPARE(static_cast<ThreadState>(runs[1].state), ThreadState::Running);
        QCOMPARE(test::listed(runs[1].startNs, runs[1].endNs), test::listed(1'003 * ms, 1'007 * ms));
        QCOMPARE(runs[1].stack, 0u);
        int64_t sumNs = 0;
        for (const auto& run : runs) sumNs += run.endNs - run.startNs;
        QCOMPARE(sumNs, 20 * ms);
    }

    /// A thread scheduled often between two samples has no determinable edge.
    void frequentSwitchesGiveNoEdge() {
        const auto runs = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Running, 1), 0, 0);
            made.add(1'100 * ms, seen(ThreadState::Lock, 2), 40 * ms, 0, 8);
            made.add(1'200 * ms, seen(ThreadState::Lock, 2), 0, 0);
            made.add(1'300 * ms, seen(ThreadState::Running, 3), 98 * ms, 0, 9);
        });
        QCOMPARE(runs.size(), size_t{3});
        QCOMPARE(static_cast<ThreadState>(runs[0].state), ThreadState::Lock);
        QCOMPARE(test::listed(runs[0].startNs, runs[0].endNs), test::listed(1'000 * ms, 1'100 * ms));
        QCOMPARE(test::listed(runs[0].cpuNs, runs[1].endNs, runs[1].cpuNs), test::listed(40 * ms, 1'202 * ms, 0));
        const auto between = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Lock, 1), 0, 0);
            made.add(1'100 * ms, seen(ThreadState::Sleep, 2), 41 * ms, 0, 8);
        });
        QCOMPARE(between.size(), size_t{2});
        QCOMPARE(static_cast<ThreadState>(between[0].state), ThreadState::Lock);
        QCOMPARE(static_cast<ThreadState>(between[1].state), ThreadState::Sleep);
        QCOMPARE(test::listed(between[0].endNs, between[1].endNs), test::listed(1'050 * ms, 1'100 * ms));
        QCOMPARE(between[0].cpuNs + between[1].cpuNs, 41 * ms);
        // It is known to have run nearly all of the time, however often it was scheduled.
        QCOMPARE(static_cast<ThreadState>(runs[2].state), ThreadState::Running);
        QCOMPARE(runs[2].cpuNs, 98 * ms);
    }

    /// Samples rarer than the waits miss short ones more often; on average each wait still has its
    /// time. 20 ms on a core, 20 ms asleep, 40 ms for a lock.
    void shortWaitsHaveTheirTime() {
        constexpr int64_t cycleNs = 80 * ms, wholeNs = 30'000 * ms;
        const auto stateAt = [](int64_t timeNs) {
            const int64_t at = timeNs % cycleNs;
            return at < 20 * ms ? ThreadState::Running : at < 40 * ms ? ThreadState::Sleep : ThreadState::Lock;
        };
        for (const int64_t intervalNs : {10 * ms, 23 * ms, 30 * ms, 41 * ms}) {
            const auto runs = runsOf([&](StateRuns& made) {
                std::mt19937 random(5);
                const auto ranUntil = [&](int64_t timeNs) {
                    return timeNs / cycleNs * 20 * ms + std::min(timeNs % cycleNs, 20 * ms);
                };
                const auto waitsUntil = [&](int64_t timeNs) {
                    return timeNs / cycleNs * 2 + (timeNs % cycleNs >= 20 * ms ? 1 : 0) +
                           (timeNs % cycleNs >= 40 * ms ? 1 : 0);
                };
                // Woken twice in each cycle: to change between the waits, and to run.
                const auto slicesUntil = [&](int64_t timeNs) {
                    return timeNs / cycleNs * 2 + 1 + (timeNs % cycleNs >= 40 * ms ? 1 : 0);
                };
                int64_t lastNs = 0;
                for (int64_t nowNs = ms; nowNs < wholeNs;) {
                    const ThreadState state = stateAt(nowNs);
                    made.add(nowNs + 1'000 * ms, seen(state, static_cast<uint32_t>(state)),
                             ranUntil(nowNs) - ranUntil(lastNs), 0, slicesUntil(nowNs) - slicesUntil(lastNs),
                             waitsUntil(nowNs) - waitsUntil(lastNs));
                    lastNs = nowNs;
                    nowNs += intervalNs / 2 + static_cast<int64_t>(random()) % intervalNs;
                }
            });
            int64_t asleepNs = 0, lockedNs = 0, ranNs = 0;
            for (const log::ThreadRunRecord& run : runs) {
                const auto state = static_cast<ThreadState>(run.state);
                const int64_t durationNs = run.endNs - run.startNs - run.cpuNs;
                asleepNs += state == ThreadState::Sleep ? durationNs : 0;
                lockedNs += state == ThreadState::Lock ? durationNs : 0;
                ranNs += run.cpuNs;
                // A line is shown only where it was sampled.
                if (run.stack != 0) QCOMPARE(run.stack, run.state);
            }
            const auto percent = [](int64_t ns) { return 100. * static_cast<double>(ns) / wholeNs; };
            qInfo("a sample every %lld ms: %.1f %% on a core, %.1f %% asleep, %.1f %% for the lock",
                  static_cast<long long>(intervalNs / ms), percent(ranNs), percent(asleepNs), percent(lockedNs));
            QVERIFY(std::abs(percent(ranNs) - 25) < 0.5 && std::abs(percent(asleepNs) - 25) < 2.5);
            QVERIFY(std::abs(percent(lockedNs) - 50) < 2.5);
        }
    }

    /// The time between two samples of a running thread is no running if the kernel counted a wait.
    void waitBetweenTwoRunsIsFound() {
        const auto runs = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Running, 1), 0, 0);
            made.add(1'010 * ms, seen(ThreadState::Sleep, 2), 0, 0, 0, 1);
            made.add(1'020 * ms, seen(ThreadState::Running, 1), 0, 0, 1, 0);
            made.add(1'060 * ms, seen(ThreadState::Running, 1), 20 * ms, 0, 1, 1);
        });
        const log::ThreadRunRecord& wait = runs[runs.size() - 2];
        QCOMPARE(static_cast<ThreadState>(wait.state), ThreadState::Sleep);
        QCOMPARE(test::listed(wait.stack, wait.startNs, wait.endNs), test::listed(0u, 1'030 * ms, 1'050 * ms));
        QCOMPARE(wait.cpuNs, int64_t{0});
        int64_t ranNs = 0;
        for (const log::ThreadRunRecord& run : runs) ranNs += run.cpuNs;
        QCOMPARE(ranNs, 20 * ms);
    }

    /// A thread that alternately has the GIL and waits for it does nothing else in between.
    void noWaitIsDrawnNextToTheGil() {
        const auto runs = runsOf([](StateRuns& made) {
            int64_t nowNs = 1'000 * ms;
            for (int sample = 0; sample < 16; ++sample) made.add(nowNs += 10 * ms, seen(ThreadState::Lock, 2), 0, 0, 1);
            for (int turn = 0; turn < 40; ++turn) {
                made.add(nowNs += 20 * ms, seen(ThreadState::Running, 1), 10 * ms, 0, 4);
                made.add(nowNs += 20 * ms, seen(ThreadState::Gil, 1), 10 * ms, 0, 4);
            }
        });
        int64_t lockedNs = 0;
        for (const log::ThreadRunRecord& run : runs)
            if (static_cast<ThreadState>(run.state) == ThreadState::Lock) lockedNs += run.endNs - run.startNs;
        QVERIFY(lockedNs <= 180 * ms);
    }

    void preemptedThreadWasInNoOtherWait() {
        const auto runs = runsOf([](StateRuns& made) {
            int64_t nowNs = 1'000 * ms;
            for (int turn = 0; turn < 20; ++turn) {
                made.add(nowNs += 10 * ms, seen(ThreadState::Lock, 2), 0, 0, 1);
                made.add(nowNs += 10 * ms, seen(ThreadState::Running, 1), 5 * ms, 0, 2, 0);
                made.add(nowNs += 20 * ms, seen(ThreadState::Sleep, 3), 5 * ms, ms / 10, 2, 1);
            }
        });
        int64_t asleepNs = 0, unseenNs = 0;
        for (const log::ThreadRunRecord& run : runs) {
            if (static_cast<ThreadState>(run.state) != ThreadState::Sleep) continue;
            (run.stack == 0 ? unseenNs : asleepNs) += run.endNs - run.startNs;
        }
        QCOMPARE(unseenNs, int64_t{0});
        QVERIFY(asleepNs >= 20 * 14 * ms);
    }

    /// For a thread that waits for the GIL half of its wanted running time, the core time is half of the wanted time.
    void runningThreadGetsItsGilWaits() {
        constexpr int64_t turns = 40;
        const auto runs = runsOf([](StateRuns& made) {
            int64_t nowNs = 1'000 * ms;
            for (int64_t turn = 0; turn < turns; ++turn) {
                // 20 ms in stack 1, with a core for 10 of them; then 20 ms asleep in stack 2.
                made.add(nowNs += 10 * ms, seen(ThreadState::Gil, 1), 5 * ms, 0, 2);
                made.add(nowNs += 5 * ms, seen(ThreadState::Running, 1), 5 * ms / 2, 0, 1);
                made.add(nowNs += 15 * ms, seen(ThreadState::Sleep, 2), 5 * ms / 2, 0, 2);
                made.add(nowNs += 10 * ms, seen(ThreadState::Sleep, 2), 0, 0);
            }
        });
        int64_t activeNs = 0, asleepNs = 0, ranNs = 0;
        for (const log::ThreadRunRecord& run : runs) {
            (run.stack == 1 ? activeNs : asleepNs) += run.endNs - run.startNs;
            ranNs += run.cpuNs;
        }
        QVERIFY(std::abs(activeNs - turns * 20 * ms) < turns * 3 * ms);
        QVERIFY(std::abs(asleepNs - turns * 20 * ms) < turns * 3 * ms);
        QCOMPARE(ranNs, turns * 10 * ms - 5 * ms);  // the first sample has no predecessor
    }

    void timeNeverDecreases() {
        std::mt19937 random(7);
        const auto runs = runsOf([&](StateRuns& made) {
            int64_t nowNs = 1'000 * ms;
            for (int sample = 0; sample < 2'000; ++sample) {
                const auto state = static_cast<ThreadState>(random() % threadStateCount);
                const auto cpuNs = static_cast<int64_t>(random() % 30) * ms;
                made.add(nowNs, seen(state, random() % 3), cpuNs, static_cast<int64_t>(random() % 3) * ms);
                nowNs += 1 + static_cast<int64_t>(random() % 15) * ms;
            }
        });
        int64_t lastNs = 0;
        for (const auto& run : runs) {
            QVERIFY(run.startNs >= lastNs && run.endNs >= run.startNs && run.cpuNs >= 0 && run.delayNs >= 0);
            lastNs = run.endNs;
        }
    }
};

LANESCOPE_TEST(tst_CpuSamples, QCoreApplication)
#include "tst_CpuSamples.moc"
