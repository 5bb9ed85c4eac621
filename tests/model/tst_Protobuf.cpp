// SPDX-License-Identifier: Apache-2.0
#include "model/export/ProtoWriter.h"
#include "model/importers/events/ProtoCursor.h"
#include "model/importers/perfetto/readPerfettoTrace.h"
#include "model/importers/xplane/readXplaneTrace.h"
#include "tests/support/protoTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using protoTrace::sourceOf;

class tst_Protobuf : public QObject {
    Q_OBJECT

  private slots:
    void fieldsRoundTrip() {
        ProtoWriter inner, message;
        inner.number(1, 300);
        message.number(1, 0);
        message.signedNumber(536870911, -1);
        message.fixed(2, 0x0102030405060708u);
        message.real(3, -2.5);
        message.bytes(4, "text");
        message.message(5, inner);
        ProtoCursor cursor(message.bytes());
        ProtoField field;
        QVERIFY(cursor.next(field) && field.number == 1 && field.isNumber() && field.value == 0);
        QVERIFY(cursor.next(field) && field.number == 536870911 && field.signedValue() == -1);
        QVERIFY(cursor.next(field) && field.value == 0x0102030405060708u);
        QVERIFY(cursor.next(field) && field.real() == -2.5);
        QVERIFY(cursor.next(field) && field.bytes == "text");
        QVERIFY(cursor.next(field) && field.isBytes());
        ProtoCursor within(field.bytes);
        QVERIFY(within.next(field) && field.value == 300);
        QVERIFY(!within.next(field) && !within.isMalformed());
        QVERIFY(!cursor.next(field) && !cursor.isMalformed());
        // The same list, unpacked and packed.
        int sum = 0;
        ProtoCursor list(std::string_view("\x08\x02\x0a\x03\x01\x02\x03", 7));
        while (list.next(field))
            QVERIFY(ProtoCursor::forEachNumber(field, ProtoField::Wire::Varint,
                                               [&sum](uint64_t value) { sum += int(value); }));
        QCOMPARE(sum, 8);
    }

    void invalidFieldEndsTheMessage_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("a field without a number") << QByteArray("\x02\x00", 2);
        QTest::newRow("a group") << QByteArray("\x0b\x0c", 2);
        QTest::newRow("an unknown wire") << QByteArray("\x0f\x01", 2);
        QTest::newRow("a number that never ends") << QByteArray(1000, '\xff');
        QTest::newRow("a length beyond the end") << QByteArray(
            "\x0a\x05"
            "abc",
            5);
        QTest::newRow("the greatest length") << QByteArray("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
        QTest::newRow("half a number") << QByteArray("\x08\x80", 2);
        QTest::newRow("half a double") << QByteArray("\x09\x00\x00\x00", 4);
        QTest::newRow("only a key") << QByteArray("\x08", 1);
    }
    void invalidFieldEndsTheMessage() {
        QFETCH(QByteArray, bytes);
        ProtoCursor cursor(std::string_view(bytes.data(), static_cast<size_t>(bytes.size())));
        ProtoField field;
        QVERIFY(!cursor.next(field));
        QVERIFY(cursor.isMalformed());
        QVERIFY(!cursor.next(field));
    }

