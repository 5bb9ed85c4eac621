// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/python/FrameLayout.h"
#include "capture/python/OwnMemory.h"
#include "capture/python/codeFacts.h"
#include "capture/sample/SampleLog.h"

namespace lanescope::capture {

/// Reader of another process's memory, without stopping or affecting it (`process_vm_readv`). Reads page by page and
/// caches the latest, so that a sample of a thread costs a few system calls, whatever it reads. One thread.
class RemoteMemory final : public agent::python::Memory {
  public:
    /// Pages that a sample used, so that the next similar one reads them with one call.
    class Trail {
        friend class RemoteMemory;
        static constexpr size_t maxPages = 10;
        std::array<uint64_t, maxPages> pages_{};
        size_t count_ = 0;
    };

    explicit RemoteMemory(pid_t pid) : pid_(pid) {}

    /// Returns false if not all of it is mapped, or if reading is not allowed.
    bool read(uint64_t address, void* into, size_t bytes) const override;
    void forget();
    /// Empties the cache and reads the pages used after the last such call with `trail` at once.
    /// `trail` is written until the next call and must live until then.
    void begin(Trail& trail);
    void endTrail() { trail_ = nullptr; }
    /// Returns true if the system does not allow reading the process.
    bool isRefused() const { return isRefused_; }

  private:
    /// Size of the smallest page: a block is mapped completely or not at all.
    static constexpr uint64_t blockBytes = 4'096;
    static constexpr size_t blockCount = 20;
    struct Block {
        uint64_t number = 0;
        uint32_t round = 0;   ///< Sample in which it was read; 0: never.
        bool isUsed = false;  ///< In that sample.
        std::array<unsigned char, blockBytes> bytes{};
    };
    const Block* used(Block& block) const;
    const Block* block(uint64_t number) const;

    const pid_t pid_;
    uint32_t round_ = 1;
    mutable bool isRefused_ = false;
    mutable Trail* trail_ = nullptr;
    mutable std::vector<Block> blocks_;  // allocated with the first read
};

/// Address of a Python interpreter's lock, by the layout of its version or learned from a waiting
/// thread. That thread sleeps on a word in a structure that names the state of the lock's holder.
/// All versions since 3.9 have that form, and it is always validated. One thread.
class GilWatch {
  public:
    /// Sets the lock's address, if the memory there is valid for a lock.
    void setAddress(const agent::python::Memory& memory, uint64_t address, std::span<const uint64_t> states);
    bool isFound() const { return address_ != 0; }
    /// Returns true if a thread that sleeps in futex on the word at `address` waits for the lock.
    /// `states` are the states of the interpreter's threads.
    bool isWaitedFor(const agent::python::Memory& memory, uint64_t address, std::span<const uint64_t> states);
    /// Returns the state of the thread that holds the lock; nullopt if there is none or it is unknown.
    std::optional<uint64_t> holder(const agent::python::Memory& memory) const;

  private:
    bool isAt(const agent::python::Memory& memory, uint64_t address, std::span<const uint64_t> states) const;

    uint64_t address_ = 0;  ///< 0: not found yet.
};

/// A program or shared library in the memory of a process, whose names are looked up there. Opens
/// no file, so the process's root folder and deleted files do not matter. Accepts any bytes.
class LoadedImage {
  public:
    /// Returns the image whose file header is at `address`; nullopt if there is none with names.
    static std::optional<LoadedImage> at(const agent::python::Memory& memory, uint64_t address);

    struct Symbol {
        uint64_t address = 0, bytes = 0;
    };
    /// Returns its own symbol `name`; nullopt if it has none. About twenty reads.
    std::optional<Symbol> find(std::string_view name) const;

  private:
    explicit LoadedImage(const agent::python::Memory& memory) : memory_(&memory) {}
    bool readDynamic(uint64_t address, uint64_t bytes);
    bool isNamed(uint64_t text, std::string_view name) const;

