// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <QTest>
#include <array>
#include <chrono>
#include <ctime>
#include <map>

#include "model/export/traceFile.h"
#include "model/format/Sqlite.h"
#include "model/index/indexFields.h"
#include "model/index/openTrace.h"
#include "model/lod/reduceToPixels.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

double mebibytes(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

/// CPU time of this process, which a busy machine affects less than wall time.
class CpuTimer {
  public:
    double ms() const { return now() - start_; }

  private:
    static double now() { return static_cast<double>(std::clock()) * 1000 / static_cast<double>(CLOCKS_PER_SEC); }
    double start_ = now();
};

/// Wall time: all cores build an index.
class WallTimer {
  public:
    double ms() const { return std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

/// Counts the bytes of columns in the file.
class StoredBytes {
  public:
    template <class T>
    void operator()(const T& value) {
        if constexpr (std::is_class_v<T>) forEachField(value, *this);
    }
    void operator()(const std::string&) {}
    template <class T>
    void operator()(const std::optional<T>&) {}
    template <class T>
    void operator()(const Rare<T>& value) {
        (*this)(*value);
    }
    template <class T>
    void operator()(const std::vector<T>& values) {
        for (const T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(const RecordColumn<T>& records) {
        for (const Column<int64_t>& field : records.fields()) (*this)(field);
    }
    template <class T>
    void operator()(const Column<T>& column) {
        bytes_ += column.packed().bytes().size() + column.packed().blocks().size_bytes();
    }
    uint64_t bytes() const { return bytes_; }

  private:
    uint64_t bytes_ = 0;
};

template <class... T>
double mebibytesOf(const T&... parts) {
    StoredBytes stored;
    (stored(parts), ...);
    return mebibytes(stored.bytes());
}

/// Prints the size of each part of an index.
void printSizes(const Trace& trace) {
    qInfo(
        "tables: kernels %.2f, copies %.2f, API calls %.2f, syncs %.2f, NVTX %.2f, "
        "projections %.2f MiB",
        mebibytesOf(trace.kernels), mebibytesOf(trace.memcpys, trace.memsets), mebibytesOf(trace.apiCalls),
        mebibytesOf(trace.syncs), mebibytesOf(trace.nvtx), mebibytesOf(trace.projections));
    qInfo("links %.2f, sums %.2f, waits %.2f MiB", mebibytesOf(trace.links), mebibytesOf(trace.sums),
          mebibytesOf(trace.eventRecords, trace.eventWaits, trace.streamWaits));
    std::map<TrackKind, std::array<double, 8>> lanes;
    for (const Track& track : trace.tracks) {
        for (const Lane& lane : track.lanes) {
            const std::array sizes{static_cast<double>(lane.size()), mebibytesOf(lane.startNs),
                                   mebibytesOf(lane.durationNs),     mebibytesOf(lane.name),
                                   mebibytesOf(lane.event),          mebibytesOf(lane.category),
                                   mebibytesOf(lane.busyNs),         mebibytesOf(*lane.tiles)};
            for (size_t i = 0; i < sizes.size(); ++i) lanes[track.kind][i] += sizes[i];
        }
    }
    for (const auto& [kind, sizes] : lanes)
        qInfo(
            "lanes of kind %d: %.0f slices, starts %.2f, durations %.2f, names %.2f, events "
            "%.2f, categories %.2f, busy %.2f, tiles %.2f MiB",
            static_cast<int>(kind), sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6], sizes[7]);
}

/// Peak memory of this process so far.
uint64_t peakBytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

/// Compares making the index of a trace with stepping through all cells of the same tables, and
/// measures later opening. The environment variable LANESCOPE_BENCH_TRACE names another trace.
class bench_Index : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void buildingCostsLittleMoreThanReading();
    void openingCostsNothing();

  private:
    static constexpr double maxTimesReading = 1.5, maxOpeningMs = 100;

    double readPlainlyMs() const;

    TemporaryFolder folder_;
    std::filesystem::path path_;
};

void bench_Index::initTestCase() {
    path_ = qEnvironmentVariable("LANESCOPE_BENCH_TRACE").toStdString();
    if (!path_.empty()) return;
    path_ = folder_ / "trace.sqlite";
    QVERIFY(writeTraceFile(*simulatedTraining({.steps = 500}), path_).has_value());
}

double bench_Index::readPlainlyMs() const {
    const WallTimer timer;
    const auto database = Database::openReadOnly(path_);
    uint64_t sum = 0;
    for (const std::string& table : database->tables()) {
        auto statement = database->prepare("SELECT * FROM \"" + table + "\"");
        if (!statement) continue;
        while (*statement->step())
            for (int column = 0; column < statement->columnCount(); ++column)
                sum += static_cast<uint64_t>(statement->integer(column));
    }
    if (sum == 1) qInfo("unlikely");  // keeps the reading from being optimized away
    return timer.ms();
}

void bench_Index::buildingCostsLittleMoreThanReading() {
    // The best of some rounds each, so that a busy machine does not decide.
    const int rounds = qEnvironmentVariableIsSet("LANESCOPE_BENCH_TRACE") ? 1 : 3;
    double readMs = 1e12, buildMs = 1e12;
    std::filesystem::path index;
    for (int round = 0; round < rounds; ++round) {
        readMs = std::min(readMs, readPlainlyMs());
        QVERIFY(removeIndexes(path_).has_value());
        const WallTimer timer;
        const auto built = ensureIndex(path_);
        buildMs = std::min(buildMs, timer.ms());
        QVERIFY(built.has_value());
        index = *built;
    }
    const auto trace = openTrace(path_, {.minBytes = 0});
    printSizes(**trace);
    int64_t events = 0;
    for (const EventCount& count : (*trace)->counts) events += count.total;
    const auto indexBytes = std::filesystem::file_size(index);
    const auto traceBytes = std::filesystem::file_size(path_);
    qInfo("%lld events: reading %.0f ms, building the index %.0f ms (%.2f times)", static_cast<long long>(events),
          readMs, buildMs, buildMs / readMs);
    qInfo("index %.1f MiB (%.1f bytes an event), trace %.1f (%.1f), peak memory %.0f MiB", mebibytes(indexBytes),
          static_cast<double>(indexBytes) / static_cast<double>(events), mebibytes(traceBytes),
          static_cast<double>(traceBytes) / static_cast<double>(events), mebibytes(peakBytes()));
    if (qEnvironmentVariableIntValue("LANESCOPE_BENCH_ASSERT") == 0) return;
    QVERIFY(buildMs < maxTimesReading * readMs);
}

void bench_Index::openingCostsNothing() {
    double openMs = 1e12, firstMs = 0, pictureMs = 1e12;
    for (int round = 0; round < 5; ++round) {
        const CpuTimer opening;
        const auto trace = openTrace(path_, {.minBytes = 0});
        openMs = std::min(openMs, opening.ms());
        QVERIFY((*trace)->backing != nullptr);
        const CpuTimer painting;
        for (const Track& track : (*trace)->tracks)
            for (const Lane& lane : track.lanes) (void)reduceToPixels(lane, (*trace)->range, 1920);
        if (round == 0) firstMs = painting.ms();
        pictureMs = std::min(pictureMs, painting.ms());
    }
    qInfo("opening %.2f ms, all lanes into pixels %.2f ms at first, then %.2f ms", openMs, firstMs, pictureMs);
    if (qEnvironmentVariableIntValue("LANESCOPE_BENCH_ASSERT") == 0) return;
    QVERIFY(openMs < maxOpeningMs);
}

QTEST_APPLESS_MAIN(bench_Index)
#include "bench_Index.moc"
