// SPDX-License-Identifier: Apache-2.0
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#include "model/analysis/RunSummary.h"
#include "model/export/traceFile.h"
#include "model/index/MappedFile.h"
#include "model/index/indexedSummary.h"
#include "model/index/openTrace.h"
#include "model/lod/reduceToPixels.h"
#include "model/remote/PageTracker.h"
#include "model/remote/RemoteTrace.h"
#include "model/remote/TraceServer.h"
#include "model/remote/wire.h"
#include "model/reports/reports.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/traceDump.h"

using namespace lanescope;

namespace {

RemoteAddress addressOf(const std::filesystem::path& path) {
    return *RemoteAddress::parse("ssh://host" + path.string());
}

std::string errorOf(const Result<TracePtr>& result) { return result ? std::string() : result.error().sentence; }

/// A server on pipes within this process.
class PipedServer {
  public:
    explicit PipedServer(std::vector<std::filesystem::path> files) {
        if (::pipe(in_) != 0 || ::pipe(out_) != 0) qFatal("no pipes");
        server_ = std::thread([this, files = std::move(files)] {
            serveTraces(files, in_[0], out_[1]);
            ::close(in_[0]);
            ::close(out_[1]);
        });
        reader_ = std::thread([this] {
            char part[65536];
            for (ssize_t got = 0; (got = ::read(out_[0], part, sizeof part)) > 0;) {
                const std::lock_guard lock(mutex_);
                answers_.append(part, static_cast<size_t>(got));
            }
        });
    }
    ~PipedServer() { finish(); }

    void send(std::string_view bytes) { static_cast<void>(!::write(in_[1], bytes.data(), bytes.size())); }
    /// Ends the input and returns all answers.
    std::string finish() {
        if (server_.joinable()) {
            ::close(in_[1]);
            server_.join();
            reader_.join();
            ::close(out_[0]);
        }
        return answers_;
    }
    size_t answerBytes() {
        const std::lock_guard lock(mutex_);
        return answers_.size();
    }

