// SPDX-License-Identifier: Apache-2.0
#include "model/export/perfettoTrace.h"
#include "model/importers/loadTrace.h"
#include "model/importers/perfetto/readPerfettoTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/notes.h"
#include "tests/support/protoTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;

namespace {

std::string written(const Trace& trace) {
    std::string bytes;
    writePerfettoTrace(trace, [&bytes](std::string_view piece) {
        bytes += piece;
        return true;
    });
    return bytes;
}

TracePtr readBack(const std::string& bytes) {
    TraceBuilder builder;
    builder.setPath("run.pftrace");
    if (!readPerfettoTrace(protoTrace::sourceOf(bytes), builder, [] { return 0.0; }, {}) || !builder.finish())
        qFatal("not read");
    return builder.take();
}

/// Start, end, name and "launched by a call" of all events of a kind, in order.
using Shown = std::vector<std::tuple<int64_t, int64_t, std::string, bool>>;
Shown shownOf(const Trace& trace, EventKind kind, int64_t zeroNs) {
    Shown shown;
    for (uint32_t row = 0; row < trace.rowCount(kind); ++row) {
        const EventRef event(kind, row);
        const TimeRange range = trace.rangeOf(event);
        shown.emplace_back(range.startNs - zeroNs, range.endNs - zeroNs, trace.nameOf(event),
                           kind != EventKind::Sync && trace.launchingCall(event).isValid());
    }
    std::sort(shown.begin(), shown.end());
    return shown;
}

int64_t firstNs(const Trace& trace) {
    int64_t first = INT64_MAX;
    for (const EventKind kind :
         {EventKind::Kernel, EventKind::Memcpy, EventKind::Memset, EventKind::Api, EventKind::Nvtx, EventKind::Sync})
        for (uint32_t row = 0; row < trace.rowCount(kind); ++row)
            first = std::min(first, trace.rangeOf(EventRef(kind, row)).startNs);
    return first;
}

void sameEvents(const Trace& first, const Trace& second) {
    const int64_t zeroOfFirst = firstNs(first), zeroOfSecond = firstNs(second);
    for (const EventKind kind :
         {EventKind::Kernel, EventKind::Memcpy, EventKind::Memset, EventKind::Api, EventKind::Nvtx}) {
        const Shown expected = shownOf(first, kind, zeroOfFirst);
        const Shown found = shownOf(second, kind, zeroOfSecond);
        QCOMPARE(found.size(), expected.size());
        for (size_t at = 0; at < expected.size(); ++at) {
            QCOMPARE(std::get<0>(found[at]), std::get<0>(expected[at]));
            QCOMPARE(std::get<1>(found[at]), std::get<1>(expected[at]));
            QCOMPARE(std::get<2>(found[at]), std::get<2>(expected[at]));
            QCOMPARE(std::get<3>(found[at]), std::get<3>(expected[at]));
        }
    }
}

}  // namespace

class tst_PerfettoTrace : public QObject {
    Q_OBJECT

  private slots:
    void perfettoExportRoundTrips() {
        const TracePtr first = simulatedTraining();
        const TracePtr second = readBack(written(*first));
        sameEvents(*first, *second);
        QCOMPARE(second->gpus.size(), first->gpus.size());
        QCOMPARE(second->gpus[0].name, first->gpus[0].name);
        QCOMPARE(second->producer, first->producer);
        QVERIFY(!hasNote(*second, HealthCode::RowsLeftOut));
    }

    void recordedRunRoundTrips() {
        const Result<TracePtr> first =
            loadTrace(std::filesystem::path(LANESCOPE_SAMPLES) / "resnet152-no-p2p.sqlite.gz");
        QVERIFY(first);
        const TracePtr second = readBack(written(**first));
        sameEvents(**first, *second);
        // Waits of whole contexts have no track.
        uint32_t ofStreams = 0;
        for (uint32_t row = 0; row < (*first)->syncs.size(); ++row)
            ofStreams += (*first)->syncs.stream[row] != noIndex ? 1 : 0;
        QCOMPARE(second->syncs.size(), ofStreams);
        QCOMPARE(second->startUtcNs - firstNs(*second) > 0, true);
        uint64_t before = 0, after = 0;
        for (const CounterSeries& counter : (*first)->counters)
            for (uint32_t sample = 0; sample < counter.size(); ++sample)
                before += counter.value(sample) == counter.value(sample) ? 1 : 0;
        for (const CounterSeries& counter : second->counters) after += counter.size();
        QCOMPARE(after, before);
    }

    void packetsAreReadableByOtherTools() {
        const TracePtr trace = simulatedTraining();
        const TemporaryFolder folder;
        const std::string bytes = written(*trace);
        std::ofstream(folder / "run.pftrace", std::ios::binary)
            .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        std::ofstream(folder / "count.py") << R"(
import collections, sys
try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
except ImportError:
    sys.exit(77)
trace = protos.Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
categories, count = {}, collections.Counter()
for packet in trace.packet:
    for entry in packet.interned_data.event_categories:
        categories[entry.iid] = entry.name
    event = packet.track_event
    if event.type == protos.TrackEvent.TYPE_SLICE_BEGIN:
        count[categories.get(event.category_iids[0]) if event.category_iids else ""] += 1
    if event.type == protos.TrackEvent.TYPE_SLICE_END:
        count["ends"] += 1
print(count["kernel"], count["gpu_memcpy"], count["gpu_memset"],
      count["cuda_runtime"] + count["cuda_driver"], sum(count.values()) - 2 * count["ends"])
)";
        const QByteArray chosen = qgetenv("LANESCOPE_TEST_PYTHON");
        QProcess python;
        python.start(chosen.isEmpty() ? "python3" : QString::fromLocal8Bit(chosen),
                     {(folder / "count.py").c_str(), (folder / "run.pftrace").c_str()});
        if (!python.waitForStarted()) QSKIP("There is no Python.");
        QVERIFY(python.waitForFinished(60'000));
        if (python.exitCode() == 77) QSKIP("Perfetto's Python package is not installed.");
        QCOMPARE(python.readAllStandardError(), QByteArray());
        QCOMPARE(python.readAllStandardOutput().trimmed(),
                 QByteArray::fromStdString(
                     std::to_string(trace->kernels.size()) + " " + std::to_string(trace->memcpys.size()) + " " +
                     std::to_string(trace->memsets.size()) + " " + std::to_string(trace->apiCalls.size()) + " 0"));
    }

    void exportStopsWhenTheSinkCloses() {
        int pieces = 0;
        writePerfettoTrace(*simulatedTraining(), [&pieces](std::string_view) {
            ++pieces;
            return false;
        });
        QCOMPARE(pieces, 1);
    }
};

LANESCOPE_TEST(tst_PerfettoTrace, QCoreApplication)
#include "tst_PerfettoTrace.moc"
