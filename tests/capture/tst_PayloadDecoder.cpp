// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "capture/collector/PayloadDecoder.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

constexpr uint64_t int32Type = 15, uint64Type = 18, doubleType = 20, charType = 1, cStringType = 75;
constexpr uint64_t fixedArray = 1 << 4, pointerFlag = 1 << 1;
constexpr uint64_t schemaId = 1 << 24;

template <class T>
std::span<const std::byte> bytesOf(const T& value) {
    return {reinterpret_cast<const std::byte*>(&value), sizeof(value)};
}

}  // namespace

class tst_PayloadDecoder : public QObject {
    Q_OBJECT

  private slots:
    void decodesPlainFields() {
        struct {
            uint64_t big;
            int32_t number;
            char text[4];
            double real;
        } payload{~0ull, -5, {'a', 'b', 0, 'x'}, 2.5};
        PayloadDecoder decoder;
        decoder.addSchema(1, schemaId, sizeof(payload));
        decoder.addEntry(1, schemaId, 0, {0, uint64Type, 0, 0, "big"});
        decoder.addEntry(1, schemaId, 1, {0, int32Type, 0, 8, "number"});
        decoder.addEntry(1, schemaId, 2, {0, cStringType, 4, 12, "text"});
        decoder.addEntry(1, schemaId, 3, {0, doubleType, 0, 16, "real"});
        const auto decoded = decoder.decode(1, schemaId, bytesOf(payload));
        QVERIFY(decoded.has_value());
        QCOMPARE(decoded->dump(), R"({"big":18446744073709551615,"number":-5,"text":"ab","real":2.5})");
        QVERIFY(!decoder.decode(2, schemaId, bytesOf(payload)).has_value());
    }

    void computesOmittedOffsets() {
        struct {
            int32_t first;
            uint64_t second;
            int32_t third[2];
        } payload{1, 2, {3, 4}};
        PayloadDecoder decoder;
        decoder.addSchema(0, 9, sizeof(payload));
        decoder.addEntry(0, 9, 0, {0, int32Type, 0, 0, "first"});
        decoder.addEntry(0, 9, 1, {0, uint64Type, 0, 0, "second"});
        decoder.addEntry(0, 9, 2, {fixedArray, int32Type, 2, 0, "third"});
        QCOMPARE(decoder.decode(0, 9, bytesOf(payload))->dump(), R"({"first":1,"second":2,"third":[3,4]})");
    }

    void skipsFieldsOutOfBounds() {
        const uint32_t payload = 7;
        PayloadDecoder decoder;
        decoder.addSchema(0, 9, 400);
        decoder.addEntry(0, 9, 0, {0, int32Type, 0, 0, "fits"});
        decoder.addEntry(0, 9, 1, {0, uint64Type, 0, 4, "behind"});
        decoder.addEntry(0, 9, 2, {0, uint64Type, 0, ~0ull, "far"});
        decoder.addEntry(0, 9, 3, {fixedArray, uint64Type, ~0ull, 0, "long"});
        decoder.addEntry(0, 9, 4, {pointerFlag, charType, 0, 0, "address"});
        decoder.addEntry(0, 9, ~0u, {0, int32Type, 0, 0, "index"});
        QCOMPARE(decoder.decode(0, 9, bytesOf(payload))->dump(), R"({"fits":7})");
        QCOMPARE(decoder.decode(0, 9, {})->dump(), "{}");
    }

    void recursiveLayoutsEnd() {
        PayloadDecoder decoder;
        const uint64_t payload[8] = {};
        decoder.addSchema(0, 7000, sizeof(payload));
        for (uint32_t index = 0; index < 500; ++index)
            decoder.addEntry(0, 7000, index, {0, 7000, 0, 0, std::to_string(index)});
        QVERIFY(decoder.decode(0, 7000, bytesOf(payload)).has_value());
    }

