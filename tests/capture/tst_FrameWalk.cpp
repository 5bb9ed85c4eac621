// SPDX-License-Identifier: Apache-2.0
#include "capture/python/codeFacts.h"
#include "capture/python/frameWalk.h"
#include "tests/support/runTest.h"

using namespace lanescope::agent::python;

namespace {

uint64_t address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

std::vector<FrameLayout> layouts() {
    std::vector<FrameLayout> all;
    for (const int minor : {9, 10, 11, 12}) all.push_back(*layoutOf(3, minor));
    return all;
}

/// Plausible layout numbers of an interpreter.
std::array<uint64_t, runtimeBytes / 8> told(int minor) {
    std::array<uint64_t, runtimeBytes / 8> numbers{};
    std::memcpy(numbers.data(), "xdebugpy", 8);
    numbers[1] = 0x03000000u | static_cast<uint64_t>(minor) << 16 | 0xf0;
    return numbers;
}

}  // namespace

class tst_FrameWalk : public QObject {
    Q_OBJECT

  private slots:
    void survivesRandomImages() {
        std::mt19937_64 random(7);
        constexpr size_t words = 4'096, objectBytes = 256, objects = words * 8 / objectBytes;
        std::vector<uint64_t> image(words);
        const uint64_t base = address(image.data());
        const KnownTypes types{base + 64, base + 128, base + 192};
        std::array<Frame, 64> frames;
        size_t found = 0, described = 0;
        for (int round = 0; round < 4'000; ++round) {
            for (uint64_t& word : image) {
                const uint64_t kind = random() % 12;
                // Mostly addresses of objects in the image, so that chains and cycles occur.
                word = kind < 9     ? base + random() % objects * objectBytes
                       : kind == 9  ? random()
                       : kind == 10 ? random() % 300
                                    : base + random() % (words * 8);
            }
            for (size_t object = 0; object < objects; ++object) {
                const uint64_t type = random() % 8;
                if (type < 7)
                    image[object * objectBytes / 8 + 1] = type < 2 ? types.code : type < 4 ? types.text : types.bytes;
                // Text objects: a length, and the compact flag.
                image[object * objectBytes / 8 + 2] = random() % 3'000;
                constexpr std::array<uint64_t, 5> states{100, 36, 40, 48, 7};
                image[object * objectBytes / 8 + 4] = states[random() % states.size()];
            }
            for (const FrameLayout& layout : layouts()) {
                const Walked walked =
                    walkFrames(CarefulMemory(), layout, base + random() % objects * objectBytes, frames);
                QVERIFY(walked.count <= frames.size());
                found += walked.count;
                CodeFacts facts;
                for (uint32_t i = 0; i < walked.count; ++i) {
                    if (!readCode(CarefulMemory(), layout, types, frames[i].code, true, facts)) continue;
                    ++described;
                    QVERIFY(facts.functionBytes <= CodeFacts::maxFunctionBytes);
                    QVERIFY(facts.fileBytes <= CodeFacts::maxFileBytes);
                    QVERIFY(lineOfFrame(CarefulMemory(), layout, facts, frames[i]) >= 0);
                }
            }
        }
        qInfo("%zu frames, %zu of them with code", found, described);
        QVERIFY(found > 1'000 && described > 0);
    }

    void endsInACycle() {
        for (const FrameLayout& layout : layouts()) {
            std::vector<uint64_t> image(512);
            const uint64_t frame = address(image.data()) + 1'024, code = frame + 512;
            const auto put = [&](uint64_t at, uint64_t value) {
                std::memcpy(reinterpret_cast<void*>(at), &value, sizeof value);
            };
            const uint64_t state = address(image.data());
            if (layout.frameOfThreadFrame == FrameLayout::none) {
                put(state + layout.threadFrame, frame);
            } else {
                put(state + layout.threadFrame, state + 256);
                put(state + 256 + layout.frameOfThreadFrame, frame);
            }
            put(frame + layout.code, code);
            put(frame + layout.previous, frame);
            for (const uint16_t text : {layout.file, layout.name, layout.lineTable}) put(code + text, code + 256);
            std::array<Frame, 32> frames;
            const Walked plain = walkFrames(PlainMemory(), layout, state, frames);
            QCOMPARE(plain.count, 32u);
            QVERIFY(plain.isCut);
            // An interpreter-owned frame that points to itself is no frame, and ends as well.
            if (layout.owner == FrameLayout::none) continue;
            *reinterpret_cast<uint8_t*>(frame + layout.owner) = 3;
            const Walked none = walkFrames(PlainMemory(), layout, state, frames);
            QCOMPARE(none.count, 0u);
            QVERIFY(!none.isWhole);
        }
    }

    /// The fast paths for common layouts match the generic one.
    void commonLayoutsMatchTheGenericReader() {
        std::mt19937_64 random(3);
        for (const uint16_t owner : {uint16_t{70}, uint16_t{74}}) {
            FrameLayout usual = *layoutOf(3, 12);
            usual.owner = owner;
            QCOMPARE(ReleasedLayout12::isThatOf(usual), owner == 70);
            QCOMPARE(ReleasedLayout14::isThatOf(usual), owner == 74);
            FrameLayout other = usual;
            other.version -= 4;
            QVERIFY(!ReleasedLayout12::isThatOf(other) && !ReleasedLayout14::isThatOf(other));
            constexpr size_t frameWords = 16, codeWords = 32;
            for (size_t count = 0; count < 80; ++count) {
                // A thread state that leads to that many frames, each with its own code.
                std::vector<uint64_t> image(16 + count * (frameWords + codeWords));
                for (uint64_t& word : image) word = random() << 3;
                image[usual.threadFrame / 8] = address(image.data() + 8);
                image[8] = count > 0 ? address(image.data() + 16) : 0;
                for (size_t i = 0; i < count; ++i) {
                    uint64_t* const frame = image.data() + 16 + i * (frameWords + codeWords);
                    frame[0] = address(frame + frameWords);
                    frame[1] = i + 1 < count ? address(frame + frameWords + codeWords) : uint64_t{0};
                    reinterpret_cast<uint8_t*>(frame)[owner] = static_cast<uint8_t>(random() % 5);
                }
                const auto walk = [&](const auto& memory) {
                    std::vector<std::array<uint64_t, 3>> frames;
                    const Walked walked = visitFrames(memory, usual, address(image.data()), 40, [&](const Frame& at) {
                        frames.push_back({at.code, at.instruction, at.identity});
                    });
                    return std::tuple(walked.count, walked.isCut, walked.isWhole, frames);
                };
                QVERIFY(walk(PlainMemory()) == walk(CarefulMemory()));
            }
        }
    }

    void readsOnlyExistingMemory() {
        uint64_t value = 5, got = 0;
        QVERIFY(CarefulMemory().get(address(&value), got));
        QCOMPARE(got, value);
        QVERIFY(!CarefulMemory().get(0, got));
        QVERIFY(!CarefulMemory().get(8, got));
        QVERIFY(!CarefulMemory().get(uint64_t{1} << 46 | 8, got));
        QVERIFY(!CarefulMemory().get(~uint64_t{7}, got));
        QVERIFY(!CarefulMemory().get(uint64_t{0xffff800000000000}, got));
    }

    void acceptsReleasedVersionsOnly() {
        QVERIFY(!layoutOf(2, 7));
        QVERIFY(!layoutOf(3, 8));
        QVERIFY(!layoutOf(3, 13));
        QVERIFY(!layoutOf(4, 9));
        auto numbers = told(13);
        const auto bytes = [&numbers] { return std::as_bytes(std::span(numbers)); };
        QVERIFY(!layoutOfRuntime(bytes(), 3, 13));  // its frames have no room for any field
        QVERIFY(!layoutOfRuntime(bytes().first(100), 3, 13));
        QVERIFY(!layoutOfRuntime(bytes(), 3, 14));
        QVERIFY(!layoutOfRuntime(bytes(), 3, 15));
    }

    /// Offsets of a 3.13, at the place of a 3.14.
    void readsTheInterpretersOwnOffsets() {
        struct Place {
            size_t in13, in14;
            uint64_t value;
        };
        // Offsets in the structure that each version exports.
        const std::array<Place, 23> places{{{23, 26, 72},   {28, 31, 80},  {29, 32, 8},   {30, 33, 0},   {31, 34, 56},
                                            {33, 36, 70},   {34, 39, 208}, {35, 40, 112}, {37, 42, 128}, {38, 43, 136},
                                            {39, 44, 68},   {43, 48, 200}, {45, 51, 8},   {65, 75, 16},  {66, 76, 32},
                                            {67, 77, 64},   {68, 78, 32},  {69, 79, 16},  {70, 80, 40},  {24, 27, 152},
                                            {10, 11, 7400}, {14, 15, 16},  {72, 82, 200}}};
        for (const int minor : {13, 14}) {
            auto numbers = told(minor);
            for (const Place& place : places) numbers[minor == 13 ? place.in13 : place.in14] = place.value;
            const auto layout = layoutOfRuntime(std::as_bytes(std::span(numbers)), 3, minor);
            QVERIFY2(layout, qPrintable(QString::number(minor)));
            QCOMPARE(int(layout->threadFrame), 72);
            QCOMPARE(int(layout->collecting), 7600);
            QCOMPARE(int(layout->pointerToGil), 16);
            QCOMPARE(int(layout->threadId), 152);
            QCOMPARE(int(layout->previous), 8);
            QCOMPARE(int(layout->instruction), 56);
            QCOMPARE(int(layout->owner), 70);
            QCOMPARE(int(layout->file), 112);
            QCOMPARE(int(layout->name), 128);
            QCOMPARE(int(layout->lineTable), 136);
            QCOMPARE(int(layout->firstLine), 68);
            QCOMPARE(int(layout->bytecode), 200);
            QCOMPARE(int(layout->bytesData), 32);
            QCOMPARE(int(layout->asciiText), 40);
            // A preview version may lay out its frames differently.
            numbers[1] = 0x030d00a0u;
            QVERIFY(!layoutOfRuntime(std::as_bytes(std::span(numbers)), 3, minor));
        }
    }

    void survivesRandomLineTables() {
        std::mt19937 random(11);
        std::vector<uint8_t> table(3'000);
        for (int round = 0; round < 3'000; ++round) {
            for (uint8_t& byte : table) byte = static_cast<uint8_t>(random());
            for (const LineTableKind kind : {LineTableKind::Pairs, LineTableKind::Ranges, LineTableKind::Locations}) {
                const size_t bytes = random() % table.size();
                QVERIFY(lineOf(CarefulMemory(), kind, address(table.data()), bytes, 10,
                               static_cast<int64_t>(random() % 20'000)) >= 0);
            }
        }
        QCOMPARE(lineOf(CarefulMemory(), LineTableKind::Locations, 16, 1'000, 10, 4), 0);
        QCOMPARE(lineOf(CarefulMemory(), LineTableKind::Locations, address(table.data()), 10, 77, -1), 77);
    }
};

LANESCOPE_TEST(tst_FrameWalk, NoApplication)
#include "tst_FrameWalk.moc"
