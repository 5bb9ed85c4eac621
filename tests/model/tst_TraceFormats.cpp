// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "model/export/traceFile.h"
#include "model/format/Sqlite.h"
#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/sampleExports.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace fs = std::filesystem;

namespace {

void compress(const fs::path& from, const fs::path& to) {
    const std::string content = contentOf(from);
    const gzFile packed = gzopen(to.c_str(), "wb1");
    if (!content.empty()) gzwrite(packed, content.data(), static_cast<unsigned>(content.size()));
    gzclose(packed);
}

void makeDatabase(const fs::path& path, const char* sql) {
    auto database = Database::create(path);
    if (!database || !database->execute(sql)) qFatal("no database");
}

/// Identifiers of the formats that accept a file.
std::vector<std::string> takersOf(const fs::path& path) {
    std::vector<std::string> takers;
    const LoadProgress progress;
    Result<TraceSource> source = TraceSource::open(path, progress);
    if (!source) return takers;
    for (const TraceFormat* format : traceFormats()) {
        const Result<bool> isIt = format->isRecognized(*source);
        if (isIt && *isIt) takers.emplace_back(format->identifier);
    }
    return takers;
}

}  // namespace

/// Tests that shipped traces contain no private folders, and that a changed bit is detected.
class tst_TraceFormats : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;

    static std::string unpacked(const QString& path) {
        std::string bytes(size_t{64} << 20, '\0');
        const gzFile file = ::gzopen(path.toUtf8().constData(), "rb");
        const int count = file ? ::gzread(file, bytes.data(), static_cast<unsigned>(bytes.size())) : -1;
        if (file) ::gzclose(file);
        bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
        return bytes;
    }

    static void eachSample() {
        QTest::addColumn<QString>("path");
        const QDir folder(LANESCOPE_SAMPLES);
        for (const QString& name : folder.entryList({"*.gz"}, QDir::Files))
            QTest::newRow(name.toUtf8().constData()) << folder.filePath(name);
    }

  private slots:
    void initTestCase() {
        QVERIFY(writeTraceFile(*simulatedTraining(), folder_ / "native.sqlite"));
        makeDatabase(folder_ / "nsight.sqlite",
                     "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER)");
        makeDatabase(folder_ / "no-gpu.sqlite",
                     "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                     "CREATE TABLE ThreadNames (nameId INTEGER)");
        makeDatabase(folder_ / "old.nvprof",
                     "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);"
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (_id_ INTEGER, start INT);"
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER, start INT)");
        makeDatabase(folder_ / "bookmarks.db", "CREATE TABLE bookmarks (url TEXT)");
        put(folder_ / "text", "start,end\n1,2\n");
        makeDatabase(folder_ / "results.db",
                     "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);"
                     "CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, start INTEGER)");
        makeDatabase(folder_ / "newer.db",
                     "CREATE TABLE rocpd_string_00ab_12 (id INTEGER PRIMARY KEY, string TEXT);"
                     "CREATE VIEW rocpd_string AS SELECT * FROM rocpd_string_00ab_12");
        makeDatabase(folder_ / "fleet.sqlite", "PRAGMA application_id = 0x4c4e5346; CREATE TABLE ranks (rank INTEGER)");
        put(folder_ / "torch.json",
            "{\n \"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"ts\": 1, \"dur\": 2}]}");
        put(folder_ / "list.json", "[{\"ph\": \"X\", \"ts\": 1, \"dur\": 2}]");
        put(folder_ / "other.json", "{\"name\": \"no trace\"}");
        put(folder_ / "mid.json", "INFO: started\n{\"schemaVersion\": 1, \"traceEvents\": []}");
        put(folder_ / "session.nvvp", "<?xml version=\"1.0\"?>\n<session version=\"2\" name=\"a.nvvp\">\n</session>");
        put(folder_ / "log.nvvp", std::string("\0\4\0\0\4\0", 6));
        put(folder_ / "host.xplane.pb", "\n\x10\x12\x0e/host:metadata");
        // A host without lines, and a track without events.
        put(folder_ / "plane", "\n\x15\x12\x13/host:python-tracer");
        put(folder_ / "run.pftrace", std::string("\n\x0a\x50\x01\xe2\x03\x05\x08\x07\x12\x01t", 12));
        put(folder_ / "run.nsys-rep", std::string(5000, '\x17'));
        const std::string pickle("\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94(", 14);
        put(folder_ / "memory.pickle", pickle + "\x8c\x08segments\x94]\x94");
        put(folder_ / "flight.pkl", pickle + "\x8c\x07version\x94\x8c\x09pg_config\x94");
        put(folder_ / "any.pickle", pickle +
                                        "\x8c\x01"
                                        "a\x94K\x01s.");
        const std::string record =
            "{\"header\":{\"id\":\"0x7f\",\"rank\":0,\"n_ranks\":2,\"nnodes\":1},\"metadata\":{"
            "\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":1748030377748202,"
            "\"hostname\":\"node\",\"pid\":7},";
        const std::string collective =
            "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":1,\"coll_exec_time_us\":9}}\n";
        put(folder_ / "node-pid7.log", record + collective);
        put(folder_ / "node-pid8.log", "NCCL INFO started\n" + record + collective);
        put(folder_ / "rest.log", "{" + collective);
        put(folder_ / "message.log", "{\"p2p_perf\":{\"p2p\":\"Send\",\"p2p_exec_time_us\":9}}");
        put(folder_ / "both.json", "{\"ph\": \"X\", \"ts\": 1, \"args\": " + record + "}}");
        put(folder_ / "lines.jsonl", "{\"header\":{\"rank\":0},\"metadata\":{}}\n");
        put(folder_ / "run.sqlite.xz", std::string("\xfd\x37zXZ\0\0\4", 8));
        put(folder_ / "run.sqlite.zst", "\x28\xb5\x2f\xfd\x24\x05");
        put(folder_ / "run.sqlite.bz2", "BZh91AY&SY");
        put(folder_ / "about", "BZh is how this text begins.");
        put(folder_ / "runs.zip", std::string("PK\3\4\x14\0", 6));
        put(folder_ / "runs.tar", "run.sqlite" + std::string(247, '\0') + "ustar  ");
        // A compressed file is readable in place.
        const std::string events = "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\"}]}";
        put(folder_ / "ranks.tar", "rank0.json" + std::string(247, '\0') + "ustar  " + std::string(248, '\0') + events);
        put(folder_ / "ranks.zip", std::string("PK\3\4\x14\0", 6) + "rank0.json" + events);
        put(folder_ / "old.qdrep", std::string("PK\3\4\x14\0", 6));
        put(folder_ / "empty", "");
        put(folder_ / "zeros", std::string(4096, '\0'));
    }

    void fileMatchesAtMostOneFormat_data() {
        const test::Rows<QString, QString> row;
        const std::map<std::string, std::string> expected{{"native.sqlite", "lanescope"},
                                                          {"nsight.sqlite", "nsight-sqlite"},
                                                          {"no-gpu.sqlite", "nsight-sqlite"},
                                                          {"old.nvprof", "nvprof"},
                                                          {"bookmarks.db", ""},
                                                          {"results.db", "rpd"},
                                                          {"newer.db", "rocpd"},
                                                          {"torch.json", "chrome-json"},
                                                          {"list.json", "chrome-json"},
                                                          {"mid.json", "chrome-json"},
                                                          {"other.json", ""},
                                                          {"session.nvvp", "nvvp-session"},
                                                          {"log.nvvp", "nvprof-log"},
                                                          {"host.xplane.pb", "xplane"},
                                                          {"plane", "xplane"},
                                                          {"run.pftrace", "perfetto"},
                                                          {"memory.pickle", "torch-memory-snapshot"},
                                                          {"flight.pkl", "torch-flight-recorder"},
                                                          {"any.pickle", "pickle"},
                                                          {"node-pid7.log", "nccl-inspector"},
                                                          {"node-pid8.log", "nccl-inspector"},
                                                          {"rest.log", "nccl-inspector"},
                                                          {"message.log", "nccl-inspector"},
                                                          {"both.json", "chrome-json"},
                                                          {"lines.jsonl", ""},
                                                          {"text", ""},
                                                          {"run.nsys-rep", "nsight-report"},
                                                          {"fleet.sqlite", "fleet-report"},
                                                          {"run.sqlite.xz", "xz"},
                                                          {"run.sqlite.zst", "zstd"},
                                                          {"run.sqlite.bz2", "bzip2"},
                                                          {"runs.zip", "zip"},
                                                          {"runs.tar", "tar"},
                                                          {"ranks.zip", "zip"},
                                                          {"ranks.tar", "tar"},
                                                          {"old.qdrep", "nsight-report"},
                                                          {"about", ""},
                                                          {"zeros", ""},
                                                          {"empty", ""}};
        for (const auto& [name, format] : expected) {
            const fs::path plain = folder_ / name.c_str(), packed = folder_ / (name + ".gz").c_str();
            compress(plain, packed);
            row(QString(name.c_str()), QString(plain.c_str()), QString(format.c_str()));
            // A compressed file is not detected by its ending.
            const bool goesByName = format == "nsight-report" || format == "nvprof-log";
            // Only tar unpacks both at once; a stored file within a zip reads as a corrupt one.
            const bool isPackedTwice = format == "xz" || format == "zstd" || format == "bzip2" || format == "zip";
            row(QString::asprintf("%s.gz", name.c_str()), QString(packed.c_str()),
                QString(goesByName || isPackedTwice ? "" : format.c_str()));
        }
        for (const fs::path& path : sampleExports())
            row(QString::asprintf("%s", path.filename().c_str()), QString(path.c_str()), "nsight-sqlite");
        if (!sampleExports().empty()) {
            const fs::path nvprof = sampleExports().front().parent_path().parent_path() / "nvprof";
            for (const char* name : {"v8-trace.nvvp", "v11-timeline.nvprof", "v12-kernel-table.nvvp"})
                if (fs::exists(nvprof / name)) row(QString(name), QString((nvprof / name).c_str()), "nvprof");
            const fs::path xplane = nvprof.parent_path() / "xplane" / "jax-mi300.xplane.pb";
            if (fs::exists(xplane)) row("JAX", QString(xplane.c_str()), "xplane");
        }
    }
    void fileMatchesAtMostOneFormat() {
        const auto [file, format] = test::row<QString, QString>();
        std::vector<std::string> expected;
        if (!format.isEmpty()) expected.push_back(format.toStdString());
        QCOMPARE(takersOf(file.toStdString()), expected);
        const Result<TracePtr> trace = loadTrace(file.toStdString());
        const QStringList readable{"lanescope", "nsight-sqlite", "nvprof",   "chrome-json",   "rocpd",
                                   "rpd",       "xplane",        "perfetto", "nccl-inspector"};
        QCOMPARE(trace.has_value(), readable.contains(format));
        if (!trace) QVERIFY(trace.error().sentence.find(file.toStdString()) != std::string::npos);
    }

    void unknownFileIsRefusedInOneSentence_data() {
        const test::Rows<QString, QString> row;
        const QString plain = "%1: not a trace in a supported format. See format.md in the manual.";
        const QString packed =
            "%1: its compressed content is not a trace in a supported format. See format.md in the manual.";
        row("text", "text", plain);
        row("packed text", "text.gz", packed);
        row("packed nothing", "empty.gz", "%1: empty, gzip compressed no data. Compress the trace again.");
        row("other tables", "bookmarks.db", plain);
        row("report of many ranks", "fleet.sqlite",
            "%1 is not a trace but a report of many ranks: \"lanescope view\" shows it, and any "
            "program for SQLite reads its tables.");
        row("session of the Visual Profiler", "session.nvvp",
            "%1 is a session of NVIDIA's Visual Profiler, which has settings and no data: open the "
            ".nvprof file next to it, or the one that was imported into it.");
        row("log of an early nvprof", "log.nvvp",
            "%1 is a log of nvprof from before CUDA 7: only the Visual Profiler of that time reads "
            "it; export the profile from there, or record again.");
        row("snapshot of memory", "memory.pickle",
            "%1 is a snapshot of PyTorch's memory, which holds no times on GPUs: make a page of it "
            "with \"python -m torch.cuda._memory_viz trace_plot\".");
        row("flight recorder", "flight.pkl.gz",
            "%1 is a dump of PyTorch's flight recorder, which holds no times on GPUs: analyze the "
            "dumps of all ranks with \"torchfrtrace\".");
        row("packed by xz", "run.sqlite.xz", "%1 is packed by xz: unpack it with \"xz -dk\" and open the result.");
        row("archive in gzip", "runs.tar.gz",
            "%1 is an archive of tar: unpack it with \"tar -xf\" and open the trace in it.");
        row("pickle", "any.pickle",
            "%1 is a Python pickle, which could run any code when read: write a trace in the "
            "program instead, for example with export_chrome_trace of torch.profiler.");
    }
    void unknownFileIsRefusedInOneSentence() {
        const auto [name, sentence] = test::row<QString, QString>();
        const fs::path path = folder_ / name.toStdString().c_str();
        if (name.endsWith(".gz")) compress(folder_ / path.stem().c_str(), path);
        const Result<TracePtr> trace = loadTrace(path);
        QVERIFY(!trace);
        QCOMPARE(QString::fromStdString(trace.error().sentence), sentence.arg(path.c_str()));
    }

    void nvprofProfileIsNotReadAsExport() {
        QCOMPARE(test::orFail(loadTrace(folder_ / "old.nvprof"))->producer, std::string("nvprof"));
    }

    /// Uses a simulated nsys.
    void nsightReportIsExportedByNsys() {
        const fs::path report = folder_ / "run.nsys-rep", other = folder_ / "run.sqlite", cache = folder_ / "cache";
        const auto exportCount = [&] {
            std::error_code ignored;
            return std::distance(fs::directory_iterator(cache / "lanescope" / "exports", ignored),
                                 fs::directory_iterator());
        };
        // A newer file of the usual name is no export of this report.
        fs::copy_file(folder_ / "nsight.sqlite", other);
        const std::string recording = contentOf(other);
        const QByteArray path = qgetenv("PATH"), userCache = qgetenv("XDG_CACHE_HOME");
        qputenv("XDG_CACHE_HOME", cache.c_str());
        const auto withExporter = [&](const std::string& script) {
            fs::create_directories(folder_ / "bin");
            put(folder_ / "bin" / "nsys", "#!/bin/sh\n" + script);
            fs::permissions(folder_ / "bin" / "nsys", fs::perms::owner_all);
            qputenv("PATH", QByteArray((folder_ / "bin").c_str()) + ":/usr/bin:/bin");
        };
        const auto restore = qScopeGuard([&] {
            qputenv("PATH", path);
            userCache.isNull() ? qunsetenv("XDG_CACHE_HOME") : qputenv("XDG_CACHE_HOME", userCache);
            fs::remove(other);
        });
        qputenv("PATH", (folder_ / "nowhere").c_str());
        const Result<TracePtr> without = loadTrace(report);
        QVERIFY(!without);
        QCOMPARE(without.error().sentence,
                 fmt::format("{0}: a report of Nsight Systems, which only nsys can read, and nsys is not in "
                             "PATH. Run \"nsys export --type sqlite -o {0}.sqlite {0}\" on a machine with nsys, "
                             "then open {0}.sqlite.",
                             report.string()));
        withExporter("exit 3\n");
        QVERIFY(!loadTrace(report));
        QCOMPARE(exportCount(), 0);
        withExporter("sleep 60\n");
        QElapsedTimer waited;
        waited.start();
        const Result<TracePtr> cancelled = loadTrace(report, [](double, std::string_view) { return false; });
        QVERIFY(!cancelled && waited.elapsed() < 30'000);
        // nsys runs once for each state of the report.
        withExporter("test \"$1 $2 $3 $4\" = 'export --type sqlite --output' || exit 1\ncp " +
                     (folder_ / "nsight.sqlite").string() + " \"$5\"\n");
        const TracePtr trace = test::orFail(loadTrace(report));
        QCOMPARE(exportCount(), 1);
        for (const fs::path& each :
             {cache / "lanescope" / "exports", fs::directory_iterator(cache / "lanescope" / "exports")->path()})
            QVERIFY((fs::status(each).permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
                    fs::perms::none);
        withExporter("exit 3\n");
        QVERIFY(loadTrace(report));
        put(report, std::string(5001, '\x17'));
        QVERIFY(!loadTrace(report));
        QVERIFY(contentOf(other) == recording);
    }

    void callsOfOtherLibrariesAreRanges() {
        const fs::path path = folder_ / "mpi.sqlite";
        makeDatabase(path,
                     "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                     "INSERT INTO StringIds VALUES (1, 'MPI_Send'), (2, 'MPI_Allreduce'), (3, 'mine');"
                     "CREATE TABLE NVTX_EVENTS (start INTEGER, \"end\" INTEGER, eventType INTEGER,"
                     " globalTid INTEGER, textId INTEGER);"
                     "INSERT INTO NVTX_EVENTS VALUES (1, 90, 59, 281474976710663, 3);"
                     "CREATE TABLE MPI_P2P_EVENTS (start INTEGER, \"end\" INTEGER, globalTid INTEGER,"
                     " textId INTEGER, size INTEGER);"
                     "INSERT INTO MPI_P2P_EVENTS VALUES (10, 20, 281474976710663, 1, 64);"
                     "CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER, \"end\" INTEGER,"
                     " globalTid INTEGER, textId INTEGER);"
                     "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (30, 40, 281474976710663, 2);"
                     "CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER);"
                     "INSERT INTO MPI_RANKS VALUES (281474976710663, 5)");
        const TracePtr opened = test::orFail(loadTrace(path));
        const Trace& trace = *opened;
        QCOMPARE(test::listed(trace.nvtx.size(), trace.nameOf(EventRef(EventKind::Nvtx, 0))), "3 | mine");
        QCOMPARE(trace.strings.at(trace.nvtx.domain[0]), std::string_view());
        QCOMPARE(trace.nameOf(EventRef(EventKind::Nvtx, 2)), std::string("MPI_Allreduce"));
        QCOMPARE(trace.strings.at(trace.nvtx.domain[2]), std::string_view("MPI"));
        QCOMPARE(trace.processes[0].rank, std::optional<int>(5));
    }

    void compressedStreamReadsTheSame() {
        const fs::path plain = folder_ / "stream";
        std::string content;
        for (int i = 0; i < 200'000; ++i) content += std::to_string(i);
        put(plain, content);
        compress(plain, folder_ / "stream.gz");
        for (const char* name : {"stream", "stream.gz"}) {
            const LoadProgress progress;
            TraceSource source = test::orFail(TraceSource::open(folder_ / name, progress));
            QCOMPARE(source.start(), std::string_view(content).substr(0, 4096));
            std::string read;
            std::vector<char> part(1);
            for (;;) {
                const size_t count = test::orFail(source.read(part));
                read.append(part.data(), count);
                if (count < part.size()) break;
                part.resize(std::min<size_t>(part.size() * 3, 100'000));
            }
            QVERIFY(read == content);
            QCOMPARE(source.fractionRead(), 1.0);
        }
    }

    void helpAndDialogsListReadableFormats() {
        QCOMPARE(readableFormats(),
                 "A Lanescope trace, an SQLite export of Nsight Systems, a profile of nvprof, a JSON trace, such as "
                 "torch.profiler writes, a rocpd profile of AMD's ROCm, an RPD profile of AMD's ROCm, a profile of "
                 "ROCm's rocprof or of hipprof, an XPlane profile of JAX or TensorFlow, a Perfetto trace, a log of "
                 "NCCL Inspector, or a report of Nsight Systems");
        const QStringList patterns = QString::fromStdString(formatPatterns()).split(' ');
        QVERIFY(patterns.contains("*.sqlite") && patterns.contains("*.sqlite.gz"));
        QVERIFY(patterns.contains("*.nvprof") && patterns.contains("*.json.gz"));
        QVERIFY(patterns.contains("*.xplane.pb.gz") && patterns.contains("*.pftrace"));
        QVERIFY(patterns.contains("*.nsys-rep") && !patterns.contains("*.pickle"));
        QCOMPARE(patterns.size(), QSet<QString>(patterns.begin(), patterns.end()).size());
    }

    void fileManagersListOpenableFormats() {
        const fs::path desktop = fs::path(LANESCOPE_SOURCE_DIR) / "resources/desktop";
        const auto allIn = [&desktop](const char* file, const char* expression) {
            const QString text = QString::fromStdString(contentOf(desktop / file));
            QStringList found;
            auto each = QRegularExpression(expression).globalMatch(text);
            while (each.hasNext()) found << each.next().captured(1);
            return found;
        };
        const QStringList types = allIn("lanescope-mime.xml", "<mime-type type=\"([^\"]+)\"");
        const QStringList globs = allIn("lanescope-mime.xml", "<glob pattern=\"\\*([^\"]+)\"");
        const QStringList opened = allIn("lanescope.desktop", "MimeType=(.*)").value(0).split(';', Qt::SkipEmptyParts);
        QCOMPARE(allIn("lanescope.metainfo.xml", "<mediatype>([^<]+)<"), opened);
        for (const QString& type : types) QVERIFY2(opened.contains(type), qPrintable(type));
        // The MIME type of the system, which the viewer opens, too.
        const QStringList sqlite{".sqlite", ".sqlite3", ".db"};
        QVERIFY(opened.contains("application/vnd.sqlite3"));
        for (const QString& pattern : QString::fromStdString(formatPatterns()).split(' ')) {
            const QString ending = pattern.mid(1);
            const bool isKnown =
                std::any_of(globs.begin(), globs.end(), [&](const QString& glob) { return glob.endsWith(ending); });
            QVERIFY2(isKnown || sqlite.contains(ending), qPrintable(pattern));
        }
    }

    void samplesContainNoFolderOfTheRecordingMachine_data() { eachSample(); }
    void samplesContainNoFolderOfTheRecordingMachine() {
        QFETCH(QString, path);
        std::string bytes = unpacked(path);
        // A folder of this repository, named in the commands.
        const std::string workloads = "tests/workloads/";
        for (size_t at = bytes.find(workloads); at != std::string::npos; at = bytes.find(workloads))
            bytes.erase(at, workloads.size());
        QVERIFY(bytes.starts_with("SQLite format 3"));
        for (const char* place : {"/home/", "/root/", "/work", "/tmp/", "/opt/", "/mnt/", "/data/", "/srv/", "/Users/",
                                  "/scratch/", "workingDirectory"}) {
            const size_t at = bytes.find(place);
            QVERIFY2(at == std::string::npos, at == std::string::npos ? "" : bytes.substr(at, 80).c_str());
        }
    }

    void samplesMatchTheirChecksums_data() { eachSample(); }
    void samplesMatchTheirChecksums() {
        QFETCH(QString, path);
        const std::string bytes = unpacked(path);
        const PageSeal seal = readSeal(bytes.size(), [&bytes](std::span<std::byte> to, uint64_t at) {
            if (at > bytes.size() || to.size() > bytes.size() - at) return false;
            std::memcpy(to.data(), bytes.data() + at, to.size());
            return true;
        });
        QVERIFY(seal.state == SealState::Whole);
        const auto all = std::as_bytes(std::span(bytes));
        const size_t pages = seal.checksums.size();
        QVERIFY(pages > 1000);
        for (size_t page = 0; page < pages; ++page)
            QVERIFY(seal.isAsSealed(page, all.subspan(page * seal.pageBytes, seal.pageBytes)));
    }
};

LANESCOPE_TEST(tst_TraceFormats, NoApplication)
#include "tst_TraceFormats.moc"
