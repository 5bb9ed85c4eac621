// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <zlib.h>

#include "model/export/traceFile.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/importers/TraceSource.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

using Bytes = std::string;

Bytes gzipped(const Bytes& content) {
    z_stream stream{};
    deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    Bytes out(deflateBound(&stream, content.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

bool isCompressed(const std::filesystem::path& path) {
    const Result<UnpackedStream> stream = UnpackedStream::open(path);
    return stream && stream->isCompressed();
}

}  // namespace

class tst_unpackGzip : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        const TemporaryFolder folder;
        QVERIFY(writeTraceFile(*simulatedTraining(), folder / "trace"));
        const auto loaded = test::orFail(loadTrace(folder / "trace"));
        trace_ = loaded;
        plain_ = contentOf(folder / "trace");
        packed_ = gzipped(plain_);
        QVERIFY(packed_.size() < plain_.size());
    }

    void init() { folder_ = std::make_unique<TemporaryFolder>(); }

    void compressedTraceEqualsThePlainOne() {
        write(packed_);
        const auto read = test::orFail(loadTrace(file()));
        const Trace& trace = *read;
        QCOMPARE(test::listed(trace.path, trace.title), test::listed(file(), "run.sqlite.gz"));
        QCOMPARE(test::listed(trace.range, trace.health.size()), test::listed(trace_->range, trace_->health.size()));
        QVERIFY(trace.kernels.startNs == trace_->kernels.startNs);
        QVERIFY(trace.memcpys.bytes == trace_->memcpys.bytes);
        QVERIFY(trace.apiCalls.correlation == trace_->apiCalls.correlation);
        QVERIFY(trace.nvtx.startNs == trace_->nvtx.startNs);
        QCOMPARE(trace.tracks.size(), trace_->tracks.size());
    }

    void contentDecidesInsteadOfTheName() {
        const auto plainlyNamed = *folder_ / "run.sqlite";
        write(packed_);
        std::filesystem::rename(file(), plainlyNamed);
        QVERIFY(isCompressed(plainlyNamed));
        QVERIFY(loadTrace(plainlyNamed));
        write(plain_);
        QVERIFY(!isCompressed(file()));
        QVERIFY(loadTrace(file()));
        const auto pipe = *folder_ / "pipe";
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
        for (const auto& other : {folder_->path(), *folder_ / "missing", pipe}) QVERIFY(!UnpackedStream::open(other));
    }

    void concatenatedGzipMembersAreRead() {
        const size_t cut = 37;  // Within SQLite's header.
        write(gzipped(plain_.substr(0, cut)) + gzipped(plain_.substr(cut, 5000)) + gzipped(plain_.substr(cut + 5000)) +
              Bytes(1000, '\0') + "rubbish");  // as gzip itself does
        QVERIFY(test::orFail(loadTrace(file()))->kernels.startNs == trace_->kernels.startNs);
    }

    void trailingDataIsReported_data() {
        const test::Rows<QByteArray, QByteArray, bool> row;
        const QByteArray trace = QByteArray::fromStdString(plain_);
        const QByteArray json = R"([{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}])";
        for (const auto& [kind, content] : {std::pair("a trace", trace), std::pair("JSON", json)}) {
            row(QString::asprintf("%s, nothing", kind), content, QByteArray(), false);
            row(QString::asprintf("%s, zeros", kind), content, QByteArray(1'000'000, '\0'), false);
            row(QString::asprintf("%s, a byte", kind), content, QByteArray("x"), true);
            row(QString::asprintf("%s, text after zeros", kind), content, QByteArray(1'000'000, '\0') + "text", true);
            row(QString::asprintf("%s, many zeros", kind), content, QByteArray(2'000'000, '\0'), true);
            if (content == trace)
                row(QString::asprintf("%s, another one", kind), content, QByteArray::fromStdString(packed_), true);
            row(QString::asprintf("%s, half a mark", kind), content, QByteArray("\x1f"), true);
        }
    }
    void trailingDataIsReported() {
        const auto [content, trailing, isReported] = test::row<QByteArray, QByteArray, bool>();
        write(gzipped(content.toStdString()) + trailing.toStdString());
        const auto read = test::orFail(loadTrace(file()));
        const auto isOfIt = [](const HealthNote& note) { return note.code == HealthCode::BytesBehindPacked; };
        QCOMPARE(std::ranges::count_if(read->health, isOfIt), isReported ? 1 : 0);
    }

    /// A small file can contain a gigantic one, of which only the size in the header is read.
    void outputIsBoundedByTheSqliteHeader() {
        const Bytes zeros = gzipped(Bytes(8 << 20, '\0'));
        Bytes all = packed_;
        for (int count = 0; count < 16; ++count) all += zeros;
        write(all);
        const auto unpacked = unpackGzip(file(), {}, {});
        QVERIFY(unpacked && unpacked->hasTrailingBytes);
        struct stat status {};
        QCOMPARE(::fstat(unpacked->file.descriptor(), &status), 0);
        QVERIFY(static_cast<size_t>(status.st_size) < plain_.size() + (4 << 20));
        const auto read = loadTrace(file());
        QVERIFY(read && (*read)->kernels.startNs == trace_->kernels.startNs);
    }

    void traceInWalModeIsOpened() {
        Bytes wal = plain_;
        wal[18] = wal[19] = 2;  // SQLite's value for a file with a write-ahead log.
        write(gzipped(wal));
        QVERIFY(test::orFail(loadTrace(file()))->kernels.startNs == trace_->kernels.startNs);
    }

    void errorsGiveTheReason_data() {
        const test::Rows<Bytes, QString> row;
        const auto changed = [](Bytes content, size_t at) {
            content[at] = static_cast<char>(~content[at]);
            return content;
        };
        const char* unknown =
            "%1: its compressed content is not a trace in a supported format. See format.md in the manual.";
        row("truncated in its header", packed_.substr(0, 5), "%1: the compressed file is truncated. Copy it again.");
        row("truncated in the middle", packed_.substr(0, packed_.size() / 2),
            "%1: the compressed file is truncated. Copy it again.");
        row("truncated before its checksum", packed_.substr(0, packed_.size() - 8),
            "%1: the compressed file is truncated. Copy it again.");
        row("wrong checksum", changed(packed_, packed_.size() - 8),
            "%1: the compressed file is corrupt. Copy it again.");
        row("rubbish inside", Bytes(packed_).replace(packed_.size() / 2, 200, 200, '\xff'),
            "%1: the compressed file is corrupt. Copy it again.");
        row("text", gzipped("a letter to an unknown reader"), unknown);
        row("nothing", gzipped(""), "%1: empty, gzip compressed no data. Compress the trace again.");
        row("compressed twice", gzipped(packed_),
            "%1 is packed by gzip twice: unpack it once with \"gunzip -k\" and open the result.");
        row("less than SQLite's header", gzipped(plain_.substr(0, 50)),
            "%1: truncated inside its header. Copy it again.");
        row("a trace that was truncated before it was compressed", gzipped(plain_.substr(0, 40000)),
            qPrintable("%1: truncated, only 40000 of " + QString::number(plain_.size()) +
                       " bytes are there. Copy it again."));
    }
    void errorsGiveTheReason() {
        const auto [content, sentence] = test::row<Bytes, QString>();
        write(content);
        const auto read = loadTrace(file());
        QVERIFY(!read);
        QCOMPARE(QString::fromStdString(read.error().sentence), sentence.arg(QString::fromStdString(file().string())));
    }

    void corruptFilesNeverCrash() {
        std::mt19937 random(7);
        for (int round = 0; round < 60; ++round) {
            Bytes content = packed_;
            for (int i = 0; i < 3; ++i) content[3 + random() % (content.size() - 3)] = static_cast<char>(random());
            if (round % 2 == 0) content.resize(random() % content.size());
            write(content);
            const auto read = loadTrace(file());
            if (!read) QVERIFY(read.error().sentence.find(file().string()) != std::string::npos);
        }
    }

    void unpackingStopsAtTheLimit() {
        // A header without the file size, so that only the content decides.
        Bytes content = plain_;
        content[24] = static_cast<char>(~content[24]);
        for (const Bytes& whole : {plain_, content}) {
            write(gzipped(whole));
            UnpackLimits limits;
            limits.unpackedBytes = plain_.size() - 1;
            QVERIFY2(errorOf(limits).contains("too large to open compressed (more than"), qPrintable(errorOf(limits)));
            limits.unpackedBytes = plain_.size();
            QCOMPARE(errorOf(limits), QString());
        }
    }

    void unpackingIsRefusedBeforeTheDiskIsFull() {
        write(packed_);
        const QString error = errorOf(UnpackLimits{.spareBytes = INT64_MAX, .folder = folder_->path()});
        QVERIFY2(error.startsWith(
                     QString("%1: not enough space to unpack %2 (").arg(folder_->path().c_str(), file().c_str())),
                 qPrintable(error));
        QVERIFY2(error.endsWith("Free space, or set TMPDIR to a folder with more."), qPrintable(error));
    }

    void unpackingNeedsAFolder() {
        write(packed_);
        const QString error = errorOf(UnpackLimits{.folder = *folder_ / "missing"});
        QVERIFY2(error.contains("cannot be unpacked. ") && error.contains(": cannot create a temporary file"),
                 qPrintable(error));
    }

    void unknownContentIsRefusedEarly() {
        write(gzipped(Bytes(size_t{64} << 20, 'x')));
        UnpackLimits limits;
        limits.unpackedBytes = size_t{8} << 20;
        QVERIFY(errorOf(limits).contains("not an SQLite file"));
    }

    void noTemporaryFileStays() {
        write(packed_);
        UnpackLimits limits;
        limits.folder = *folder_ / "unpacked";
        std::filesystem::create_directory(limits.folder);
        const auto unpacked = test::orFail(unpackGzip(file(), limits, {}));
        QVERIFY(std::filesystem::is_empty(limits.folder));
        struct stat status {};
        QCOMPARE(::fstat(unpacked.file.descriptor(), &status), 0);
        QCOMPARE(status.st_mode & 0777, 0600u);
        QCOMPARE(status.st_nlink, 0u);
        QCOMPARE(static_cast<size_t>(status.st_size), plain_.size());
        // Two at a time, each of which outlives the other.
        const auto first = test::orFail(Database::openReadOnly(unpacked.file.descriptor(), file()));
        {
            const auto second = test::orFail(Database::openReadOnly(unpacked.file.descriptor(), file()));
            QCOMPARE(second.tables(), first.tables());
        }
        QCOMPARE(first.rowCount("CUPTI_ACTIVITY_KIND_KERNEL"), static_cast<int64_t>(trace_->kernels.size()));
        QCOMPARE(first.path(), file().string());
    }

    void unpackingCanBeCancelled() {
        write(packed_);
        std::string heard;
        const auto read = loadTrace(file(), [&](double, std::string_view what) {
            heard = what;
            return false;
        });
        QVERIFY(!read);
        QCOMPARE(read.error().sentence, file().string() + ": opening was cancelled.");
        QCOMPARE(heard, std::string("unpacking"));
    }

    void progressNeverDecreases() {
        write(packed_);
        double last = 0;
        bool isUpwards = true;
        const auto read = loadTrace(file(), [&](double fraction, std::string_view) {
            isUpwards = isUpwards && fraction >= last && fraction <= 1;
            last = fraction;
            return true;
        });
        QVERIFY(read);
        QVERIFY(isUpwards);
        QVERIFY(last > 0.4);
    }

  private:
    std::filesystem::path file() const { return *folder_ / "run.sqlite.gz"; }
    void write(const Bytes& content) const {
        std::ofstream(file(), std::ios::binary).write(content.data(), static_cast<long>(content.size()));
    }
    QString errorOf(const UnpackLimits& limits) const {
        const auto unpacked = unpackGzip(file(), limits, {});
        return unpacked ? QString() : QString::fromStdString(unpacked.error().sentence);
    }

    Bytes plain_;  ///< A whole trace file.
    Bytes packed_;
    TracePtr trace_;
    std::unique_ptr<TemporaryFolder> folder_;
};

LANESCOPE_TEST(tst_unpackGzip, QCoreApplication)
#include "tst_unpackGzip.moc"
