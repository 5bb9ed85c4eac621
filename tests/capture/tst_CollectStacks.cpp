// SPDX-License-Identifier: Apache-2.0
#include "model/importers/loadTrace.h"
#include "model/trace/kinds/workStacks.h"
#include "model/trace/stacks.h"
#include "tests/capture/CollectorFixture.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using namespace lanescope::log;
using namespace lanescope::test;

namespace {

/// A log with stack records of a program.
struct StackLog : TestLog {
    using TestLog::TestLog;

    void stack(uint32_t number, uint32_t parent, std::string_view function, std::string_view file, uint32_t line) {
        StackRecord record{};
        record.stack = number;
        record.parent = parent;
        record.function = string(function);
        record.file = string(file);
        record.line = line;
        add(record);
    }
    void call(uint32_t correlation, uint32_t stackNumber) {
        ApiRecord record{};
        record.startNs = startNs + correlation * 100;
        record.endNs = record.startNs + 10;
        record.name = string("cuLaunchKernel");
        record.threadId = 4242;
        record.correlationId = correlation;
        record.isDriver = 1;
        record.stack = stackNumber;
        add(record);
    }
    void range(NvtxEvent event, std::string_view text, int64_t afterNs, int32_t level, uint32_t stackNumber = 0,
               uint32_t threadId = 4242) {
        NvtxRecord record = nvtx(event, afterNs, level, string(text));
        record.threadId = threadId;
        record.rangeId = event == NvtxEvent::Start || event == NvtxEvent::End ? 9 : 0;
        setStack(record, stackNumber);
        add(record);
    }
    void node(uint64_t number, uint64_t original, int64_t afterNs, uint32_t stackNumber, uint32_t threadId = 4242) {
        GraphNodeRecord record{};
        record.timestampNs = startNs + afterNs;
        record.node = number;
        record.original = original;
        record.threadId = threadId;
        record.stack = stackNumber;
        add(record);
    }
    void kernel(uint32_t correlation, uint64_t graphNode) {
        KernelRecord record{};
        record.startNs = startNs + correlation * 100 + 50;
        record.endNs = record.startNs + 10;
        record.name = string("gemm");
        record.contextId = 1;
        record.streamId = 7;
        record.correlationId = correlation;
        record.graphNodeId = graphNode;
        add(record);
    }
};

}  // namespace

class tst_CollectStacks : public QObject {
    Q_OBJECT
    std::unique_ptr<CollectorFixture> fixture_;

  private slots:
    void init() { fixture_ = std::make_unique<CollectorFixture>(); }