  private:
    int in_[2]{}, out_[2]{};
    std::mutex mutex_;
    std::string answers_;
    std::thread server_, reader_;
};

/// Denies the calling thread, and those that it starts, to answer page faults, as many containers do.
bool denyPageFaults() {
    std::array<sock_filter, 4> rules{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog program{rules.size(), rules.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Returns how many messages a test damages: few, unless LANESCOPE_TEST_MESSAGES asks for more.
int messageCount(int few) {
    const int asked = qEnvironmentVariableIntValue("LANESCOPE_TEST_MESSAGES");
    return asked > 0 ? asked : few;
}

}  // namespace

/// Traces on other machines: messages, server and client on pipes, and `lanescope serve` with a stand-in for ssh.
class tst_Remote : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;
    std::filesystem::path path_;

    /// Makes a program that stands in for ssh; `script` runs `$3`, the command for the host.
    std::vector<std::string> standIn(const char* name, const std::string& script) const {
        const std::filesystem::path program = folder_ / name;
        std::ofstream(program) << "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nPATH=" LANESCOPE_BINARY_DIR
                                  "/bin:$PATH\n"
                               << script << "\n";
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        return {program.string()};
    }
    RemoteSource source(const char* name = "plain", const std::string& script = "exec sh -c \"$3\"") const {
        return {addressOf(path_), standIn(name, script)};
    }

  private slots:
    void initTestCase() {
        ::signal(SIGPIPE, SIG_IGN);
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((folder_ / "cache").string()));
        path_ = folder_ / "it's a run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 20, .layers = 12}), path_).has_value());
    }

    void addressesAreReadAndQuoted() {
        const auto address = RemoteAddress::parse("ssh://me@host.example:2200/data/a b'c.sqlite");
        QVERIFY(address.has_value());
        QCOMPARE(test::listed(address->user, address->host, address->path), "me | host.example | /data/a b'c.sqlite");
        QCOMPARE(address->text(), std::string("ssh://me@host.example:2200/data/a b'c.sqlite"));
        const std::vector<std::string> expected{
            "ssh",  "-T",           "-p",
            "2200", "-l",           "me",
            "--",   "host.example", "lanescope serve --stdio -- '/data/a b'\\''c.sqlite'"};
        QCOMPARE(address->words(), expected);
        QCOMPARE(RemoteAddress::parse("ssh://host/~/runs/a.sqlite")->path, std::string("runs/a.sqlite"));
        QCOMPARE(RemoteAddress::parse("ssh://[::1]:22/a")->host, std::string("::1"));
    }

    void addressesThatSshCouldMisreadAreRefused() {
        for (const char* text :
             {"ssh://-oProxyCommand=x/a", "ssh://-oProxyCommand=x@host/a", "ssh://host name/a", "ssh://ho;st/a",
              "ssh://host:12x/a", "ssh://host", "ssh://host/", "ssh:///a", "ssh://@host/a", "ssh://$(x)/a",
              "http://host/a", "ssh://host:/a", "ssh://host:123456/a", "ssh://[::1/a"})
            QVERIFY2(!RemoteAddress::parse(text), text);
    }

    void tablesArriveUnchanged() {
        ReportTable table{.name = "n", .title = "t", .columns = {{"a", Unit::Text}, {"b", Unit::Bytes}}, .rows = {}};
        table.rows = {{std::string("x"), int64_t{5}}, {Cell(), 2.5}};
        table.notes = {"note"};
        table.searches = {"one", "two"};
        WireWriter writer;
        const std::string bytes = writer.table(table).bytes();
        WireReader reader(bytes);
        const ReportTable read = reader.table();
        QVERIFY(reader.isAtEnd());
        QVERIFY(read.rows == table.rows && read.searches == table.searches);
        for (size_t size = 0; size < bytes.size(); ++size) {
            WireReader partial(std::string_view(bytes).substr(0, size));
            static_cast<void>(partial.table());
            QVERIFY(!partial.isAtEnd());
        }
    }

    void readPagesAreRecorded() {
        const MappedFile file = *MappedFile::open(path_, MappedFile::Access::Mapped);
        const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
        const auto* bytes = reinterpret_cast<const volatile char*>(file.bytes().data());
        int sum = 0;
        const auto read = [&](size_t number) { sum += bytes[number * page]; };
        QCOMPARE(pagesReadBy(file.bytes(),
                             [&] {
                                 for (const size_t each : {5, 2, 5, 3}) read(each);
                             }),
                 (std::vector<uint32_t>{2, 3, 5}));
        read(7);  // Readable again.
    }

    void remoteTraceIsTheLocalOne() {
        const auto remote = openRemoteTrace(source());
        QVERIFY2(remote.has_value(), errorOf(remote).c_str());
        const TracePtr local = *openTrace(path_, {0, true});
        QCOMPARE(test::listed((*remote)->title, dumpOf(**remote)), test::listed(local->title, dumpOf(*local)));
        const auto index = remoteOf(**remote);
        QVERIFY(index && index->problem().empty() && !index->isGrowing());
        QVERIFY(!remoteOf(*local));
        const auto report = index->report("cuda_gpu_kern_sum", std::nullopt);
        QVERIFY(report.has_value());
        QCOMPARE(report->rows, makeReport(*local, "cuda_gpu_kern_sum")->rows);
        const auto summary = index->summary({}, {});
        QVERIFY(summary.has_value() && *summary == *analysis::summarizeRun(*local));
        QVERIFY(!index->report("none", std::nullopt).has_value());
        const auto rows = index->query("SELECT 7 AS n", {}, {});
        QVERIFY(rows.has_value());
        QCOMPARE(rows->table.rows, (std::vector<std::vector<Cell>>{{int64_t{7}}}));
        const auto wrong = index->query("SELECT nothing FROM nowhere", {}, {});
        QVERIFY(!wrong.has_value() && !wrong.error().sentence.empty());
        QVERIFY(!index->tables()->empty());
    }

    void withoutPageFaultsTheWholeIndexIsFetched() {
        bool isDenied = false;
        std::optional<Result<TracePtr>> remote;
        std::thread([&] {
            isDenied = denyPageFaults();
            if (isDenied) remote = openRemoteTrace(source());
        }).join();
        if (!isDenied) QSKIP("A filter of system calls is not possible here.");
        QVERIFY2(remote->has_value(), errorOf(*remote).c_str());
        QCOMPARE(remoteOf(***remote)->traffic().waits, uint64_t{0});
        QCOMPARE(dumpOf(***remote), dumpOf(**openTrace(path_, {0, true})));
    }

    /// The pages of the first picture follow those of the opening, without a request.
    void openingSendsTheFirstPicture() {
        const auto remote = openRemoteTrace(source());
        QVERIFY2(remote.has_value(), errorOf(remote).c_str());
        const auto index = remoteOf(**remote);
        // Answered after these pages.
        QVERIFY(index->report("cuda_gpu_kern_sum", TimeRange{0, 1}).has_value());
        const uint64_t before = index->traffic().waits;
        int drawn = 0;
        for (const Track& track : (*remote)->tracks) {
            constexpr int widthPx = 1250;
            const bool isShown = track.kind == TrackKind::Gpu || track.kind == TrackKind::Stream;
            for (const Lane& lane : track.lanes)
                for (const PixelSlice& slice : reduceToPixels(lane, (*remote)->timelineRange(), isShown ? widthPx : 0))
                    drawn += slice.sliceCount > 1 || !(*remote)->strings.at(slice.name).empty();
        }
        QVERIFY(drawn > 100);
        QCOMPARE(index->traffic().waits, before);
    }

    void viewFetchesItsPagesTogether() {
        const auto remote = openRemoteTrace(source());
        QVERIFY2(remote.has_value(), errorOf(remote).c_str());
        const auto index = remoteOf(**remote);
        std::vector<std::pair<uint32_t, uint32_t>> lanes;
        for (uint32_t track = 0; track < (*remote)->tracks.size(); ++track)
            for (uint32_t lane = 0; lane < (*remote)->tracks[track].lanes.size(); ++lane)
                lanes.emplace_back(track, lane);
        const TimeRange whole = (*remote)->range;
        const TimeRange range{whole.startNs + whole.durationNs() / 2,
                              whole.startNs + whole.durationNs() / 2 + 1'000'000};
        index->expect(range, 1000, lanes, {});
        // Answered after the view.
        QVERIFY(index->report("cuda_gpu_kern_sum", TimeRange{0, 1}).has_value());
        const uint64_t before = index->traffic().waits;
        const TracePtr local = *openTrace(path_, {0, true});
        for (const auto& [track, lane] : lanes) {
            const auto drawn = reduceToPixels((*remote)->tracks[track].lanes[lane], range, 1000);
            QCOMPARE(drawn.size(), reduceToPixels(local->tracks[track].lanes[lane], range, 1000).size());
        }
        QVERIFY(index->traffic().waits - before <= 2);
    }

    void problemsOfTheOtherMachineAreSentences() {
        const auto sentence = [&](const char* name, const std::string& script) {
            return errorOf(openRemoteTrace(source(name, script)));
        };
        QVERIFY(sentence("missing", "echo sh: lanescope: not found >&2; exit 127").find("was not found there") !=
                std::string::npos);
        const std::string refused = sentence("refused", "echo 'me@host: Permission denied (publickey).' >&2; exit 255");
        HAS(refused, "ssh failed: me@host: Permission denied (publickey). Check");
        QVERIFY(sentence("old", "echo unknown command >&2; exit 2").find("too old") != std::string::npos);
        const std::string other =
            sentence("other", "printf 'hi\\n\\nLSCPWIRE\\1\\0\\0\\0\\1\\0\\0\\0\\1\\0\\0\\0\\3\\0\\0\\0'9.9; cat");
        HAS(other, "Lanescope 9.9 there");
        QVERIFY(!sentence("noise", "yes | head -c 200000").empty());
        RemoteSource none = source();
        none.address = addressOf(folder_ / "none.sqlite");
        QVERIFY(errorOf(openRemoteTrace(none)).find("none.sqlite") != std::string::npos);
        none.ssh = {"no-such-program-anywhere"};
        QVERIFY(errorOf(openRemoteTrace(none)).find("is not installed here") != std::string::npos);
    }

    /// A shell may print before the server starts.
    void greetingIsFoundInNoise() {
        const auto remote = openRemoteTrace(source("chatty", "echo Welcome; exec sh -c \"$3\""));
        QVERIFY2(remote.has_value(), errorOf(remote).c_str());
    }

    void brokenLineKeepsWhatWasFetchedAndConnectsAgain() {
        const auto remote =
            openRemoteTrace(source("dying", "echo $$ > " + (folder_ / "pid").string() + "; exec sh -c \"exec $3\""));
        QVERIFY2(remote.has_value(), errorOf(remote).c_str());
        const auto index = remoteOf(**remote);
        const size_t tracks = (*remote)->tracks.size();
        QVERIFY(::kill(std::stoi(contentOf(folder_ / "pid")), SIGKILL) == 0);
        QTRY_VERIFY(index->isBroken());
        QVERIFY(index->problem().find("the connection is broken") != std::string::npos);
        // Missing pages read as zeros, at once.
        QVERIFY(dumpOf(**remote) != dumpOf(**openTrace(path_, {0, true})));
        QVERIFY(!index->report("cuda_gpu_kern_sum", std::nullopt).has_value());
        const auto again = openRemoteTrace(source(), {}, index.get());
        QVERIFY2(again.has_value(), errorOf(again).c_str());
        QCOMPARE((*again)->tracks.size(), tracks);
        QCOMPARE(dumpOf(**again), dumpOf(**openTrace(path_, {0, true})));
    }

    void serverReadsOnlyNamedFilesAndLeavesNothing() {
        std::set<std::string> before;
        for (const auto& each : std::filesystem::directory_iterator(folder_.path()))
            before.insert(each.path().string());
        {
            PipedServer server({path_});
            server.send(frameOf(Message::Open, 1, WireWriter().number(uint32_t{1}).number(0u).bytes()));
            server.send(frameOf(Message::Open, 2, "/etc/passwd"));
            const std::string answers = server.finish();
            FrameReader frames(maxAnswerBytes);
            const size_t greeting = answers.find(wireMagic) + wireMagic.size() + sizeof wireVersions;
            WireReader rest(std::string_view(answers).substr(greeting));
            static_cast<void>(rest.text());
            frames.add(rest.rest());
            while (const auto frame = frames.next()) QCOMPARE(frame->type, Message::Failure);
        }
        std::set<std::string> after;
        for (const auto& each : std::filesystem::directory_iterator(folder_.path())) after.insert(each.path().string());
        QVERIFY(before == after);
    }

    void hostileMessagesDoNotEndTheServer() {
        std::mt19937 random(7);
        const auto any = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
        auto server = std::make_unique<PipedServer>(std::vector{path_});
        server->send(frameOf(Message::Open, 1, WireWriter().number(uint32_t{0}).number(1000u).bytes()));
        QTRY_VERIFY_WITH_TIMEOUT(server->answerBytes() > 1000, 60'000);  // The file is open.
        for (int number = 0; number < messageCount(300); ++number) {
            WireWriter body;
            body.number(1 + any(8) / 7);
            Message type = static_cast<Message>(any(14));
            switch (any(6)) {
                case 0:
                    type = Message::Pages;
                    body.number(2u).number(any(100)).number(any(5000)).number(any(100)).number(any(9));
                    break;
                case 1:
                    type = Message::View;
                    body.range(TimeRange{int64_t(any(1000)), int64_t{1} << any(62)}).number(1u << any(16)).number(3u);
                    for (uint32_t each = 0; each < 3; ++each) body.number(any(40)).number(any(4));
                    body.number(any(2));
                    break;
                case 2:
                    type = Message::Report;
                    body.text("cuda_gpu_kern_sum").range(TimeRange{0, int64_t{1} << any(63)});
                    break;
                case 3:
                    type = Message::Query;
                    body.text("SELECT 1").number(any(100)).number(int64_t{any(100)});
                    break;
                case 4:
                    type = Message::Summary;
                    body.text(any(2) == 0 ? "" : "layer #");
                    break;
                default: body.bytes() += std::string(any(64), static_cast<char>(any(256)));
            }
            std::string frame = frameOf(type, any(1000), body.bytes());
            for (uint32_t hits = any(3); hits > 0; --hits)
                frame[4 + any(static_cast<uint32_t>(frame.size()) - 4)] = static_cast<char>(any(256));
            server->send(frame);
            if (number % 50 == 0) QTest::qWait(1);  // So that some requests reach the worker.
        }
        // It still answers.
        const size_t bytes = server->answerBytes();
        server->send(frameOf(static_cast<Message>(200), 5, {}));
        QTRY_VERIFY_WITH_TIMEOUT(server->answerBytes() > bytes, 60'000);
        // A frame beyond the limit ends it.
        server->send(std::string("\xff\xff\xff\xff\0\0\0\0\0", 9));
        server->finish();
    }

    void hostileAnswersNeitherCrashNorHang() {
        // A valid session, whose bytes are then changed.
        const std::string session = (folder_ / "session").string();
        {
            const auto remote = openRemoteTrace(source("recording", "sh -c \"$3\" | tee " + session));
            QVERIFY2(remote.has_value(), errorOf(remote).c_str());
            static_cast<void>(dumpOf(**remote));
            static_cast<void>(remoteOf(**remote)->report("cuda_gpu_kern_sum", std::nullopt));
        }
        const std::string whole = contentOf(session);
        QVERIFY(whole.size() > 10'000);
        const RemoteSource replay = source("replay", "cat " + session + ".damaged");
        std::mt19937 random(11);
        const int count = messageCount(60);
        for (int number = 0; number < count; ++number) {
            std::string damaged = whole;
            // Most bytes are pages: half of the hits are among the first messages.
            for (uint32_t hits = 1 + random() % 4; hits > 0; --hits)
                damaged[random() % (random() % 2 == 0 ? damaged.size() : 400)] = static_cast<char>(random());
            if (random() % 4 == 0) damaged.resize(random() % damaged.size());
            put(session + ".damaged", damaged);
            const auto remote = openRemoteTrace(replay);
            if (!remote) continue;
            static_cast<void>(dumpOf(**remote));
            static_cast<void>(remoteOf(**remote)->report("cuda_gpu_kern_sum", std::nullopt));
            static_cast<void>(remoteOf(**remote)->problem());
        }
    }
};

LANESCOPE_TEST(tst_Remote, QCoreApplication)
#include "tst_Remote.moc"