    void streamFieldsAreIndependentOfReadSize() {
        ProtoWriter message;
        std::mt19937 random(7);
        std::vector<std::string> texts;
        for (int i = 0; i < 500; ++i) {
            message.number(2, random());
            texts.emplace_back(random() % (i % 100 == 0 ? 300'000 : 200), static_cast<char>('a' + i % 26));
            message.bytes(1, texts.back());
            message.fixed(3, random());
        }
        for (const size_t atOnce : {size_t{1}, size_t{7}, size_t{4096}, size_t{1} << 20}) {
            const ByteSource source = sourceOf(message.bytes(), atOnce);
            ProtoStream stream(source, nullptr, 1 << 20, uint64_t{1} << 40);
            size_t text = 0, numbers = 0;
            for (ProtoField field; stream.next(field);) {
                if (field.number == 1) QVERIFY(field.bytes == texts[text++]);
                if (field.number != 1) ++numbers;
            }
            QCOMPARE(text, texts.size());
            QCOMPARE(numbers, size_t{1000});
            QVERIFY(stream.end() == ProtoStream::End::Complete);
            QCOMPARE(stream.bytesRead(), message.bytes().size());
        }
    }

    void lengthBeyondTheEndAllocatesNothing() {
        // Claims a gigabyte where a hundred bytes exist.
        std::string bytes("\x0a\x80\x80\x80\x80\x04", 6);
        bytes += std::string(100, 'x');
        const ByteSource source = sourceOf(bytes);
        LargeMemory memory;
        ProtoStream stream(source, &memory, uint64_t{1} << 31, uint64_t{1} << 40);
        ProtoField field;
        QVERIFY(!stream.next(field));
        QVERIFY(stream.end() == ProtoStream::End::Truncated);
        QVERIFY(memory.ownBytes() + memory.fileBytes() < size_t{1} << 20);
    }

    void truncatedOrFailedStreamIsReported() {
        ProtoWriter message;
        message.bytes(1, "whole");
        const auto endOf = [](std::string bytes) {
            const ByteSource source = sourceOf(std::move(bytes));
            ProtoStream stream(source, nullptr, 1000, uint64_t{1} << 40);
            for (ProtoField field; stream.next(field);) {
            }
            return stream.end();
        };
        const std::string whole = message.bytes();
        QVERIFY(endOf(whole) == ProtoStream::End::Complete);
        QVERIFY(endOf(whole.substr(0, whole.size() - 1)) == ProtoStream::End::Truncated);
        QVERIFY(endOf(whole + "\x0a") == ProtoStream::End::Truncated);
        QVERIFY(endOf(whole + "\x0b") == ProtoStream::End::Malformed);
        QVERIFY(endOf(whole + std::string("\x0a\xe9\x07", 3) + std::string(2000, 'x')) == ProtoStream::End::Malformed);
    }

    void randomBytesAreHarmless() {
        std::mt19937 random(11);
        std::string whole = protoTrace::smallXplane();
        for (int kind = 0; kind < 2; ++kind) {
            for (int i = 0; i < 200; ++i) {
                std::string damaged = whole;
                for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes)
                    damaged[random() % damaged.size()] = static_cast<char>(random());
                if (random() % 3 == 0) damaged.resize(random() % damaged.size());
                if (damaged.empty()) continue;
                TraceBuilder builder;
                const ByteSource source = sourceOf(damaged);
                const auto none = [] { return 0.0; };
                QVERIFY(kind == 0 ? readXplaneTrace(source, builder, none, {})
                                  : readPerfettoTrace(source, builder, none, {}));
                QVERIFY(builder.finish());
            }
            whole = protoTrace::smallPerfetto();
        }
    }

    void manyNumbersAndDeepNestingAreHarmless() {
        const auto none = [] { return 0.0; };
        // Arguments nested far deeper than sensible; lists of endless numbers.
        std::string deep = "\x32\x01x";
        for (int depth = 0; depth < 10'000; ++depth) {
            ProtoWriter outer;
            outer.bytes(12, deep);
            deep = outer.bytes();
            if (deep.size() > 60'000) break;
        }
        ProtoWriter event, packet, trace, plane, planes;
        event.number(9, 1);
        event.bytes(4, deep);
        for (const uint32_t list : {3u, 12u, 31u, 36u, 47u, 46u}) event.bytes(list, std::string(500'000, '\x01'));
        packet.number(8, 5);
        packet.message(11, event);
        trace.message(1, packet);
        TraceBuilder first;
        QVERIFY(readPerfettoTrace(sourceOf(trace.bytes()), first, none, {}));
        QVERIFY(first.finish());
        // Entries of two bytes: lines, names, stats.
        plane.bytes(2, "/host:CPU");
        std::string entries;
        for (int i = 0; i < 200'000; ++i) entries += std::string("\x1a\x00\x22\x00\x2a\x00\x32\x00", 8);
        planes.bytes(1, plane.bytes() + entries);
        TraceBuilder second;
        QVERIFY(readXplaneTrace(sourceOf(planes.bytes()), second, none, {}));
        QVERIFY(second.finish());
    }
};

LANESCOPE_TEST(tst_Protobuf, NoApplication)
#include "tst_Protobuf.moc"
