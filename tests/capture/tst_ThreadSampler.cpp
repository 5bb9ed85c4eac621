// SPDX-License-Identifier: Apache-2.0
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstddef>

#include "capture/threads/PythonProcess.h"
#include "capture/threads/StateRuns.h"
#include "capture/threads/ThreadSampler.h"
#include "model/format/threadStates.h"
#include "model/importers/TraceFormat.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/stacks.h"
#include "tests/capture/byPath.h"
#include "tests/support/alone.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

constexpr int64_t ms = 1'000'000;
constexpr bool isSanitized = test::hasAddressSanitizer || test::hasThreadSanitizer;

QStringList interpreters() {
    const QString named = qEnvironmentVariable("LANESCOPE_TEST_PYTHONS");
    if (!named.isEmpty()) return named.split(':');
    const QString found = QStandardPaths::findExecutable(QStringLiteral("python3"));
    return found.isEmpty() ? QStringList() : QStringList(found);
}

QString scriptOf(const char* name) { return QStringLiteral(LANESCOPE_SOURCE_DIR "/tests/capture/python/") + name; }

/// A recorded program, and its output.
struct Recorded {
    TracePtr trace;
    QJsonObject said;
    QByteArray errors;
    double others = 0;  ///< Time on cores that others used or took, as a share of the recorded time.
};

/// Seconds of all cores that were used, or taken from this machine by its host.
double usedSeconds() {
    QFile file(QStringLiteral("/proc/stat"));
    if (!file.open(QIODevice::ReadOnly)) return 0;
    const QList<QByteArray> fields = file.readLine().simplified().split(' ');  // cpu user nice system idle iowait ...
    double ticks = 0;
    for (const int field : {1, 2, 3, 6, 7, 8}) ticks += fields.value(field).toDouble();
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// Seconds on cores of this process and of its ended children.
double ownSeconds() {
    double seconds = 0;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        ::getrusage(who, &used);
        for (const timeval& time : {used.ru_utime, used.ru_stime})
            seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }
    return seconds;
}

Recorded recorded(const QStringList& command, const std::function<void()>& inChild = {},
                  const QStringList& options = {}) {
    const QTemporaryDir folder;
    const QString output = folder.filePath(QStringLiteral("run.sqlite"));
    QProcess process;
    if (inChild) process.setChildProcessModifier(inChild);
    const double usedBefore = usedSeconds(), ownBefore = ownSeconds();
    QElapsedTimer timer;
    timer.start();
    process.start(QStringLiteral(LANESCOPE_BINARY_DIR "/bin/lanescope"),
                  QStringList{"record", "--no-sample", "-o", output} + options + QStringList{"--"} + command);
    Recorded made;
    if (!process.waitForFinished(240'000)) return made;
    made.others = (usedSeconds() - usedBefore - (ownSeconds() - ownBefore)) * 1000 /
                  static_cast<double>(std::max<qint64>(timer.elapsed(), 1));
    made.errors = process.readAllStandardError();
    made.said = QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    auto trace = loadTrace(output.toStdString(), {});
    if (trace) made.trace = *trace;
    return made;
}

/// The main thread of the Python process; `noIndex` if absent.
uint32_t mainThread(const Trace& trace) {
    const StatesOfThreads states(trace);
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread)
        if (trace.threads[thread].tid == trace.processes[trace.threads[thread].process].pid && !states.isEmpty(thread))
            return thread;
    return noIndex;
}

ThreadTimes timesOf(const Trace& trace, uint32_t thread) {
    return StatesOfThreads(trace).during(thread, {-maxTimestampNs, maxTimestampNs});
}

double percent(int64_t ns, int64_t ofNs) {
    return ofNs > 0 ? 100 * static_cast<double>(ns) / static_cast<double>(ofNs) : 0;
}

/// Time of a thread in each function, excluding callees.
std::map<QString, int64_t> timeByFunction(const Trace& trace, uint32_t thread) {
    std::map<QString, int64_t> sums;
    StatesOfThreads(trace).forEachIn(thread, {-maxTimestampNs, maxTimestampNs}, [&](uint32_t row, TimeRange piece) {
        const uint32_t stack = trace.cpuStates.stack[row];
        if (stack == noIndex) return;
        const auto name = trace.strings.at(trace.stacks.function[stack]);
        sums[QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))] += piece.durationNs();
    });
    return sums;
}

