// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "model/events/listEvents.h"
#include "model/export/traceFile.h"
#include "model/format/OutputFile.h"
#include "model/format/Subprocess.h"
#include "model/importers/TraceFormat.h"
#include "model/index/MappedFile.h"
#include "model/index/openTrace.h"
#include "model/notes/NotesFile.h"
#include "model/system/system.h"
#include "model/trace/kinds/Graph.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/FullDisk.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/torchTrace.h"
#include "tests/support/traceDump.h"

using namespace lanescope;
using namespace lanescope::torchTrace;

namespace fs = std::filesystem;

namespace {

/// Returns the bytes in memory of the area of this process around an address, from /proc; -1 without such an area. The
/// kernel joins neighbouring anonymous areas.
int64_t residentBytes(const void* mapping) {
    std::ifstream maps("/proc/self/smaps");
    std::string line;
    bool isIts = false;
    while (std::getline(maps, line)) {
        const size_t dash = line.find('-');
        if (dash != std::string::npos && line.find(':') > line.find(' '))
            isIts = std::stoull(line.substr(0, dash), nullptr, 16) <= reinterpret_cast<uintptr_t>(mapping) &&
                    std::stoull(line.substr(dash + 1), nullptr, 16) > reinterpret_cast<uintptr_t>(mapping);
        else if (isIts && line.starts_with("Rss:"))
            return std::stoll(line.substr(4)) * 1024;
    }
    return -1;
}

mode_t modeOf(const std::filesystem::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

std::ptrdiff_t entriesIn(const std::filesystem::path& folder) {
    return std::distance(std::filesystem::directory_iterator(folder), {});
}

OpenOptions always() {
    OpenOptions options;
    options.minBytes = 0;
    return options;
}

bool isOpen(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

std::array<UniqueFd, 2> openPipe() {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) qFatal("no pipe");
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

class tst_Files : public QObject {
    Q_OBJECT

    std::unique_ptr<TemporaryFolder> folder_;
    std::filesystem::path path_, index_;

    TemporaryFolder sharedFolder_;

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((*folder_ / "cache").string()));
        path_ = *folder_ / "trace.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3, .layers = 6, .ncclPlugin = true}), path_).has_value());
        index_ = indexPaths(path_).front();
    }

    void fileAppearsOnlyOnCommit() {
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "file";
        put(path, "before");
        AtomicFile file = test::orFail(AtomicFile::create(path));
        file.write("head");
        file.write(std::string(3'000'000, 'x'));
        file.writeAtStart(std::as_bytes(std::span("HEAD", 4)));
        file.write("tail");
        QCOMPARE(test::listed(file.offset(), contentOf(path)), "3000008 | before");
        QVERIFY(file.commit().has_value());
        QVERIFY(contentOf(path) == "HEAD" + std::string(3'000'000, 'x') + "tail");
        QCOMPARE(entriesIn(folder.path()), std::ptrdiff_t{1});
    }

    void uncommittedFileLeavesNothing() {
        const TemporaryFolder folder;
        {
            AtomicFile file = test::orFail(AtomicFile::create(folder / "file"));
            file.write(std::string(3'000'000, 'x'));
        }
        QCOMPARE(entriesIn(folder.path()), std::ptrdiff_t{0});
    }

    void fileIsPrivateByDefault() {
        const TemporaryFolder folder;
        const mode_t mask = ::umask(022);
        QVERIFY(writeAtomically(folder / "mine", "x").has_value());
        QVERIFY(writeAtomically(folder / "usual", "x", AtomicFile::defaultMode).has_value());
        ::umask(mask);
        QCOMPARE(modeOf(folder / "mine"), mode_t{0600});
        QCOMPARE(modeOf(folder / "usual"), mode_t{0644});
        put(folder / "source", "x");
        std::filesystem::permissions(folder / "source", std::filesystem::perms(0640));
        AtomicFile file = test::orFail(AtomicFile::create(folder / "like"));
        file.copyPermissionsOf(folder / "source");
        QVERIFY(file.commit().has_value());
        QCOMPARE(modeOf(folder / "like"), mode_t{0640});
    }

    void replacementKeepsPermissions() {
        const TemporaryFolder folder;
        const auto replace = [&](const char* name) {
            Result<AtomicFile> file = AtomicFile::create(folder / name);
            if (!file) return false;
            file->copyTargetPermissions();
            file->write("new");
            return file->commit().has_value();
        };
        put(folder / "shared", "x");
        std::filesystem::permissions(folder / "shared", std::filesystem::perms(0644));
        put(folder / "mine", "x");
        std::filesystem::permissions(folder / "mine", std::filesystem::perms(0600));
        std::filesystem::create_symlink(folder / "shared", folder / "link");
        for (const char* name : {"shared", "mine", "link", "none"}) QVERIFY(replace(name));
        QCOMPARE(modeOf(folder / "shared"), mode_t{0644});
        QCOMPARE(modeOf(folder / "mine"), mode_t{0600});
        QCOMPARE(modeOf(folder / "link"), mode_t{0600});
        QCOMPARE(modeOf(folder / "none"), mode_t{0600});
        QCOMPARE(contentOf(folder / "shared"), std::string("new"));
    }

    void symlinkIsNotFollowed() {
        const TemporaryFolder folder;
        put(folder / "others", "theirs");
        std::filesystem::create_symlink(folder / "others", folder / "file");
        QVERIFY(writeAtomically(folder / "file", "mine").has_value());
        QCOMPARE(test::listed(contentOf(folder / "others"), contentOf(folder / "file")), "theirs | mine");
        QVERIFY(!std::filesystem::is_symlink(folder / "file"));
    }

    void foldersAreRemovedWithoutFollowingLinks() {
        const TemporaryFolder folder;
        for (const char* name : {"run", "other"}) {
            fs::create_directory(folder / name);
            put(folder / name / "train.log", "text");
        }
        fs::create_directory_symlink(folder / "other", folder / "link");
        const Folder opened = test::orFail(Folder::open(folder.path()));
        for (const char* name : {"run", "link"}) QCOMPARE(opened.removeAll(name), 0);
        QVERIFY(!opened.contains("run") && !opened.contains("link") && fs::exists(folder / "other/train.log"));

        fs::path place;
        {
            const ScratchFolder scratch = test::orFail(ScratchFolder::create(folder.path()));
            place = scratch.path();
            put(place / "file", "text");
            QCOMPARE(modeOf(place), mode_t{0700});
        }
        QVERIFY(!fs::exists(place));
    }

    void fullDiskIsAnErrorAndKeepsTheOldFile() {
        const TemporaryFolder folder;
        put(folder / "file", "before");
        Result<void> done;
        {
            const FullDisk full(65'536);
            done = writeAtomically(folder / "file", std::string(3'000'000, 'x'));
        }
        QVERIFY(!done && done.error().sentence.starts_with("Cannot write "));
        QVERIFY(done.error().sentence.ends_with("."));
        QVERIFY(!QByteArray(done.error().sentence.c_str()).contains("Success"));
        QCOMPARE(contentOf(folder / "file"), std::string("before"));
        QCOMPARE(entriesIn(folder.path()), std::ptrdiff_t{1});
    }

    void unwritableFolderIsReported() {
        const TemporaryFolder folder;
        QVERIFY(!AtomicFile::create(folder / "missing" / "file"));
        std::filesystem::create_directory(folder / "taken");
        QVERIFY(!AtomicFile::create(folder / "taken"));
        // A folder created in the meantime.
        AtomicFile file = test::orFail(AtomicFile::create(folder / "late"));
        file.write("x");
        std::filesystem::create_directories(folder / "late" / "more");
        QVERIFY(!file.commit());
    }

    void publishReplacesAnotherFileOnlyOnRequest() {
        const TemporaryFolder folder;
        put(folder / "made", "new");
        put(folder / "file", "old");
        const Result<void> kept = publishFile(folder / "made", folder / "file", IfExists::Fail);
        QVERIFY(!kept);
        QVERIFY(QByteArray(kept.error().sentence.c_str()).contains("another program created the file in the meantime"));
        QCOMPARE(test::listed(contentOf(folder / "file"), contentOf(folder / "made")), "old | new");
        QVERIFY(publishFile(folder / "made", folder / "file", IfExists::Replace).has_value());
        QCOMPARE(contentOf(folder / "file"), std::string("new"));
        QCOMPARE(entriesIn(folder.path()), std::ptrdiff_t{1});
        QVERIFY(!publishFile(folder / "made", folder / "file", IfExists::Replace));
    }

    void fullDiskKeepsOldNotes() {
        const TemporaryFolder folder;
        put(folder / "run.sqlite", "x");
        const NotesFile file = NotesFile::forTrace(folder / "run.sqlite", folder / "user");
        Notes notes;
        notes.marks.push_back(newMark({1, 2}));
        notes.marks[0].text = "first";
        const FoundNotes first = test::orFail(file.store({}, notes));
        Notes more = first.notes;
        more.marks.push_back(newMark({3, 4}));
        more.marks[1].text = std::string(1'000'000, 'x');
        {
            const FullDisk full(65'536);
            QVERIFY(!file.store(first.notes, more));
        }
        QVERIFY(test::orFail(file.read()).notes == first.notes);
    }

    void fullDiskKeepsOldEventList() {
        const TemporaryFolder folder;
        put(folder / "events.csv", "before");
        const TracePtr trace = simulatedTraining({.steps = 12});
        EventRequest request;
        request.range = trace->range;
        {
            const FullDisk full(1024);
            const auto rows = saveEventsAsCsv(*trace, request, folder / "events.csv");
            QVERIFY(!rows);
            QVERIFY(QByteArray(rows.error().sentence.c_str()).startsWith("Cannot write "));
        }
        QCOMPARE(contentOf(folder / "events.csv"), std::string("before"));
        QVERIFY(saveEventsAsCsv(*trace, request, folder / "events.csv").value_or(0) > 0);
        QVERIFY(contentOf(folder / "events.csv").size() > 1024);
        QCOMPARE(entriesIn(folder.path()), std::ptrdiff_t{1});
    }

    void copyOutlivesItsFile() {
        QVERIFY(ensureIndex(path_).has_value());
        const std::string whole = contentOf(index_);
        const auto copy = test::orFail(MappedFile::open(index_, MappedFile::Access::Copied));
        std::filesystem::resize_file(index_, 0);
        QCOMPARE(copy.bytes().size(), whole.size());
        QVERIFY(std::memcmp(copy.bytes().data(), whole.data(), whole.size()) == 0);
    }

    void unloadedMappedFileIsReadAgain() {
        QVERIFY(ensureIndex(path_).has_value());
        const std::string whole = contentOf(index_);
        for (const auto access : {MappedFile::Access::Mapped, MappedFile::Access::Copied}) {
            const auto file = test::orFail(MappedFile::open(index_, access));
            QVERIFY(std::memcmp(file.bytes().data(), whole.data(), whole.size()) == 0);
            QVERIFY(residentBytes(file.bytes().data()) > 0);
            file.unload();
            if (access == MappedFile::Access::Mapped) QCOMPARE(residentBytes(file.bytes().data()), 0);
            QVERIFY(std::memcmp(file.bytes().data(), whole.data(), whole.size()) == 0);
        }
    }

    void mappedFileOutlivesItsName() {
        QVERIFY(ensureIndex(path_).has_value());
        const std::string whole = contentOf(index_);
        const auto file = test::orFail(MappedFile::open(index_, MappedFile::Access::Mapped));
        std::filesystem::remove(index_);
        QVERIFY(ensureIndex(path_).has_value());
        QVERIFY(std::memcmp(file.bytes().data(), whole.data(), whole.size()) == 0);
    }

    void mappedFileMayBeTruncatedDuringReading() {
        QVERIFY(ensureIndex(path_).has_value());
        const std::string whole = contentOf(index_);
        QVERIFY(whole.size() > 3 * 4096);
        const auto file = test::orFail(MappedFile::open(index_, MappedFile::Access::Mapped));
        std::atomic<uint32_t> losses{0};
        file.countLossesInto(losses);
        std::filesystem::resize_file(index_, 4096);
        QVERIFY(std::memcmp(file.bytes().data(), whole.data(), 4096) == 0);
        QCOMPARE(losses.load(), 0u);
        for (size_t at = 4096; at < whole.size(); ++at) QVERIFY(file.bytes()[at] == std::byte{0});
        QCOMPARE(losses.load(), 1u);
    }

    void indexMayBeTruncatedDuringUse_data() {
        QTest::addColumn<double>("share");
        for (const double share : {0.0, 0.01, 0.3, 0.7}) QTest::addRow("%g of it left", share) << share;
    }
    void indexMayBeTruncatedDuringUse() {
        QFETCH(double, share);
        QVERIFY(ensureIndex(path_).has_value());
        const auto open = openTrace(path_, always());
        QVERIFY(open.has_value() && !(*open)->isCorrupt());
        const auto bytes = static_cast<double>(std::filesystem::file_size(index_));
        std::filesystem::resize_file(index_, static_cast<uintmax_t>(bytes * share));
        QVERIFY(!dumpOf(**open).empty());
        QVERIFY((*open)->isCorrupt());
        const Result<void> checked = checkIndex(**open);
        QVERIFY(!checked.has_value());
        QVERIFY2(checked.error().sentence.ends_with("."), checked.error().sentence.c_str());
        // The next index is rebuilt.
        const auto again = openTrace(path_, always());
        QVERIFY(again.has_value() && checkIndex(**again).has_value());
    }

    /// Faults outside of mapped files end the process as usual.
    void otherBusErrorsEndTheProcess() {
        if (test::hasAddressSanitizer || test::hasThreadSanitizer) QSKIP("The sanitizer has its own way to end.");
        QVERIFY(ensureIndex(path_).has_value());
        const auto file = test::orFail(MappedFile::open(index_, MappedFile::Access::Mapped));
        const pid_t child = ::fork();
        if (child == 0) {
            // Qt Test's handler comes next and must not dump a stack.
            qputenv("QTEST_DISABLE_STACK_DUMP", "1");
            const int other = ::open((*folder_ / "other").c_str(), O_RDWR | O_CREAT, 0600);
            (void)!::ftruncate(other, 8192);
            const auto* mapped =
                static_cast<const volatile char*>(::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, other, 0));
            (void)!::ftruncate(other, 0);
            ::_exit(mapped[5000]);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFSIGNALED(status));
        QCOMPARE(WTERMSIG(status), SIGBUS);
    }

    void filesAreMappedOnlyOnSafeFileSystems() {
        // Magic numbers of file systems in the kernel, some of them negative in 32 bits.
        for (const int64_t local : {0xEF53, 0x58465342, 0x01021994}) QVERIFY(system::isLocalType(local));
        QVERIFY(system::isLocalType(0x9123683E) && system::isLocalType(static_cast<int32_t>(0x9123683E)));
        for (const int64_t remote : {0x6969, 0x517B, 0x65735546, 0x0BD00BD0, 0x47504653, 0x01021997, 0})
            QVERIFY(!system::isLocalType(remote));
        QVERIFY(!system::isLocalType(static_cast<int32_t>(0xFF534D42)));
    }

    void importedTraceEqualsItsLanescopeCopy() {
        std::vector<std::string> events = smallRun();
        events.push_back(slice("cpu_op", "record_param_comms", "4000", "4001", "1070.000", "9.000",
                               R"("Collective name": "allreduce", "In msg nelems": 10, "Seq": 3,
                              "Group size": 2, "dtype": "Float", "Process Group Name": "0",
                              "Process Group Ranks": "[0, 1]", "Out msg nelems": 10)"));
        events.push_back(R"({"ph": "C", "name": "queue", "pid": 4000, "ts": 1000, "args": {"n": 2.5}})");
        events.push_back(R"({"ph": "B", "name": "open", "cat": "mine", "pid": 4000, "tid": 4001, "ts": 1001})");
        events.push_back(R"({"ph": "s", "id": 1, "ts": 1.5, "cat": "fwdbwd"})");
        events.push_back(R"({"ph": "f", "id": 1, "ts": 2.5, "cat": "fwdbwd"})");
        const TracePtr imported =
            loaded(traceOf(events, "",
                           ",\n \"distributedInfo\": {\"rank\": 1, \"world_size\": 2},\n"
                           "\"host_name\": \"box\", \"baseTimeNanoseconds\": 1700000000000000000"));
        const fs::path path = sharedFolder_ / "native.sqlite";
        QVERIFY(writeTraceFile(*imported, path));
        const TracePtr opened = test::orFail(loadTrace(path));
        const Trace& native = *opened;
        QCOMPARE(native.producer, imported->producer);
        QCOMPARE(test::listed(native.startUtcNs, native.facts.host), test::listed(imported->startUtcNs, "box"));
        QCOMPARE(native.processes[0].rank, std::optional<int>(1));
        QCOMPARE(eventsIn(native), eventsIn(*imported));
        QCOMPARE(native.kernels.startNs[0], imported->kernels.startNs[0]);
        QCOMPARE(native.launchConfigs[native.kernels.config[0]].grid,
                 imported->launchConfigs[imported->kernels.config[0]].grid);
        QVERIFY(native.launchingCall(EventRef(EventKind::Kernel, 0)).isValid());
        const uint32_t op = rangeCalled(native, "aten::mm");
        QCOMPARE(native.strings.at(native.nvtx.domain[op]), operatorDomain);
        QCOMPARE(native.strings.at(native.nvtx.payload[op]), std::string_view("[[8, 16], [16, 4]]"));
        QVERIFY(native.nvtx.isOpen[rangeCalled(native, "open")] != 0);
        QCOMPARE(native.projections.size(), imported->projections.size());
        QCOMPARE(test::listed(native.nccl.bytes), "40");
        QCOMPARE(native.nccl.communicator[0], imported->nccl.communicator[0]);
        QCOMPARE(test::listed(native.nccl.facts[0].sequence, native.nccl.facts[0].rank), "3 | 1");
        QCOMPARE(native.counters.size(), imported->counters.size());
        QCOMPARE(native.counters.back().value(0), imported->counters.back().value(0));
        QCOMPARE(sentenceOf(native, HealthCode::NotShown), sentenceOf(*imported, HealthCode::NotShown));
        QCOMPARE(native.health.size(), imported->health.size());
        QCOMPARE(native.tracks.size(), imported->tracks.size());
        Database database = test::orFail(Database::openReadOnly(path));
        auto devices = database.prepare("SELECT gpuId, cudaId, pid FROM TARGET_INFO_CUDA_DEVICE");
        QVERIFY(devices && *devices->step());
        QCOMPARE(devices->integer(0), native.gpus[0].id);
        QCOMPARE(test::listed(devices->integer(1), devices->integer(2)), test::listed(native.gpus[0].id, 4000));
        // A join of threads with their names finds each; a thread without a name stays without.
        auto names = database.prepare("SELECT count(DISTINCT globalTid) FROM ThreadNames");
        QVERIFY(names && *names->step());
        QCOMPARE(names->integer(0), static_cast<int64_t>(imported->threads.size()));
        for (size_t thread = 0; thread < imported->threads.size(); ++thread)
            QCOMPARE(native.threads[thread].name, imported->threads[thread].name);
    }

    /// Sums use these values, for example the bytes over NVLink.
    void countersStayAsShown() {
        TracePtr before;
        QVERIFY(before = *loadTrace(fs::path(LANESCOPE_SAMPLES) / "resnet152-nvlink.sqlite.gz"));
        for (const char* name : {"once.sqlite", "twice.sqlite"}) {
            const fs::path path = sharedFolder_ / name;
            QVERIFY(writeTraceFile(*before, path));
            const Result<TracePtr> after = loadTrace(path);
            QVERIFY(after && (*after)->counters.size() == before->counters.size());
            for (size_t at = 0; at < before->counters.size(); ++at) {
                const CounterSeries &was = before->counters[at], &is = (*after)->counters[at];
                QCOMPARE(test::listed(is.name, is.unit), test::listed(was.name, was.unit));
                QCOMPARE(is.isMeanOfInterval, was.isMeanOfInterval);
                QCOMPARE(test::listed(is.intervalNs, is.size()), test::listed(was.intervalNs, was.size()));
                QCOMPARE(is.endNs(), was.endNs());
                for (uint32_t sample = 0; sample < was.size(); ++sample) {
                    QCOMPARE(is.timeNs(sample), was.timeNs(sample));
                    QCOMPARE(is.value(sample), was.value(sample));
                }
            }
            before = *after;
        }
    }

    void existingFileIsNeverOverwritten() {
        const fs::path path = sharedFolder_ / "there.sqlite";
        std::ofstream(path) << "mine";
        QVERIFY(!writeTraceFile(*loaded(traceOf(smallRun())), path));
        QCOMPARE(fs::file_size(path), uintmax_t{4});
        QVERIFY(!fs::exists(sharedFolder_ / "there.sqlite.partial"));
        // The recording there belongs to another process.
        const fs::path other = sharedFolder_ / "other.sqlite";
        std::ofstream(sharedFolder_ / "other.sqlite.partial") << "recording";
        QVERIFY(!writeTraceFile(*loaded(traceOf(smallRun())), other));
        QVERIFY(fs::exists(sharedFolder_ / "other.sqlite.partial"));
    }

    void fileCreatedMeanwhileIsKept() {
        const fs::path path = sharedFolder_ / "late.sqlite", partial = sharedFolder_ / "late.sqlite.partial";
        const TracePtr trace = simulatedTraining({.steps = 100});
        Result<void> written;
        // The observer may be too late.
        for (int attempt = 0; attempt < 20 && written; ++attempt) {
            fs::remove(path);
            std::atomic<bool> isOver = false;
            std::thread other([&] {
                while (!isOver && !fs::exists(partial)) std::this_thread::yield();
                const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
                if (file < 0) return;
                if (::write(file, "theirs", 6) != 6) qFatal("nothing is written");
                ::close(file);
            });
            written = writeSealedTraceFile(*trace, path);
            isOver = true;
            other.join();
        }
        QVERIFY(!written);
        const std::string said = written.error().sentence;
        QVERIFY2(said.find("another program created the file in the meantime. The trace is in " + partial.string()) !=
                     std::string::npos,
                 said.c_str());
        QCOMPARE(fs::file_size(path), uintmax_t{6});
        QCOMPARE(test::orFail(loadTrace(partial))->kernels.size(), trace->kernels.size());
    }

    void sqliteInputIsRecognized() {
        TraceBuilder builder;
        builder.setPath("run.sqlite");
        const uint32_t process = builder.process(int64_t{1} << 48);
        builder.add<kinds::Graph>(
            {.startNs = 1, .endNs = 2, .graph = 5, .stream = builder.stream(process, builder.gpu(0), 1, 7)});
        QVERIFY(builder.finish());
        const TracePtr trace = builder.take();
        QVERIFY(isOfSqlite(*trace) && !isOfSqlite(*loaded(traceOf(smallRun()))));
        // An explicit request, as by `merge`, writes everything.
        QVERIFY(writeTraceFile(*trace, sharedFolder_ / "copy.sqlite"));
        const TracePtr copy = test::orFail(loadTrace(sharedFolder_ / "copy.sqlite"));
        QCOMPARE(test::listed(copy->graphs.graph), "5");
    }

    void aDescriptorIsClosedOnceByItsLastOwner() {
        UniqueFd first(::open("/dev/null", O_RDONLY));
        const int number = first;
        UniqueFd second = std::move(first);
        QVERIFY(first < 0 && second == number && isOpen(number));
        second = UniqueFd(::open("/dev/null", O_RDONLY));
        QVERIFY(!isOpen(number) || second == number);
        const int released = second.release();
        QVERIFY(second < 0 && isOpen(released));
        errno = ENOENT;
        second.reset(released);
        second.reset();
        QCOMPARE(errno, ENOENT);
        QVERIFY(!isOpen(released));
    }

    void transfersAreWholeOrReportTheError() {
        const TemporaryFolder folder;
        const std::string text(100'000, 'x');
        {
            const UniqueFd file(::open((folder / "file").c_str(), O_CREAT | O_RDWR, 0600));
            QVERIFY(writeAll(file, text.data(), text.size()));
            QVERIFY(writeAllAt(file, "ab", 2, 1));
            QVERIFY(writeAll(file, nullptr, 0));
        }
        QCOMPARE(contentOf(folder / "file"), "xab" + text.substr(3));
        const UniqueFd file(::open((folder / "file").c_str(), O_RDONLY));
        std::string part(10, ' ');
        QCOMPARE(readAllAt(file, part.data(), 3, 0), size_t{3});
        QCOMPARE(part.substr(0, 3), std::string("xab"));
        QCOMPARE(readAllAt(file, part.data(), 10, text.size() - 4), size_t{4});
        QCOMPARE(errno, 0);
        std::string whole = "before ";
        QVERIFY(readToEnd(file, whole));
        QCOMPARE(whole.size(), text.size() + 7);
        QVERIFY(!writeAll(file, "a", 1));
        QCOMPARE(errno, EBADF);
        QVERIFY(!readToEnd(-1, whole));
        QCOMPARE(errno, EBADF);
    }

    void readingEndsSoonAfterTheLimit() {
        const UniqueFd zeros(::open("/dev/zero", O_RDONLY));
        std::string text;
        QVERIFY(readToEnd(zeros, text, 100'000));
        QVERIFY(text.size() > 100'000 && text.size() < 200'000);
    }

    void aForkedChildReturnsItsOutputAndStatus() {
        Subprocess child = Subprocess::fork([](int output) {
            const std::string text(300'000, 'y');
            if (!writeAll(output, text.data(), text.size())) ::_exit(2);
        });
        QVERIFY(child.pid() > 0);
        QCOMPARE(child.output().size(), size_t{300'000});
        QCOMPARE(child.wait(), 0);
        QVERIFY(child.pid() < 0);
        QCOMPARE(::waitpid(-1, nullptr, WNOHANG), -1);
    }

    void aChildThatStillRunsIsKilledAndReaped() {
        {
            const Subprocess child = Subprocess::fork([](int) {
                for (;;) ::pause();
            });
            QVERIFY(::kill(child.pid(), 0) == 0);
        }
        QCOMPARE(::waitpid(-1, nullptr, WNOHANG), -1);
    }

    void aProgramGetsItsInputEnvironmentAndGroup() {
        auto [reading, writing] = openPipe();
        const TemporaryFolder folder;
        const std::string file = folder / "out";
        std::vector<std::string> variables{"FILE=" + file};
        Subprocess shell = Subprocess::spawn("/bin/sh", {"sh", "-c", "read word; echo $word >$FILE; exit 5"},
                                             {.environment = pointersTo(variables).data(),
                                              .input = reading,
                                              .hasOwnGroup = true,
                                              .hasDefaultSignals = true});
        QVERIFY(shell.pid() > 0);
        QCOMPARE(::getpgid(shell.pid()), shell.pid());
        QVERIFY(!shell.poll());
        QVERIFY(writeAll(writing, "hello\n", 6));
        const int status = shell.wait();
        QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 5);
        QCOMPARE(contentOf(file), std::string("hello\n"));
    }

    void aMissingProgramIsAnErrno() {
        const Subprocess none = Subprocess::spawn("/no/such/program", {"program"}, {});
        QCOMPARE(errno, ENOENT);
        QVERIFY(none.pid() < 0);
    }

    void aGroupIsKilledWithItsChildren() {
        const TemporaryFolder folder;
        const std::string file = folder / "pid";
        pid_t grandchild = 0;
        {
            const Subprocess shell = Subprocess::spawn(
                "/bin/sh",
                {"sh", "-c", "sleep 100 & echo $! >" + file + ".new; mv " + file + ".new " + file + "; wait"},
                {.hasOwnGroup = true});
            QTRY_VERIFY(std::filesystem::exists(file));
            grandchild = std::stoi(contentOf(file));
            QCOMPARE(::kill(grandchild, 0), 0);
        }
        // Reaped by init, or a zombie where there is none.
        QTRY_VERIFY(::kill(grandchild, 0) != 0 ||
                    contentOf("/proc/" + std::to_string(grandchild) + "/stat").find(") Z") != std::string::npos);
    }
};

LANESCOPE_TEST(tst_Files, NoApplication)
#include "tst_Files.moc"
