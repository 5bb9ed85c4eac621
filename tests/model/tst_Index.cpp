// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <zlib.h>

#include "model/export/traceFile.h"
#include "model/format/checksums.h"
#include "model/index/IndexFile.h"
#include "model/index/checkTrace.h"
#include "model/index/openTrace.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/sampleExports.h"
#include "tests/support/sanitizers.h"
#include "tests/support/simulatedMemory.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/traceDump.h"

using namespace lanescope;

namespace {

/// Offsets of the members named by a list of fields.
class MemberMap {
  public:
    template <class T>
    void operator()(T& field) {
        members_.push_back({reinterpret_cast<const char*>(&field), sizeof field, alignof(T)});
    }

    /// Returns true if only padding lies between the members and the edges of `whole`.
    template <class T>
    bool covers(const T& whole) {
        std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) { return a.at < b.at; });
        const auto* at = reinterpret_cast<const char*>(&whole);
        for (const Member& member : members_) {
            if (member.at < at || member.at >= at + member.alignment) return false;
            at = member.at + member.size;
        }
        const auto* end = reinterpret_cast<const char*>(&whole) + sizeof whole;
        return at <= end && end < at + alignof(T);
    }

  private:
    struct Member {
        const char* at;
        size_t size;
        size_t alignment;
    };
    std::vector<Member> members_;
};

template <class T>
bool namesEveryMember() {
    T value;
    MemberMap map;
    forEachField(value, map);
    return map.covers(value);
}

/// Returns the mangled names of the types that have members without a name.
template <class... Types>
std::string typesWithUnnamedMembers() {
    std::string types;
    ((types += namesEveryMember<Types>() ? "" : std::string(typeid(Types).name()) + " "), ...);
    return types;
}

/// Replaces all row numbers of a record by invalid ones.
struct SpoilRows {
    int count = 0;
    template <class T>
    void operator()(T&) {}
    void row(RowField<uint32_t> row) {
        row.field = 1'000'000'000;
        ++count;
    }
};

/// Checks that all row numbers of a record are valid.
struct CheckRows {
    const Trace& trace;
    int count = 0;
    bool areWithin = true;
    template <class T>
    void operator()(T&) {}
    void row(RowField<uint32_t> row) {
        const size_t rows = row.of == RowsOf::Threads ? trace.threads.size() : trace.strings.size();
        areWithin = areWithin && row.field < rows;
        ++count;
    }
};

OpenOptions always() {
    OpenOptions options;
    options.minBytes = 0;
    return options;
}

}  // namespace