    void randomLayoutsAreSafe() {
        std::mt19937_64 random(3);
        for (int round = 0; round < 500; ++round) {
            PayloadDecoder decoder;
            for (uint64_t id = 200; id < 203; ++id) {
                decoder.addSchema(0, id, random() % 64);
                for (uint32_t index = 0; index < 6; ++index) {
                    const uint64_t type = random() % 4 == 0 ? 200 + random() % 3 : random() % 101;
                    const uint64_t detail = random() % 3 == 0 ? random() : random() % 9;
                    const uint64_t offset = random() % 5 == 0 ? random() : random() % 70;
                    decoder.addEntry(0, id, index, {random() % 1024, type, detail, offset, "x"});
                }
            }
            std::vector<std::byte> payload(random() % 80);
            for (auto& byte : payload) byte = static_cast<std::byte>(random());
            const auto decoded = decoder.decode(0, 200, payload);
            QVERIFY(decoded.has_value());
            decoded->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        }
    }

    void readsNcclFieldsByName() {
        struct {
            uint64_t communicator, bytes;
            uint32_t operation;
        } payload{0xfeedfacecafebeef, 4096, 2};
        PayloadDecoder decoder;
        decoder.addSchema(3, schemaId + 5, sizeof(payload));
        decoder.addEntry(3, schemaId + 5, 0, {0, uint64Type, 0, 0, "NCCL communicator ID"});
        decoder.addEntry(3, schemaId + 5, 1, {0, uint64Type, 0, 8, "Message size [bytes]"});
        // An enumeration with an unknown layout.
        decoder.addEntry(3, schemaId + 5, 2, {0, schemaId + 11, 0, 16, "Reduction operation"});
        const auto bytes = bytesOf(payload).first(20);
        const NcclCall call =
            decodeNcclCall("ncclAllReduce", schemaId + 5, bytes, decoder.decode(3, schemaId + 5, bytes));
        QCOMPARE(call.operation, "AllReduce");
        QCOMPARE(call.communicator, std::optional<uint64_t>(0xfeedfacecafebeef));
        QCOMPARE(call.bytes, std::optional<int64_t>(4096));
        QCOMPARE(call.reduction, std::optional<int64_t>(2));
        QVERIFY(!call.describesCommunicator());
    }

    void typeWithoutLayoutIsAnEnumerationWithoutPadding() {
        struct {
            uint64_t communicator, bytes;
            uint32_t operation, padding;
        } payload{77, 8, 3, 0x7fca};
        PayloadDecoder decoder;
        decoder.addSchema(3, schemaId + 5, sizeof(payload));
        decoder.addEntry(3, schemaId + 5, 0, {0, uint64Type, 0, 0, "NCCL communicator ID"});
        decoder.addEntry(3, schemaId + 5, 1, {0, uint64Type, 0, 8, "Message size [bytes]"});
        decoder.addEntry(3, schemaId + 5, 2, {0, schemaId + 11, 0, 16, "Reduction operation"});
        const auto decoded = decoder.decode(3, schemaId + 5, bytesOf(payload));
        QCOMPARE((*decoded)["Reduction operation"].dump(), "3");
        const NcclCall call = decodeNcclCall("ncclAllReduce", schemaId + 5, bytesOf(payload), decoded);
        QCOMPARE(call.reduction, std::optional<int64_t>(3));
        // The same without any layout.
        QCOMPARE(decodeNcclCall("ncclAllReduce", schemaId + 5, bytesOf(payload), std::nullopt).reduction,
                 std::optional<int64_t>(3));
        // An id assigned by NVTX itself, and an array of such.
        struct {
            uint32_t one, more[2], padding;
        } several{1, {2, 3}, 0x7fca};
        decoder.addSchema(3, 9, sizeof(several));
        decoder.addEntry(3, 9, 0, {0, 1ull << 32, 0, 0, "one"});
        decoder.addEntry(3, 9, 1, {fixedArray, 1ull << 32, 2, 4, "more"});
        QCOMPARE(decoder.decode(3, 9, bytesOf(several))->dump(), R"({"one":1,"more":[2,3]})");
    }