    const agent::python::Memory* memory_;
    uint64_t base_ = 0;  ///< Offset from linked addresses.
    uint64_t symbols_ = 0, names_ = 0, hashes_ = 0;
};

/// The Python interpreter in a process: its address and layout.
struct PythonImage {
    uint64_t runtime = 0;  ///< `_PyRuntime`.
    agent::python::KnownTypes types;
    agent::python::FrameLayout layout;
    std::string version;  ///< "3.11".
};

struct ImagesOfProcess {
    std::shared_ptr<const PythonImage> python;  ///< Null if there is no readable one.
    std::string unknownVersion;                 ///< Version of an unsupported interpreter: "3.16".
    bool isHidden = false;                      ///< A file called Python is loaded, but its memory is not readable.
    bool usesCuda = false;                      ///< The driver or our agent is loaded.
};
/// Returns the interpreter and libraries in the memory map of a process; empty if it cannot be read. Takes 1 ms with
/// thousands of libraries.
ImagesOfProcess readImages(pid_t pid, const RemoteMemory& memory);

struct StackReading {
    bool isWanted = true;
    uint64_t whole = 0;         ///< Read from the innermost frame to the root.
    uint64_t inconsistent = 0;  ///< Changed during the reading and its repetitions.
};

/// Receiver of the functions and stacks that a `PythonProcess` finds; as the functions of `SampleLog` of these names.
struct StackStore {
    std::function<uint32_t(std::string_view function, std::string_view file)> code;
    std::function<uint32_t(uint32_t parent, uint32_t code, int32_t line)> stack;
};

/// Reader of the Python stacks of one process's threads, from outside: nothing in it is stopped, called or changed. A
/// stack that changed meanwhile is detected as inconsistent, and never guessed. One thread.
class PythonProcess {
  public:
    PythonProcess(std::shared_ptr<const PythonImage> image, RemoteMemory& memory, SampleLog& log,
                  StackReading& reading);
    PythonProcess(std::shared_ptr<const PythonImage> image, RemoteMemory& memory, StackStore store,
                  StackReading& reading);

    void findThreads(int64_t nowNs);
    bool isEmpty() const { return stateOf_.empty(); }
    bool hasThread(pid_t thread) const { return stateOf_.contains(thread); }
    /// Returns the number of the thread's stack in the log or store, which receives the stack if it is new.
    /// Returns 0 if the thread runs no Python, or if the stack was inconsistent. During garbage
    /// collection the innermost frame states that. 5 to 10 us.
    uint32_t stackOf(pid_t thread);
    /// Returns true if a thread that sleeps on the word at `address` waits for the GIL.
    bool isGil(uint64_t address) { return gil_.isWaitedFor(memory_, address, states_); }
    pid_t gilHolder() const;

  private:
    struct KnownCode {
        uint64_t identity = 0;
        uint32_t number = 0;   ///< In the log.
        uint32_t checked = 0;  ///< Last check, as `round_` counts.
    };
    enum class Outcome : uint8_t { Whole, Inconsistent, None };
    Outcome tryStack(pid_t thread, uint64_t state, uint32_t& number);
    void findGil();
    bool isCollecting(uint64_t state) const;
    bool isStill(pid_t thread, uint64_t state) const;
    pid_t threadOf(uint64_t state) const;
    bool addFrame(const agent::python::Frame& frame, uint32_t& number);

    const std::shared_ptr<const PythonImage> image_;
    RemoteMemory& memory_;
    const StackStore store_;
    StackReading& reading_;
    GilWatch gil_;
    uint64_t interpreter_ = 0;  ///< The main one; 0: not known yet.
    std::unordered_map<pid_t, uint64_t> stateOf_;
    std::vector<uint64_t> states_;
    std::unordered_map<uint64_t, uint32_t> known_;  ///< Whole stacks by a hash of their frames.
    std::unordered_map<uint64_t, int32_t> lines_;   ///< By code, its identity and instruction.
    uint32_t round_ = 0;                            ///< During one round, cached code facts are valid.
    int64_t roundBegunNs_ = 0;
    std::unordered_map<uint64_t, KnownCode> codes_;  ///< By address.
    std::vector<agent::python::Frame> frames_;
};

}  // namespace lanescope::capture