/// From the first to the last sample in a function that is true for `isInside`; start-up and shutdown of Python are
/// outside.
TimeRange rangeOf(const Trace& trace, uint32_t thread, const std::function<bool(std::string_view)>& isInside) {
    TimeRange range{maxTimestampNs, -maxTimestampNs};
    StatesOfThreads(trace).forEachIn(thread, {-maxTimestampNs, maxTimestampNs}, [&](uint32_t row, TimeRange piece) {
        const uint32_t stack = trace.cpuStates.stack[row];
        if (stack == noIndex || !isInside(trace.strings.at(trace.stacks.function[stack]))) return;
        range.startNs = std::min(range.startNs, piece.startNs);
        range.endNs = std::max(range.endNs, piece.endNs);
    });
    return range;
}

/// Makes process_vm_readv fail as in a sandbox without it.
void refuseReadv() {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1 /* EPERM */),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{static_cast<unsigned short>(std::size(rules)), rules};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

}  // namespace

class tst_ThreadSampler : public QObject {
    Q_OBJECT

    /// Shares of a run that are wrong, a line each.
    struct Faults : QStringList {
        double others = 0;  ///< As in `Recorded`.
    };

    /// Repeats a run twice if others used the cores: 2 to 3 % of a core on a quiet machine, 140 % beside two busy
    /// programs. Else fails at once.
    static void verifyOneOfThree(const std::function<Faults()>& faultsOfARun) {
        Faults faults;
        for (int run = 0; run < 3; ++run) {
            faults = faultsOfARun();
            if (faults.isEmpty()) return;
            QVERIFY2(faults.others > 0.1, qPrintable(faults.join('\n')));
            qInfo("others used %.1f %% of a core: %s", 100 * faults.others, qPrintable(faults.join('\n')));
        }
        QFAIL(qPrintable(faults.join('\n')));
    }
    static Faults withoutStates(const QByteArray& why) {
        Faults faults;
        faults << QString::fromUtf8(why);
        return faults;
    }
    static void compareShare(Faults& faults, const Recorded& run, const char* what, double share) {
        const double truth = run.said["shares"].toObject()[what].toDouble();
        const QString text = QString::asprintf("%s %.1f %%, its own clock %.1f %%", what, share, truth);
        qInfo("%s", qPrintable(text));
        if (!(std::abs(share - truth) <= 3)) faults << text;
    }
    static void compareStates(Faults& faults, const Recorded& run) {
        const uint32_t thread = mainThread(*run.trace);
        if (thread == noIndex) {
            faults = withoutStates("The main thread has no states.");
            return;
        }
        const TimeRange schedule = rangeOf(*run.trace, thread, [](std::string_view name) {
            return name == "spin" || name == "nap" || name.starts_with("wait_for_");
        });
        const ThreadTimes times = StatesOfThreads(*run.trace).during(thread, schedule);
        const auto shareOf = [&times](ThreadState state) { return percent(times.of(state), times.knownNs()); };
        compareShare(faults, run, "cpu", shareOf(ThreadState::Running));
        compareShare(faults, run, "nap", shareOf(ThreadState::Sleep));
        compareShare(faults, run, "lock", shareOf(ThreadState::Lock));
        compareShare(faults, run, "input", shareOf(ThreadState::Poll));
    }

    static Faults faultsOfSchedule(const QString& python) {
        Faults faults;
        const Recorded run = recorded({python, scriptOf("schedule.py"), "20"}, {}, {"--threads", "400"});
        if (!run.trace) return withoutStates(run.errors);
        faults.others = run.others;
        compareStates(faults, run);
        const auto functions = timeByFunction(*run.trace, mainThread(*run.trace));
        const auto of = [&](const char* name) {
            const auto found = functions.find(QString::fromLatin1(name));
            return found == functions.end() ? int64_t{0} : found->second;
        };
        const int64_t wholeNs = of("spin") + of("nap") + of("wait_for_lock") + of("wait_for_input");
        compareShare(faults, run, "spin", percent(of("spin"), wholeNs));
        compareShare(faults, run, "nap", percent(of("nap"), wholeNs));
        compareShare(faults, run, "lock", percent(of("wait_for_lock"), wholeNs));
        compareShare(faults, run, "input", percent(of("wait_for_input"), wholeNs));
        return faults;
    }