    void writesEachStackOnce() {
        StackLog log;
        log.stack(1, 0, "<module>", "/home/ada/train.py", 30);
        log.stack(2, 1, "step", "/home/ada/train.py", 12);
        log.call(1, 2);
        // Another thread numbers the same stack differently.
        log.stack(7, 0, "<module>", "/home/ada/train.py", 30);
        log.stack(8, 7, "step", "/home/ada/train.py", 12);
        log.stack(9, 8, "(frames further out are left out)", "", 0);
        log.call(2, 8);
        log.call(3, 9);
        log.call(4, 0);
        log.call(5, 99);  // of a lost stack
        // Another part repeats it.
        log.stack(2, 1, "step", "/home/ada/train.py", 12);
        log.call(6, 2);
        log.end(startNs + 1'000);
        log.flush();
        log.writeTo(fixture_->logPath("box.0.4242.log"));
        fixture_->collect();
        QCOMPARE(fixture_->rows("SELECT s.id, parentId, f.value, g.value, line FROM LANESCOPE_STACKS s"
                                " JOIN StringIds f ON f.id = functionId"
                                " LEFT JOIN StringIds g ON g.id = fileId ORDER BY s.id"),
                 "1|NULL|<module>|/home/ada/train.py|30, 2|1|step|/home/ada/train.py|12, "
                 "3|2|(frames further out are left out)|NULL|NULL");
        QCOMPARE(fixture_->rows("SELECT correlationId, callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME"
                                " ORDER BY correlationId"),
                 "1|2, 2|2, 3|3, 4|NULL, 5|NULL, 6|2");

        const Result<TracePtr> trace = loadTrace(fixture_->in("out.sqlite"));
        QVERIFY2(trace, trace ? "" : trace.error().sentence.c_str());
        QCOMPARE((*trace)->stacks.size(), 3u);
        QCOMPARE((*trace)->apiCalls.size(), 6u);
        QCOMPARE(pythonLine(**trace, EventRef(EventKind::Api, 0)), std::string("train.py:12 in step"));
        QCOMPARE(pythonLine(**trace, EventRef(EventKind::Api, 2)), std::string("train.py:12 in step"));
        QCOMPARE(frameText(**trace, 2), std::string("(frames further out are left out)"));
        QCOMPARE(pythonLine(**trace, EventRef(EventKind::Api, 3)), std::string());
    }

    void distinguishesFilesOfTheProgramsFolders() {
        StackLog log;
        log.stack(1, 0, "<module>", "train.py", 30);
        log.stack(2, 1, "step", "/home/ada/project/train.py", 12);
        log.stack(3, 2, "tool", "/home/ada/tools/t.py", 3);
        log.stack(4, 3, "linear", "/usr/lib/python3/dist-packages/torch/nn/linear.py", 4);
        log.call(1, 4);
        log.end(startNs + 1'000);
        log.flush();
        log.writeTo(fixture_->logPath("box.0.4242.log"));
        fixture_->info.workingDirectory = "/home/ada/project";
        fixture_->info.homeDirectory = "/home/ada";
        fixture_->collect();
        QCOMPARE(fixture_->rows("SELECT value FROM LANESCOPE_STACKS s JOIN StringIds f"
                                " ON f.id = fileId ORDER BY s.id"),
                 "train.py, train.py, ~/tools/t.py, "
                 "/usr/lib/python3/dist-packages/torch/nn/linear.py");
        const Result<TracePtr> trace = loadTrace(fixture_->in("out.sqlite"));
        QVERIFY2(trace, trace ? "" : trace.error().sentence.c_str());
        QCOMPARE(sourceFile(**trace, 0), std::string("/home/ada/project/train.py"));
        QCOMPARE(sourceFile(**trace, 1), std::string("/home/ada/project/train.py"));
        QCOMPARE(sourceFile(**trace, 2), std::string("/home/ada/tools/t.py"));
        QCOMPARE(sourceFile(**trace, 3), std::string("/usr/lib/python3/dist-packages/torch/nn/linear.py"));
    }

    void keepsTheStartOfRanges() {
        StackLog log;
        log.stack(1, 0, "<module>", "/home/ada/train.py", 30);
        log.stack(70'000, 1, "step", "/home/ada/train.py", 12);  // more than 16 bits
        log.range(NvtxEvent::Push, "outer", 100, 0, 1);
        log.range(NvtxEvent::Push, "inner", 110, 1, 70'000);
        log.range(NvtxEvent::Mark, "mark", 120, 0, 70'000);
        log.range(NvtxEvent::Pop, "", 130, 1);
        log.range(NvtxEvent::Pop, "", 140, 0);
        log.range(NvtxEvent::Start, "across", 150, 0, 1);
        log.range(NvtxEvent::End, "", 160, 0);
        log.range(NvtxEvent::Mark, "without Python", 170, 0, 0, 4243);
        log.range(NvtxEvent::Mark, "lost", 180, 0, 99);
        log.end(startNs + 1'000);
        log.flush();
        log.writeTo(fixture_->logPath("box.0.4242.log"));
        fixture_->collect();
        QCOMPARE(fixture_->rows("SELECT n.text, f.value, line FROM LANESCOPE_NVTX_STACKS s"
                                " JOIN NVTX_EVENTS n ON n.rowid = nvtxRow"
                                " JOIN LANESCOPE_STACKS t ON t.id = callchainId"
                                " JOIN StringIds f ON f.id = functionId ORDER BY n.start"),
                 "outer|<module>|30, inner|step|12, mark|step|12, across|<module>|30");
        const Result<TracePtr> trace = loadTrace(fixture_->in("out.sqlite"));
        QVERIFY2(trace, trace ? "" : trace.error().sentence.c_str());
        const std::vector<std::string> wanted{"train.py:30 in <module>",
                                              "train.py:12 in step",
                                              "train.py:12 in step",
                                              "train.py:30 in <module>",
                                              "called from train.py:30 in <module>",
                                              ""};
        QCOMPARE((*trace)->nvtx.size(), uint32_t(wanted.size()));
        for (uint32_t row = 0; row < wanted.size(); ++row)
            QCOMPARE(pythonLine(**trace, EventRef(EventKind::Nvtx, row)), wanted[row]);
    }

    void graphKernelsGetTheLineOfTheirNode() {
        StackLog log;
        log.stack(1, 0, "<module>", "/home/ada/train.py", 30);
        log.stack(2, 1, "forward", "/home/ada/train.py", 88);
        log.stack(3, 1, "replay", "/home/ada/train.py", 99);
        log.range(NvtxEvent::Mark, "capture", 10, 0, 2);
        log.node(21, 11, 30, 0);  // by another thread, which comes first in the log
        log.node(31, 21, 40, 0);
        log.node(41, 40, 45, 0);  // the original of this copy is unknown
        log.node(11, 0, 20, 2);
        log.node(12, 0, 25, 0, 4243);  // captured by a thread without Python
        for (const uint32_t correlation : {1u, 2u, 3u, 4u, 5u}) log.call(correlation, 3);
        log.kernel(1, 21);
        log.kernel(2, 31);
        log.kernel(3, 41);
        log.kernel(4, 12);
        log.kernel(5, 0);
        log.end(startNs + 1'000);
        log.flush();
        log.writeTo(fixture_->logPath("box.0.4242.log"));
        fixture_->collect();
        QCOMPARE(fixture_->rows("SELECT graphNodeId, originalGraphNodeId, f.value"
                                " FROM CUDA_GRAPH_NODE_EVENTS n"
                                " LEFT JOIN LANESCOPE_GRAPH_NODE_STACKS s ON s.nodeRow = n.rowid"
                                " LEFT JOIN LANESCOPE_STACKS t ON t.id = callchainId"
                                " LEFT JOIN StringIds f ON f.id = functionId"
                                " ORDER BY graphNodeId"),
                 "11|NULL|forward, 12|NULL|NULL, 21|11|NULL, 31|21|NULL, 41|40|NULL");
        const Result<TracePtr> trace = loadTrace(fixture_->in("out.sqlite"));
        QVERIFY2(trace, trace ? "" : trace.error().sentence.c_str());
        const std::vector<std::string> wanted{
            "called at capture: train.py:88 in forward", "called at capture: train.py:88 in forward",
            "train.py:99 in replay", "called at capture from: train.py:88 in forward", "train.py:99 in replay"};
        QCOMPARE((*trace)->kernels.size(), uint32_t(wanted.size()));
        for (uint32_t row = 0; row < wanted.size(); ++row)
            QCOMPARE(pythonLine(**trace, EventRef(EventKind::Kernel, row)), wanted[row]);
    }

    void survivesDanglingNodes() {
        StackLog log;
        log.node(5, 5, 10, 0);
        log.node(6, 7, 11, 0);
        log.node(7, 6, 12, 0);
        log.node(7, 0, 13, 99);
        log.node(0, 0, 14, 0);
        for (const uint32_t correlation : {5u, 6u, 7u}) {
            log.call(correlation, 0);
            log.kernel(correlation, correlation);
        }
        log.end(startNs + 1'000);
        log.flush();
        log.writeTo(fixture_->logPath("box.0.4242.log"));
        fixture_->collect();
        const Result<TracePtr> trace = loadTrace(fixture_->in("out.sqlite"));
        QVERIFY(trace);
        for (uint32_t row = 0; row < (*trace)->kernels.size(); ++row)
            QCOMPARE(pythonLine(**trace, EventRef(EventKind::Kernel, row)), std::string());
    }

    void survivesDanglingStacks() {
        StackLog log;
        log.stack(5, 5, "itself", "a.py", 1);
        log.stack(6, 77, "orphan", "a.py", 2);
        log.stack(0, 0, "none", "a.py", 3);
        log.stack(0xffffffff, 6, "last", "a.py", 0xffffffff);
        for (uint32_t number : {5u, 6u, 0u, 0xffffffffu}) log.call(number % 1'000 + 1, number);
        log.end(startNs + 1'000);
        log.flush();
        log.writeTo(fixture_->logPath("box.0.4242.log"));
        fixture_->collect();
        const Result<TracePtr> trace = loadTrace(fixture_->in("out.sqlite"));
        QVERIFY(trace);
        for (uint32_t row = 0; row < (*trace)->apiCalls.size(); ++row)
            pythonLine(**trace, EventRef(EventKind::Api, row));
    }
};

LANESCOPE_TEST(tst_CollectStacks, NoApplication)
#include "tst_CollectStacks.moc"