class tst_Index : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((*folder_ / "cache").string()));
        path_ = *folder_ / "trace.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3, .layers = 6, .ncclPlugin = true}), path_).has_value());
        index_ = indexPaths(path_).front();
    }

    /// An index stores numbers of `HealthCode`. Moving one requires a new `indexVersion` and an update here.
    void healthCodesMatchTheIndexVersion() {
        Fnv1a codes;
        for (const HealthCodeName& each : healthCodeNames) codes.add(each.identifier);
        QCOMPARE(test::listed(indexVersion, codes.value()), "29 | 5449508066714544099");
    }

    void fileNoteIsKept() {
        const auto packed = *folder_ / "trace.sqlite.gz";
        const std::string content = contentOf(path_);
        const gzFile to = gzopen(packed.c_str(), "wb");
        QVERIFY(gzwrite(to, content.data(), unsigned(content.size())) > 0);
        QCOMPARE(gzclose(to), Z_OK);
        std::ofstream(packed, std::ios::binary | std::ios::app) << "behind";
        QVERIFY(openTrace(packed, always()));
        const TracePtr again = *openTrace(packed, always());
        QVERIFY(again->backing != nullptr);
        const auto isOfIt = [](const HealthNote& note) { return note.code == HealthCode::BytesBehindPacked; };
        QCOMPARE(std::ranges::count_if(again->health, isOfIt), 1);
    }

    void indexStoresEveryMember() {
        const std::string unnamed = typesWithUnnamedMembers<
            TimeRange, Gpu, Gap, Process, Thread, Stream, HealthNote, EventCount, Property, SampledGpuFacts,
            SamplerFacts, HostName, RunFacts, ProcessFacts, GpuFacts, LaunchConfig, KernelTable, MemcpyTable,
            MigrationTable, MemsetTable, GraphTable, MemoryEventTable, MemoryPoolTable, AllocationTable, PageFaultTable,
            ApiTable, SyncTable, EventCallTable, StreamWaitTable, NvtxTable, BackwardTable, ProjectionTable, NcclTable,
            LaunchLinks, LaneSums, UnionSums, TrackSums, TraceSums, LaneTiles::Level, LaneTiles::Runs, LaneTiles, Lane,
            Track, CounterSeries, CounterSeries::Level, LinkPeak, GpuConnection, GpuAffinity, SampledRange,
            GpuProcessUse, Interconnect>();
        QCOMPARE(unnamed, std::string());
        const TraceBuilder empty;
        const Trace& trace = empty.trace();
        MemberMap map;
        map(trace.path);
        map(trace.title);
        map(trace.backing);
        map(trace.corruptBlocks);
        map(trace.memory);
        forEachField(trace, map);
        QVERIFY(map.covers(trace));
    }

    void indexEqualsTheTrace() {
        const Result<TracePtr> loaded = loadTrace(path_), first = openTrace(path_, always());
        QVERIFY(std::filesystem::exists(index_));
        const Result<TracePtr> second = openTrace(path_, always());
        QVERIFY(loaded && first && second);
        QVERIFY((*second)->backing != nullptr);
        QCOMPARE(test::listed((*second)->title, (*second)->path), test::listed((*loaded)->title, path_));
        QVERIFY(dumpOf(**first) == dumpOf(**loaded) && dumpOf(**second) == dumpOf(**loaded));
    }

    void indexStoresTracesOfEveryKind() {
        std::vector<TracePtr> traces{simulatedTraining({.steps = 60}), simulatedMemory(), SimulatedTrace().finish()};
        for (const std::filesystem::path& path : sampleExports())
            if (const auto trace = loadTrace(path)) traces.push_back(*trace);
        for (const TracePtr& trace : traces) {
            const SourceKey key{1, 2, 3};
            QVERIFY(writeIndex(*trace, key, *folder_ / "index").has_value());
            const TracePtr read = readIndex(*folder_ / "index", key, "trace");
            QVERIFY2(read, trace->title.c_str());
            QVERIFY2(dumpOf(*read) == dumpOf(*trace), trace->title.c_str());
            QVERIFY2(differingParts(*read, *trace).empty(), trace->title.c_str());
        }
    }

    void checkComparesTheIndexWithTheTrace() {
        QVERIFY(ensureIndex(path_).has_value());
        const auto findingOfIndex = [this]() -> Finding {
            for (const Finding& finding : checkTrace(path_))
                if (finding.sentence.starts_with("The index ")) return finding;
            return {};
        };
        QVERIFY(findingOfIndex().isGood);
        QVERIFY(findingOfIndex().sentence.ends_with("is intact and equals one made from the trace just now."));
        // A user who has the key puts the index of another run there.
        const TracePtr other = simulatedTraining({.steps = 4, .layers = 6, .ncclPlugin = true});
        QVERIFY(writeIndex(*other, *sourceKeyOf(path_), index_).has_value());
        QVERIFY(!findingOfIndex().isGood);
        HAS(findingOfIndex().sentence, "differs from the trace: ");
        const auto parts = differingParts(**loadTrace(path_), *other);
        for (const char* name :
             {"time range", "kernels", "API calls", "NVTX ranges", "NCCL calls", "tracks", "launch links"})
            QVERIFY2(std::ranges::count(parts, name) == 1, name);
        for (const char* name : {"producer", "GPUs", "memory faults", "CPU states"})
            QVERIFY2(std::ranges::count(parts, name) == 0, name);
    }

    void indexIsIndependentOfTheTracePath() {
        if (test::hasThreadSanitizer) QSKIP("The file takes addresses that the sanitizer needs for itself.");
        const std::filesystem::path path = *folder_ / "large.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 150, .ncclPlugin = true}), path));
        LoadOptions options;
        options.memory = std::make_shared<LargeMemory>(folder_->path(), 0);
        const Result<TracePtr> mapped = loadTrace(path, {}, options), own = loadTrace(path);
        QVERIFY(mapped && own);
        QVERIFY(options.memory->fileBytes() > 0);
        QVERIFY(writeIndex(**mapped, {1, 2, 3}, *folder_ / "mapped").has_value());
        QVERIFY(writeIndex(**own, {1, 2, 3}, *folder_ / "own").has_value());
        QVERIFY(contentOf(*folder_ / "mapped") == contentOf(*folder_ / "own"));
    }

    void indexReplacesACompressedTrace() {
        const std::filesystem::path packed = *folder_ / "trace.sqlite.gz";
        const std::string bytes = contentOf(path_);
        const gzFile file = gzopen(packed.c_str(), "wb1");
        QCOMPARE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
        gzclose(file);
        const Result<TracePtr> loaded = loadTrace(packed);
        QVERIFY(loaded && (*loaded)->backing == nullptr);
        QVERIFY(ensureIndex(packed).has_value());
        const Result<TracePtr> indexed = openTrace(packed, always());
        QVERIFY(indexed && (*indexed)->backing != nullptr);
        QVERIFY(dumpOf(**indexed) == dumpOf(**loaded));
    }

    void indexIsIndependentOfThreadCount() {
        const std::filesystem::path path = *folder_ / "large.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 150, .ncclPlugin = true}), path));
        std::string alone;
        for (const unsigned threads : {1u, 2u, 5u}) {
            const auto trace = test::orFail(readTrace(path, {}, {.threads = threads}));
            QVERIFY(trace.trace().kernels.size() > 20'000);
            QVERIFY(writeIndex(trace.trace(), {1, 2, 3}, *folder_ / "large").has_value());
            const std::string bytes = contentOf(*folder_ / "large");
            if (threads == 1) alone = bytes;
            QVERIFY(!bytes.empty() && bytes == alone);
        }
    }

    void parallelReadingCanBeCancelled() {
        const std::filesystem::path path = *folder_ / "large.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 150}), path));
        for (const unsigned threads : {1u, 2u, 5u}) {
            const auto trace = readTrace(path, [](double, std::string_view) { return false; }, {.threads = threads});
            QVERIFY(!trace.has_value() && trace.error().sentence.find("cancelled") != std::string::npos);
        }
    }

    /// Each fact that refers to a row of another table, at any position in the list.
    void ncclRowReferencesAreBounded() {
        SimulatedTrace builder;
        builder.addNccl(builder.defaultThread(), "AllReduce", 64, 0, 10);
        const TracePtr trace = builder.finish();
        NcclFacts facts = trace->nccl.facts[0];
        SpoilRows spoil;
        forEachField(facts, spoil);
        QCOMPARE(spoil.count, 5);
        // Values that no loader would produce.
        NcclTable& spoilt = const_cast<Trace&>(*trace).nccl;
        spoilt.facts.set(0, facts);
        spoilt.nvtx.set(0, 1'000'000'000);
        spoilt.operation.set(0, 1'000'000'000);
        QVERIFY(writeIndex(*trace, {1, 2, 3}, *folder_ / "spoilt").has_value());
        const TracePtr read = readIndex(*folder_ / "spoilt", {1, 2, 3}, "trace");
        QVERIFY(read);
        NcclFacts bounded = read->nccl.facts[0];
        CheckRows check{*read};
        forEachField(bounded, check);
        QCOMPARE(check.count, 5);
        QVERIFY(check.areWithin);
        QVERIFY(read->nccl.nvtx[0] < read->nvtx.size() && read->nccl.operation[0] < read->strings.size());
        QVERIFY(!describe(*read, {EventKind::Nvtx, 0}).empty());
    }

    void indexKeepsCpuFaultsWithoutGpu() {
        SimulatedTrace builder;
        builder.addApi(builder.defaultThread(), "cuInit", 0, 50);
        builder.addPageFault(0, noIndex, 0x7f0000000000, 1, FaultAccess::Unknown, 20, 30);
        const TracePtr trace = builder.finish();
        QVERIFY(trace->gpus.empty());
        QVERIFY(writeIndex(*trace, {1, 2, 3}, *folder_ / "cpu").has_value());
        const TracePtr read = readIndex(*folder_ / "cpu", {1, 2, 3}, "trace");
        QVERIFY(read);
        QVERIFY(dumpOf(*read) == dumpOf(*trace));
        QVERIFY(read->locate({EventKind::PageFault, 0}).isValid());
    }

    /// Test vectors of the authors of SipHash.
    void keyedHashMatchesItsTestVectors() {
        const std::pair<int, const char*> vectors[]{{0, "a3817f04ba25a8e66df67214c7550293"},
                                                    {1, "da87c1d86b99af44347659119b22fc45"},
                                                    {8, "3b62a9ba6258f5610f83e264f31497b4"},
                                                    {15, "5493e99933b0a8117e08ec0f97cfc3d9"},
                                                    {63, "5150d1772f50834a503e069a973fbd7c"}};
        SipHash::Key key;
        std::array<std::byte, 64> bytes;
        for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(at);
        std::copy_n(bytes.begin(), key.size(), key.begin());
        for (const auto& [size, expected] : vectors) {
            const auto whole = std::span(bytes).first(static_cast<size_t>(size));
            SipHash hash(key);
            hash.add(whole.first(whole.size() / 3));
            hash.add(whole.subspan(whole.size() / 3));
            const SipHash::Value value = hash.value();
            QCOMPARE(QByteArray(reinterpret_cast<const char*>(value.data()), 16).toHex(), QByteArray(expected));
        }
    }

    void indexOfAnotherKeyIsNotUsed() {
        QVERIFY(ensureIndex(path_).has_value());
        QVERIFY(hasIndex(path_) || std::filesystem::file_size(path_) < OpenOptions().minBytes);
        const auto source = sourceKeyOf(path_);
        QVERIFY(source && readIndex(index_, *source, path_));
        std::filesystem::remove(*cacheFolder("index") / "key");
        QVERIFY(!readIndex(index_, *source, path_));
        QVERIFY(openTrace(path_, always()).has_value());
        QVERIFY(readIndex(index_, *source, path_));
    }

    void indexHasThePermissionsOfTheTrace() {
        const std::pair<mode_t, mode_t> modes[]{{0600, 0600}, {0644, 0644}, {0640, 0640},
                                                {0664, 0644}, {0444, 0644}, {0400, 0600}};
        for (const auto& [traces, expected] : modes) {
            QCOMPARE(::chmod(path_.c_str(), traces), 0);
            std::filesystem::remove(index_);
            QVERIFY(ensureIndex(path_).has_value());
            struct stat status {};
            QCOMPARE(::stat(index_.c_str(), &status), 0);
            QCOMPARE(status.st_mode & 0777, expected);
        }
    }

    void indexIsRebuiltForAnotherTrace() {
        QVERIFY(ensureIndex(path_).has_value());
        const std::string old = contentOf(index_);
        std::filesystem::remove(path_);
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 2}), path_).has_value());
        QVERIFY(dumpOf(**openTrace(path_, always())) == dumpOf(**loadTrace(path_)));
        QVERIFY(contentOf(index_) != old);
    }

    void incompleteIndexIsRebuilt() {
        QVERIFY(ensureIndex(path_).has_value());
        const std::string whole = contentOf(index_);
        for (const size_t bytes : {size_t{0}, size_t{10}, size_t{64}, whole.size() / 2, whole.size() - 1}) {
            std::ofstream(index_, std::ios::binary | std::ios::trunc) << whole.substr(0, bytes);
            const auto trace = test::orFail(openTrace(path_, always()));
            QCOMPARE(contentOf(index_).size(), whole.size());
        }
        std::string other = whole;
        other[8] = static_cast<char>(other[8] + 1);  // the version
        std::ofstream(index_, std::ios::binary | std::ios::trunc) << other;
        QVERIFY(openTrace(path_, always()).has_value());
        QVERIFY(contentOf(index_) == whole);
    }

    void indexIsCachedIfTheFolderIsReadOnly() {
        // A folder with the name of the index blocks even root.
        std::filesystem::create_directory(index_);
        std::filesystem::create_directory(index_ / "x");
        QVERIFY(test::orFail(openTrace(path_, always()))->backing != nullptr);
        QVERIFY(std::filesystem::exists(indexPaths(path_).back()));
    }

    void traceOpensInMemoryIfNoIndexCanBeWritten() {
        std::filesystem::create_directory(index_);
        std::filesystem::create_directory(index_ / "x");
        std::ofstream(*folder_ / "cache") << "no folder";
        const auto trace = test::orFail(openTrace(path_, always()));
        QVERIFY(trace->backing == nullptr);
        QVERIFY(trace->health.back().sentence.find("No index could be written") == 0);
        QCOMPARE(trace->health.back().severity, Severity::Info);
        QVERIFY(!ensureIndex(path_).has_value());
    }

    void cancelledIndexLeavesNothing() {
        const auto stopAtIndex = [](double, std::string_view what) { return what != "writing the index"; };
        QVERIFY(!openTrace(path_, always(), stopAtIndex).has_value());
        QVERIFY(!openTrace(path_, always(), [](double, std::string_view) { return false; }));
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_->path()))
            QVERIFY2(entry.is_directory() || entry.path() == path_ || entry.path().filename() == "key",
                     entry.path().c_str());
    }

    void concurrentWritersProduceOneIndex() {
        std::vector<std::thread> threads;
        std::array<Result<TracePtr>, 4> traces;
        for (Result<TracePtr>& each : traces)
            threads.emplace_back([&each, this] { each = openTrace(path_, always()); });
        for (std::thread& thread : threads) thread.join();
        const std::string expected = dumpOf(**loadTrace(path_));
        for (const Result<TracePtr>& each : traces) QVERIFY(dumpOf(**each) == expected);
        size_t files = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_->path()))
            files += entry.is_regular_file() ? 1 : 0;
        QCOMPARE(files, size_t{2});
    }

    void indexStaysUsableWhenTheTraceIsReplaced() {
        QVERIFY(ensureIndex(path_).has_value());
        const auto open = openTrace(path_, always());
        const std::string before = dumpOf(**open);
        std::filesystem::remove(path_);
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 1}), path_).has_value());
        QVERIFY(ensureIndex(path_).has_value());
        QVERIFY(dumpOf(**open) == before);
    }

    void smallTracesGetNoIndex() {
        QVERIFY(openTrace(path_, {.minBytes = uint64_t{1} << 30}).has_value());
        QVERIFY(!std::filesystem::exists(index_));
    }

    void isRemovedOnDemand() {
        QVERIFY(ensureIndex(path_).has_value());
        QCOMPARE(*removeIndexes(path_), 1);
        QVERIFY(!std::filesystem::exists(index_));
        QCOMPARE(*removeIndexes(path_), 0);
    }

  private:
    std::unique_ptr<TemporaryFolder> folder_;
    std::filesystem::path path_, index_;
};

LANESCOPE_TEST(tst_Index, NoApplication)
#include "tst_Index.moc"