    static Faults faultsOfGil(const QString& python) {
        Faults faults;
        const Recorded run = recorded({python, scriptOf("spinners.py"), "4"});
        if (!run.trace) return withoutStates(run.errors);
        faults.others = run.others;
        const Trace& trace = *run.trace;
        const uint32_t thread = mainThread(trace);
        if (thread == noIndex) return withoutStates("The main thread has no states.");
        const TimeRange spinning = rangeOf(trace, thread, [](std::string_view name) { return name == "spin_here"; });
        int64_t waitingNs = 0, heldNs = 0;
        StatesOfThreads(trace).forEachIn(thread, spinning, [&](uint32_t row, TimeRange piece) {
            const CpuStateTable& states = trace.cpuStates;
            if (states.state[row] != ThreadState::Gil) return;
            waitingNs += piece.durationNs();
            const uint32_t holder = states.holder[row], at = states.holderStack[row];
            if (holder != noIndex && holder != thread && at != noIndex &&
                trace.strings.at(trace.stacks.function[at]) == "spin_here")
                heldNs += piece.durationNs();
        });
        const ThreadTimes times = StatesOfThreads(trace).during(thread, spinning);
        const double waits = percent(times.of(ThreadState::Gil), times.knownNs());
        const double named = percent(heldNs, waitingNs);
        const double ranFor = percent(times.of(ThreadState::Running), times.knownNs());
        const double clock = run.said["cpu"].toDouble();
        const QString text = QString::asprintf(
            "waits for the GIL for %.1f %%, named %.1f %% of it; ran for %.1f %%, its own clock %.1f %%", waits, named,
            ranFor, clock);
        qInfo("%s: %s", qPrintable(python), qPrintable(text));
        // On a busy machine, both wait for a core more often than for the GIL.
        if (!(waits > 5 && named > 60 && std::abs(ranFor - clock) <= 5)) faults << text;
        return faults;
    }

    static Faults faultsOfCollection(const QString& python) {
        Faults faults;
        const Recorded run = recorded({python, scriptOf("collector.py"), "6"}, {}, {"--threads", "400"});
        if (!run.trace) return withoutStates(run.errors);
        faults.others = run.others;
        const Trace& trace = *run.trace;
        const uint32_t thread = mainThread(trace);
        if (thread == noIndex) return withoutStates("The main thread has no states.");
        int64_t collectingNs = 0, computingNs = 0, elsewhereNs = 0;
        StatesOfThreads(trace).forEachIn(thread, {-maxTimestampNs, maxTimestampNs}, [&](uint32_t row, TimeRange piece) {
            const uint32_t stack = trace.cpuStates.stack[row];
            if (stack == noIndex) return;
            const auto functionOf = [&trace](uint32_t frame) { return trace.strings.at(trace.stacks.function[frame]); };
            if (functionOf(stack) == "compute_here") computingNs += piece.durationNs();
            if (functionOf(stack) != garbageCollectionFrame) return;
            const bool isThere = functionOf(outerStack(trace, stack)) == "collect_here";
            (isThere ? collectingNs : elsewhereNs) += piece.durationNs();
        });
        const double share = percent(collectingNs, collectingNs + computingNs);
        const double truth = run.said["collecting"].toDouble();
        const QString text = QString::asprintf("collects for %.1f %%, its own clock %.1f %%; elsewhere %.0f ms", share,
                                               truth, static_cast<double>(elsewhereNs) / ms);
        qInfo("%s: %s", qPrintable(python), qPrintable(text));
        // Elsewhere once, as it ends.
        if (!(std::abs(share - truth) <= 5 && elsewhereNs < 300 * ms)) faults << text;
        return faults;
    }

  private slots:
    /// The CPU share depends on the GPUs visible to the program.
    void listedGpusAreCounted() {
        QCOMPARE(test::listed(usableGpus(8, std::nullopt), usableGpus(0, std::nullopt)), "8 | 1");
        QCOMPARE(test::listed(usableGpus(8, "0"), usableGpus(8, "1,3,GPU-4f"), usableGpus(8, "1,-1,2")), "1 | 3 | 1");
        QCOMPARE(test::listed(usableGpus(8, ""), usableGpus(2, "0,1,2,3"), usableGpus(8, "0,,1")), "1 | 2 | 1");
    }

