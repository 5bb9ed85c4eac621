#include <QtTest>

#include "model/summary/search.h"
#include "tests/support/TraceBuilder.h"

using namespace lanescope;

class TestFindEvents : public QObject {
    Q_OBJECT

    TracePtr trace_;

  private slots:
    void initTestCase() {
        TraceBuilder builder;
        const uint32_t thread = builder.defaultThread();
        const uint32_t stream = builder.defaultStream();
        builder.addApi(thread, "cudaMemcpyAsync", 0, 10);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 4096, 20, 30);
        builder.addNvtx(thread, "load Batch", 5, 25);
        builder.addKernel(stream, "batchNorm", 40, 50);
        builder.addMemset(stream, 16, 60, 70);
        trace_ = builder.finish();
    }

    void findsEveryKindByStartWhateverTheCase() {
        const std::vector<EventRef> found = findEvents(*trace_, "BATCH");
        QCOMPARE(found, (std::vector<EventRef>{{EventKind::Nvtx, 0}, {EventKind::Kernel, 0}}));
        QCOMPARE(findEvents(*trace_, "memcpy"),
                 (std::vector<EventRef>{{EventKind::Api, 0}, {EventKind::Memcpy, 0}}));
        QCOMPARE(findEvents(*trace_, "htod"), (std::vector<EventRef>{{EventKind::Memcpy, 0}}));
        QCOMPARE(findEvents(*trace_, "memset"), (std::vector<EventRef>{{EventKind::Memset, 0}}));
    }

    void findsAKernelByItsFullName() {
        QCOMPARE(findEvents(*trace_, "<float>(float*"),
                 (std::vector<EventRef>{{EventKind::Kernel, 0}}));
    }

    void findsNcclCallsByHowNcclDidThem() {
        TraceBuilder builder;
        const uint32_t thread = builder.defaultThread();
        for (const char* type : {"bfloat16", "float32"}) {
            const bool isFirst = builder.trace().nccl.size() == 0;
            builder.addNccl(thread, "AllReduce", 64, isFirst ? 0 : 20, isFirst ? 10 : 30);
            NcclFacts facts = builder.trace().nccl.facts.back();
            facts.datatype = builder.trace().strings.intern(type);
            facts.algorithm = builder.trace().strings.intern("NVLS_TREE");
            builder.trace().nccl.facts.setBack(facts);
        }
        const TracePtr trace = builder.finish();
        QCOMPARE(findEvents(*trace, "bfloat"), (std::vector<EventRef>{{EventKind::Nvtx, 0}}));
        QCOMPARE(findEvents(*trace, "nvls").size(), size_t{2});
        QCOMPARE(findEvents(*trace, "float").size(), size_t{2});
    }

    void findsNothingForNothing() {
        QVERIFY(findEvents(*trace_, "").empty());
        QVERIFY(findEvents(*trace_, "no such name").empty());
        QVERIFY(findEvents(*TraceBuilder().finish(), "x").empty());
    }
};

QTEST_APPLESS_MAIN(TestFindEvents)
#include "tst_FindEvents.moc"
