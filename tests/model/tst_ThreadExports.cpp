// SPDX-License-Identifier: Apache-2.0
#include "model/export/perfettoTrace.h"
#include "model/flame/makeFlame.h"
#include "model/importers/perfetto/readPerfettoTrace.h"
#include "model/trace/kinds/CpuState.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/protoTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

/// A thread in train and in forward below it, with the GIL there, running native code.
TracePtr threadsOf(bool isSampled) {
    SimulatedTrace builder;
    const auto frame = [&](uint32_t parent, const char* function, uint32_t line) {
        return builder.stack(parent, builder.intern(function), builder.intern("/home/ada/train.py"), line);
    };
    const uint32_t train = frame(noIndex, "train", 10), forward = frame(train, "forward", 22);
    const auto state = [&](int64_t startMs, int64_t endMs, ThreadState what, uint32_t stack,
                           StateSource source = StateSource::StateSamples) {
        builder.add<kinds::CpuState>({.startNs = startMs * ms,
                                      .endNs = endMs * ms,
                                      .thread = builder.defaultThread(),
                                      .state = what,
                                      .source = source,
                                      .cpuNs = what == ThreadState::Running ? (endMs - startMs) * ms : 0,
                                      .call = what == ThreadState::Running ? 0 : builder.intern("futex"),
                                      .stack = stack});
    };
    state(0, 10, ThreadState::Running, train);
    state(10, 30, ThreadState::Running, forward);
    state(30, 45, ThreadState::Gil, forward);
    state(45, 50, ThreadState::Running, noIndex);
    if (isSampled) state(12, 22, ThreadState::Running, train, StateSource::Samples);
    return builder.finish();
}

std::string foldedOf(const FlameTree& tree) {
    std::string text;
    writeFolded(tree, 0, [&text](std::string_view piece) {
        text += piece;
        return true;
    });
    return text;
}

}  // namespace

class tst_ThreadExports : public QObject {
    Q_OBJECT

  private slots:
    void foldedTextListsEachThreadWithItsStacks() {
        const TracePtr trace = threadsOf(false);
        const Process& process = trace->processes[0];
        const Thread& thread = trace->threads[0];
        const std::string own = process.name +
                                (process.rank ? " (rank " + std::to_string(*process.rank) + ", PID " : " (PID ") +
                                std::to_string(process.pid) + ");" +
                                (thread.name.empty() ? "thread " + std::to_string(thread.tid)
                                                     : thread.name + " (TID " + std::to_string(thread.tid) + ")");
        QCOMPARE(foldedOf(makeThreadFlame(*trace, FlameBase::Lines)),
                 own + ";(no Python stack) 5000000\n" + own + ";train (train.py:10) 10000000\n" + own +
                     ";train (train.py:10);forward (train.py:22) 20000000\n" + own +
                     ";train (train.py:10);forward (train.py:22);[GIL] 15000000\n");
        QCOMPARE(makeThreadFlame(*trace, FlameBase::Functions, TimeRange{5 * ms, 12 * ms}).totalNs(), 7 * ms);
        // CPU samples give running time, state samples give waiting time.
        QCOMPARE(foldedOf(makeThreadFlame(*threadsOf(true), FlameBase::Functions)),
                 own + ";train (train.py) 10000000\n" + own + ";train (train.py);forward (train.py);[GIL] 15000000\n");
    }

    void perfettoExportHasStatesAndStacksOnThreadTracks() {
        std::string bytes;
        writePerfettoTrace(*threadsOf(false), [&bytes](std::string_view piece) {
            bytes += piece;
            return true;
        });
        TraceBuilder builder;
        builder.setPath("run.pftrace");
        QVERIFY(readPerfettoTrace(protoTrace::sourceOf(bytes), builder, [] { return 0.0; }, {}));
        QVERIFY(builder.finish());
        const TracePtr read = builder.take();
        QStringList found;
        for (uint32_t row = 0; row < read->nvtx.size(); ++row)
            found.append(QString("%1 %2+%3")
                             .arg(QString::fromStdString(std::string(read->strings.at(read->nvtx.text[row]))))
                             .arg((read->nvtx.startNs[row] - read->nvtx.startNs[0]) / ms)
                             .arg((read->nvtx.endNs[row] - read->nvtx.startNs[row]) / ms));
        found.sort();
        QStringList expected{"Running 0+10", "Running 10+20", "GIL 30+15",
                             "Running 45+5", "train 0+45",    "forward 10+35"};
        expected.sort();
        QCOMPARE(found, expected);
    }
};

LANESCOPE_TEST(tst_ThreadExports, QCoreApplication)
#include "tst_ThreadExports.moc"