    /// Memory of another process may have any content, and change during reading.
    void anyMemoryIsHarmless() {
        const QTemporaryDir folder;
        SampleLog log =
            test::sampleLogAt(folder.filePath(QStringLiteral("x.sampler.1")).toStdString(), uint64_t{1} << 30);
        std::mt19937_64 random(11);
        std::vector<uint64_t> image(16'384);
        const auto first = reinterpret_cast<uintptr_t>(image.data());
        for (const int minor : {9, 10, 11, 12}) {
            for (int round = 0; round < 200; ++round) {
                // Words that point into it, so that a reader gets far.
                for (uint64_t& word : image)
                    word = random() % 4 == 0 ? random() : first + (random() % image.size()) * sizeof word;
                auto python = std::make_shared<PythonImage>();
                python->runtime = first;
                python->types = {image[0], image[1], image[2]};
                python->layout = *agent::python::layoutOf(3, minor);
                RemoteMemory memory(::getpid());
                StackReading counts;
                PythonProcess process(python, memory, log, counts);
                process.findThreads(0);
                for (const pid_t thread : {::getpid(), 1, 4'242}) process.stackOf(thread);
                process.isGil(first + random() % (image.size() * sizeof(uint64_t)));
                process.gilHolder();
                static_cast<void>(LoadedImage::at(memory, first));
            }
        }
        RemoteMemory memory(::getpid());
        uint64_t word = 0;
        QVERIFY(memory.get(first, word) && !memory.get(0, word) && !memory.get(uint64_t{1} << 46 | 8, word));
        QVERIFY(!memory.get(~uint64_t{7}, word));
    }

    /// One call reads the memory of the previous sample, in its current state.
    void usedMemoryIsReadAgain() {
        constexpr size_t page = 4'096;
        std::vector<unsigned char> room(3 * page);
        const auto begin = (reinterpret_cast<uint64_t>(room.data()) + page - 1) / page * page;
        auto* const there = reinterpret_cast<volatile uint32_t*>(begin);
        RemoteMemory memory(::getpid());
        RemoteMemory::Trail trail;
        for (uint32_t sampleNumber = 1; sampleNumber < 5; ++sampleNumber) {
            there[0] = sampleNumber;
            there[page / sizeof(uint32_t)] = 10 * sampleNumber;
            memory.begin(trail);
            uint32_t first = 0, second = 0;
            QVERIFY(memory.get(begin, first) && memory.get(begin + page, second));
            QCOMPARE(test::listed(first, second), test::listed(sampleNumber, 10 * sampleNumber));
            there[0] = 100;
            QVERIFY(memory.get(begin, first));
            QCOMPARE(first, sampleNumber);  // of this sample
            memory.forget();
            QVERIFY(memory.get(begin, first));
            QCOMPARE(first, 100u);
            QVERIFY(memory.get(begin + page, second));
            uint64_t none = 0;
            QVERIFY(!memory.get(8, none));
            memory.endTrail();
        }
    }

    void symbolsAreFoundInProcessMemory() {
        const RemoteMemory memory(::getpid());
        bool isFound = false;
        // Any mapping that has it: the C library of this process.
        QFile maps(QStringLiteral("/proc/self/maps"));
        QVERIFY(maps.open(QIODevice::ReadOnly));
        for (const QByteArray& line : maps.readAll().split('\n')) {
            if (!line.contains("libc.so") || !line.contains(" 00000000 ")) continue;
            const auto image = LoadedImage::at(memory, line.left(line.indexOf('-')).toULongLong(nullptr, 16));
            QVERIFY(image);
            const auto symbol = image->find("getpid");
            QVERIFY(symbol);
            QCOMPARE(symbol->address, reinterpret_cast<uintptr_t>(&::getpid));
            QVERIFY(!image->find("no_such_name_anywhere"));
            isFound = true;
        }
        if (!isFound) QSKIP("No C library of its own here.");
    }

    /// Each share of states and functions is within three points of the program's own clock, sampled as often as pieces
    /// of 20 ms require: rarer samples miss intermediate ones, and claim no line there.
    void sharesMatchAProgramOfKnownSchedule() {
        LANESCOPE_RUNS_ALONE;
        if (isSanitized) QSKIP("Too slow with a sanitizer.");
        for (const QString& python : interpreters()) verifyOneOfThree([&] { return faultsOfSchedule(python); });
    }

    /// The same for states at the defaults. For two minutes, because a slow machine affords only some 24 samples per
    /// second.
    void sharesMatchAtTheDefaultRate() {
        if (qEnvironmentVariableIntValue("LANESCOPE_ALONE") != 2) QSKIP("Set LANESCOPE_ALONE=2: two minutes.");
        for (const QString& python : interpreters()) {
            const Recorded run = recorded({python, scriptOf("schedule.py"), "120"});
            QVERIFY2(run.trace, run.errors.constData());
            Faults faults;
            compareStates(faults, run);
            QVERIFY2(faults.isEmpty(), qPrintable(faults.join('\n')));
        }
    }

    void gilHolderIsFound() {
        LANESCOPE_RUNS_ALONE;
        if (isSanitized) QSKIP("Too slow with a sanitizer.");
        for (const QString& python : interpreters()) verifyOneOfThree([&] { return faultsOfGil(python); });
    }

    /// Also if no thread ever waited for the GIL.
    void garbageCollectionIsFound() {
        LANESCOPE_RUNS_ALONE;
        if (isSanitized) QSKIP("Too slow with a sanitizer.");
        for (const QString& python : interpreters()) verifyOneOfThree([&] { return faultsOfCollection(python); });
    }

    void unreadableMemoryIsReported() {
        if (isSanitized) QSKIP("A sanitizer wants to read its own.");
        if (interpreters().isEmpty()) QSKIP("No Python here.");
        const Recorded run = recorded({interpreters().front(), scriptOf("schedule.py"), "2"}, [] { refuseReadv(); });
        QVERIFY2(run.trace, run.errors.constData());
        // Its states are sampled anyway, without lines, and one sentence reports it.
        QCOMPARE(run.trace->stacks.size(), 0u);
        const uint32_t thread = mainThread(*run.trace);
        QVERIFY(thread != noIndex);
        QVERIFY(timesOf(*run.trace, thread).of(ThreadState::Running) > 100 * ms);
        QVERIFY(run.said.contains("shares"));
        QCOMPARE(
            std::ranges::count_if(run.trace->health,
                                  [](const HealthNote& note) { return note.code == HealthCode::ThreadStacksRefused; }),
            1);
    }

    void threadsAreNotSampledIfDisabled() {
        if (interpreters().isEmpty()) QSKIP("No Python here.");
        const Recorded run = recorded({interpreters().front(), scriptOf("schedule.py"), "0.5"}, {}, {"--no-threads"});
        QVERIFY2(run.trace, run.errors.constData());
        QCOMPARE(run.trace->cpuStates.size(), 0u);
    }

    void programIsNeitherStoppedNorSignalled() {
        const QString strace = QStandardPaths::findExecutable(QStringLiteral("strace"));
        if (strace.isEmpty() || interpreters().isEmpty() || isSanitized) QSKIP("No strace or Python here.");
        const QTemporaryDir folder;
        const QString calls = folder.filePath(QStringLiteral("calls"));
        QProcess process;
        process.start(strace, {"-f", "-o", calls, "-e", "trace=ptrace,kill,tgkill,tkill,rt_sigqueueinfo",
                               LANESCOPE_BINARY_DIR "/bin/lanescope", "record", "--no-sample", "-o",
                               folder.filePath(QStringLiteral("run.sqlite")), "--", interpreters().front(),
                               scriptOf("schedule.py"), "2"});
        QVERIFY(process.waitForFinished(60'000));
        QFile file(calls);
        if (!file.open(QIODevice::ReadOnly)) QSKIP("strace may not trace here.");
        for (const QByteArray& line : file.readAll().split('\n')) {
            QVERIFY2(!line.contains("ptrace("), line.constData());
            // `record` checks that a process exists, and terminates its own helpers.
            QVERIFY2(!line.contains("kill(") || line.contains(", 0)") || line.contains("SIGKILL"), line.constData());
            QVERIFY2(!line.contains("--- SIG") || line.contains("SIGCHLD") || line.contains("SIGKILL"),
                     line.constData());
        }
    }
};

LANESCOPE_TEST(tst_ThreadSampler, QCoreApplication)
#include "tst_ThreadSampler.moc"