    void enumerationValuesAreNamed() {
        constexpr uint64_t small = schemaId + 20, access = schemaId + 21, other = schemaId + 22;
        struct {
            uint32_t reduction, unknown;
            uint8_t level, negative;
            uint16_t padding;
            uint32_t access[4];
        } payload{2, 9, 1, 0xff, 0, {3, 4, 0, 11}};
        PayloadDecoder decoder;
        const auto names = [&](uint64_t id, uint64_t bytes) {
            decoder.addEnumeration(1, id, bytes);
            decoder.addEnumerator(1, id, 0, false, "None");
        };
        names(other, 0);
        decoder.addEnumerator(1, other, 2, false, "Max");
        names(small, 1);
        decoder.addEnumerator(1, small, 1, false, "Low");
        decoder.addEnumerator(1, small, ~0ull, false, "Negative");
        names(access, 4);
        for (int again = 0; again < 2; ++again) {
            decoder.addEnumerator(1, access, 1, true, "Read");
            decoder.addEnumerator(1, access, 2, true, "Write");
            decoder.addEnumerator(1, access, 4, true, "Execute");
        }
        decoder.addEnumerator(1, schemaId + 23, 4, true, "of none");
        decoder.addSchema(1, schemaId, sizeof(payload));
        decoder.addEntry(1, schemaId, 0, {0, other, 0, 0, "reduction"});
        decoder.addEntry(1, schemaId, 1, {0, other, 0, 0, "unknown"});
        decoder.addEntry(1, schemaId, 2, {0, small, 0, 0, "level"});
        decoder.addEntry(1, schemaId, 3, {0, small, 0, 0, "negative"});
        decoder.addEntry(1, schemaId, 4, {fixedArray, access, 4, 0, "access"});
        QCOMPARE(decoder.decode(1, schemaId, bytesOf(payload))->dump(),
                 R"({"reduction":"Max","unknown":9,"level":"Low","negative":"Negative",)"
                 R"("access":["Read|Write","Execute","None",11]})");
        QCOMPARE(decoder.decode(1, schemaId, bytesOf(payload), PayloadDecoder::Enumerators::Numbered)->dump(),
                 R"({"reduction":2,"unknown":9,"level":1,"negative":255,"access":[3,4,0,11]})");
    }

    void manyLongEnumerationNamesStaySmall() {
        const std::string longName(100'000, 'x');
        PayloadDecoder decoder;
        decoder.addEnumeration(0, 300, 8);
        for (uint64_t bit = 0; bit < 64; ++bit) decoder.addEnumerator(0, 300, uint64_t{1} << bit, true, longName);
        decoder.addSchema(0, 200, 16);
        for (uint32_t index = 0; index < 4000; ++index) decoder.addEntry(0, 200, index, {0, 300, 0, 8, ""});
        const uint64_t payload[2] = {~0ull, ~0ull};
        const auto decoded = decoder.decode(0, 200, bytesOf(payload));
        QVERIFY(decoded && decoded->dump().size() < 40'000'000);
    }

    void readsNcclFieldsByLayout() {
        struct {
            uint64_t communicator;
            int32_t ranks, rank, device;
        } made{77, 8, 3, 1};
        const NcclCall init = decodeNcclCall("ncclCommInitRank", schemaId, bytesOf(made).first(20), std::nullopt);
        QVERIFY(init.describesCommunicator());
        QCOMPARE(init.rank, std::optional<int64_t>(3));
        QCOMPARE(init.rankCount, std::optional<int64_t>(8));
        struct {
            uint64_t communicator, bytes;
            int32_t peer;
        } sent{77, 100, 4};
        const NcclCall send = decodeNcclCall("ncclSend", schemaId + 9, bytesOf(sent).first(20), std::nullopt);
        QCOMPARE(send.peer, std::optional<int64_t>(4));
        const NcclCall cut = decodeNcclCall("ncclSend", schemaId + 9, bytesOf(sent).first(10), std::nullopt);
        QCOMPARE(cut.communicator, std::optional<uint64_t>(77));
        QVERIFY(!cut.bytes.has_value());
    }
};

LANESCOPE_TEST(tst_PayloadDecoder, QCoreApplication)
#include "tst_PayloadDecoder.moc"
