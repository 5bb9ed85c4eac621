// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "tests/extend/toyFormat.h"
#include "tests/support/runTest.h"

using namespace lanescope;

class tst_ToyFormat : public QObject {
    Q_OBJECT

  private slots:
    void toyTraceOpensCompressedOrNot() {
        const TemporaryFolder folder;
        const std::string text = "toy trace\nlast 7 300 400\nfirst 7 100 200\nwrong 8 200 100\n";
        std::ofstream(folder / "a.toy") << text;
        const gzFile packed = gzopen((folder / "b.toy").c_str(), "wb");
        gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
        gzclose(packed);
        for (const char* name : {"a.toy", "b.toy"}) {
            const Result<TracePtr> trace = loadTrace(folder / name, {}, {.formats = formats_});
            QVERIFY2(trace, trace ? "" : trace.error().sentence.c_str());
            QCOMPARE((*trace)->kernels.size(), 2u);
            QCOMPARE((*trace)->nameOf({EventKind::Kernel, 0}), std::string("first"));
            QCOMPARE((*trace)->processes[0].name, std::string("toy"));
            QCOMPARE((*trace)->range, (TimeRange{100, 400}));
            QVERIFY((*trace)->health[0].sentence.starts_with("1 row of kernels was skipped"));
        }
        QVERIFY(!loadTrace(folder / "a.toy"));  // the product does not have it
    }

    void otherFilesAreNotAccepted() {
        const LoadProgress progress;
        const std::filesystem::path native = std::filesystem::path(LANESCOPE_SAMPLES) / "resnet152-nvlink.sqlite.gz";
        Result<TraceSource> source = TraceSource::open(native, progress);
        QVERIFY(source);
        QVERIFY(!*toyFormat.isRecognized(*source));
        const Result<const TraceFormat*> found = findFormat(*source, formats_);
        QVERIFY(found);
        QCOMPARE((*found)->identifier, std::string_view("lanescope"));
    }

  private:
    static std::vector<const TraceFormat*> withToy() {
        std::vector<const TraceFormat*> formats(traceFormats().begin(), traceFormats().end());
        formats.push_back(&toyFormat);
        return formats;
    }
    std::vector<const TraceFormat*> formats_ = withToy();
};

LANESCOPE_TEST(tst_ToyFormat, NoApplication)
#include "tst_ToyFormat.moc"
