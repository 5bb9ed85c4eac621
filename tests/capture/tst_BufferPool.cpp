// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <mutex>

#include "capture/cupti/BufferPool.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::agent;

class tst_BufferPool : public QObject {
    Q_OBJECT

    static void verifyIsDiscard(BufferPool& pool, const BufferPool::Buffer& buffer) {
        QVERIFY(buffer.memory && BufferPool::isDiscard(buffer.memory));
        QVERIFY(!pool.owns(buffer.memory));
        QCOMPARE(buffer.bytes, BufferPool::discardBytes);
        QCOMPARE(reinterpret_cast<uintptr_t>(buffer.memory) % 8, uintptr_t{0});
        std::memset(buffer.memory, 1, buffer.bytes);  // CUPTI writes to it as to any other
        pool.returnBuffer(buffer.memory, buffer.bytes);
    }

  private slots:
    void returnsZeroedBuffersOnce() {
        auto pool = std::make_unique<BufferPool>();
        pool->warm();
        std::set<uint8_t*> out;
        for (int round = 0; round < 20; ++round) {
            uint8_t* buffer = pool->take().memory;
            QVERIFY(buffer && out.insert(buffer).second);
            QCOMPARE(reinterpret_cast<uintptr_t>(buffer) % 8, uintptr_t{0});
            QVERIFY(std::all_of(buffer, buffer + 4096, [](uint8_t byte) { return byte == 0; }));
            std::memset(buffer, 0xff, 4096);
        }
        for (uint8_t* buffer : out) pool->returnBuffer(buffer, 4096);
        for (int round = 0; round < 20; ++round) {
            uint8_t* buffer = pool->take().memory;
            QVERIFY(out.count(buffer));
            QVERIFY(std::all_of(buffer, buffer + 8192, [](uint8_t byte) { return byte == 0; }));
        }
    }

    void discardsWhenAllAreInUse() {
        auto pool = std::make_unique<BufferPool>();
        std::vector<uint8_t*> out;
        for (size_t i = 0; i < BufferPool::maxBuffers; ++i) {
            const BufferPool::Buffer buffer = pool->take();
            QCOMPARE(buffer.bytes, BufferPool::bufferBytes);
            out.push_back(buffer.memory);
            QVERIFY(out.back() && !BufferPool::isDiscard(out.back()));
        }
        const BufferPool::Buffer discard = pool->take();
        verifyIsDiscard(*pool, discard);
        QCOMPARE(pool->take().memory, discard.memory);
        pool->returnBuffer(out.back(), 0);
        QCOMPARE(pool->take().memory, out.back());
    }

    void discardsWithoutMemory() {
        auto pool = std::make_unique<BufferPool>();
        rlimit before{};
        QCOMPARE(::getrlimit(RLIMIT_AS, &before), 0);
        const rlimit nothingMore{0, before.rlim_max};
        QCOMPARE(::setrlimit(RLIMIT_AS, &nothingMore), 0);
        pool->warm();
        const BufferPool::Buffer first = pool->take();
        const BufferPool::Buffer second = pool->take();
        ::setrlimit(RLIMIT_AS, &before);
        verifyIsDiscard(*pool, first);
        QCOMPARE(second.memory, first.memory);
        // Once memory is available again, nothing more is lost.
        const BufferPool::Buffer later = pool->take();
        QVERIFY(later.memory && !BufferPool::isDiscard(later.memory));
        QVERIFY(pool->owns(later.memory));
    }

    void ignoresUnknownBuffers() {
        auto pool = std::make_unique<BufferPool>();
        std::vector<uint8_t> unknown(64, 7);
        pool->returnBuffer(unknown.data(), unknown.size());
        QCOMPARE(unknown[0], uint8_t{7});
    }

    void neverReturnsOneBufferTwice() {
        auto pool = std::make_unique<BufferPool>();
        std::mutex mutex;  // the queue to the returning thread
        std::vector<uint8_t*> completed;
        std::atomic<bool> done{false};
        std::atomic<int> stolen{0}, taken{0};
        std::vector<std::thread> takers;
        const QDeadlineTimer end{60'000};
        for (int t = 1; t <= 4; ++t) {
            takers.emplace_back([&, t] {
                for (int own = 0; own < 2000 && !end.hasExpired();) {
                    uint8_t* buffer = pool->take().memory;
                    if (BufferPool::isDiscard(buffer)) {
                        std::this_thread::yield();  // until the writer has a core
                        continue;
                    }
                    ++own;
                    if (*buffer != 0) ++stolen;
                    *buffer = static_cast<uint8_t>(t);
                    if (*buffer != t) ++stolen;
                    ++taken;
                    const std::lock_guard lock(mutex);
                    completed.push_back(buffer);
                }
            });
        }
        std::thread writer([&] {
            std::vector<uint8_t*> batch;
            while (!done.load() || !batch.empty()) {
                for (uint8_t* buffer : batch) pool->returnBuffer(buffer, 64);
                pool->warm();
                const std::lock_guard lock(mutex);
                batch = std::exchange(completed, {});
            }
        });
        for (std::thread& taker : takers) taker.join();
        done.store(true);
        writer.join();
        QCOMPARE(stolen.load(), 0);
        QCOMPARE(taken.load(), 8000);
    }
};

LANESCOPE_TEST(tst_BufferPool, QCoreApplication)
#include "tst_BufferPool.moc"
