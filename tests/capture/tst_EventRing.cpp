// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "capture/agent/EventRing.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::agent;

namespace {

bool put(EventRing& ring, const std::string& text) {
    void* room = ring.reserve(text.size());
    if (!room) return false;
    std::memcpy(room, text.data(), text.size());
    ring.commit();
    return true;
}

/// Entries are padded to the ring's alignment, so the text carries its own length.
std::string entry(uint64_t number, size_t length) {
    std::string text(16 + length, static_cast<char>('a' + number % 26));
    const uint64_t head[2] = {number, length};
    std::memcpy(text.data(), head, sizeof head);
    return text;
}

std::string read(const void* memory, size_t bytes) {
    uint64_t head[2];
    std::memcpy(head, memory, sizeof head);
    if (16 + head[1] > bytes) return "entry longer than its room";
    return std::string(static_cast<const char*>(memory), 16 + head[1]);
}

}  // namespace

class tst_EventRing : public QObject {
    Q_OBJECT

  private slots:
    void refusesEverythingWithoutMemory() {
        EventRing ring;
        QVERIFY(!put(ring, "x"));
        QCOMPARE(ring.takeRefused(), 1u);
        QCOMPARE(ring.takeRefused(), 0u);
    }

    void matchesAPlainQueue() {
        EventRing ring;
        QVERIFY(ring.create());
        std::deque<std::string> queue;
        std::mt19937 random(1);
        uint64_t number = 0, refused = 0, taken = 0;
        for (int round = 0; round < 4000; ++round) {
            const int puts = static_cast<int>(random() % 40);
            for (int i = 0; i < puts; ++i) {
                const std::string text = entry(number++, random() % (random() % 20 == 0 ? 9000 : 200));
                if (put(ring, text)) {
                    queue.push_back(text);
                } else {
                    ++refused;
                }
            }
            if (random() % 4) continue;
            ring.drain(ring.committed(), [&](const void* memory, size_t bytes) {
                QVERIFY(!queue.empty());
                QCOMPARE(read(memory, bytes), queue.front());
                QCOMPARE(reinterpret_cast<uintptr_t>(memory) % 8, uintptr_t{0});
                queue.pop_front();
                ++taken;
            });
            QVERIFY(queue.empty());
        }
        QCOMPARE(ring.takeRefused(), refused);
        QVERIFY(taken > 10'000);
    }

    void acceptsTheLongestEntryAtAnyPosition() {
        EventRing ring;
        QVERIFY(ring.create());
        for (size_t shift = 0; shift < 3000; ++shift) {
            QVERIFY(put(ring, entry(shift, shift % 97)));
            QVERIFY(put(ring, entry(shift, EventRing::maxEntryBytes - 64)));
            int count = 0;
            ring.drain(ring.committed(), [&](const void* memory, size_t bytes) {
                QVERIFY(read(memory, bytes).size() >= 16);
                ++count;
            });
            QCOMPARE(count, 2);
        }
        QCOMPARE(ring.reserve(EventRing::maxEntryBytes), nullptr);
        QCOMPARE(ring.takeRefused(), 1u);
    }

    void refusesNewEntriesWhenFull() {
        EventRing ring;
        QVERIFY(ring.create());
        uint64_t kept = 0;
        while (put(ring, entry(kept, 1000))) ++kept;
        QVERIFY(kept > 900 && ring.isHalfFull());
        uint64_t next = 0;
        ring.drain(ring.committed(),
                   [&](const void* memory, size_t bytes) { QCOMPARE(read(memory, bytes), entry(next++, 1000)); });
        QCOMPARE(next, kept);
        QVERIFY(!ring.isHalfFull());
        QVERIFY(put(ring, "again"));
    }

    void passesEntriesBetweenThreads() {
        EventRing ring;
        QVERIFY(ring.create());
        constexpr uint64_t total = 300'000;
        std::atomic<uint64_t> refused{0};
        std::atomic<bool> done{false};
        std::thread producer([&] {
            std::mt19937 random(3);
            for (uint64_t number = 0; number < total; ++number) {
                if (!put(ring, entry(number, random() % 300))) refused.fetch_add(1);
            }
            done.store(true);
        });
        uint64_t taken = 0, last = 0;
        bool inOrder = true, whole = true;
        const auto drain = [&] {
            ring.drain(ring.committed(), [&](const void* memory, size_t bytes) {
                uint64_t number;
                std::memcpy(&number, memory, sizeof number);
                inOrder = inOrder && (taken == 0 || number > last);
                last = number;
                const std::string text = read(memory, bytes);
                whole = whole && text == entry(number, text.size() - 16);
                ++taken;
            });
        };
        while (!done.load()) drain();
        producer.join();
        drain();
        QVERIFY(inOrder);
        QVERIFY(whole);
        QCOMPARE(taken + refused.load(), total);
        QCOMPARE(ring.takeRefused(), refused.load());
    }
};

LANESCOPE_TEST(tst_EventRing, QCoreApplication)
#include "tst_EventRing.moc"
