// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
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
#include "capture/threads/ForeignMemory.h"

namespace lanescope::capture {

/// Where the lock of a Python interpreter lies, as the layout of its version says or learnt from a
/// thread that waits for it: the word on which it sleeps lies in a structure that names the state
/// of the thread that holds the lock. All since 3.9 have it in that form, which either has to show.
/// One thread.
class GilWatch {
  public:
    /// Takes the lock to lie there, if that is what lies there.
    void suppose(const agent::python::Memory& memory, uint64_t address,
                 std::span<const uint64_t> states);
    bool isFound() const { return address_ != 0; }
    /// Whether a thread that sleeps in futex on the word at `address` waits for the lock. `states`
    /// are those of the threads of the interpreter.
    bool isWaitedFor(const agent::python::Memory& memory, uint64_t address,
                     std::span<const uint64_t> states);
    /// The state of the thread that holds the lock; nothing if none does, or if that is not known.
    std::optional<uint64_t> holder(const agent::python::Memory& memory) const;

  private:
    bool isAt(const agent::python::Memory& memory, uint64_t address,
              std::span<const uint64_t> states) const;

    uint64_t address_ = 0;  ///< 0: not found yet.
};

/// A program or shared library as it lies in the memory of a process, whose names are looked up
/// there: no file is opened, so it does not matter which root folder the process sees or whether
/// the file is gone. Any bytes may lie there.
class LoadedImage {
  public:
    /// The image whose file header lies at `address`; nothing if there is none that names
    /// anything.
    static std::optional<LoadedImage> at(const agent::python::Memory& memory, uint64_t address);

    struct Symbol {
        uint64_t address = 0, bytes = 0;
    };
    /// What it calls `name` itself; nothing if it does not. Some twenty reads.
    std::optional<Symbol> find(std::string_view name) const;

  private:
    explicit LoadedImage(const agent::python::Memory& memory) : memory_(&memory) {}
    bool readDynamic(uint64_t address, uint64_t bytes);
    bool isNamed(uint64_t text, std::string_view name) const;

    const agent::python::Memory* memory_;
    uint64_t base_ = 0;  ///< Added to the addresses that it was linked with.
    uint64_t symbols_ = 0, names_ = 0, hashes_ = 0;
};

/// The Python interpreter in a process: where it lies and how it keeps its stacks.
struct PythonImage {
    uint64_t runtime = 0;  ///< `_PyRuntime`.
    agent::python::KnownTypes types;
    agent::python::FrameLayout layout;
    std::string version;  ///< "3.11".
};

/// What a look into the memory map of a process tells.
struct ImagesOfProcess {
    std::shared_ptr<const PythonImage> python;  ///< Null if there is none that can be read.
    std::string unknownVersion;                 ///< "3.16": there is one whose stacks nobody knows.
    bool isHidden = false;  ///< What is called Python is there, and nobody may read its memory.
    bool usesCuda = false;  ///< The driver or our agent is loaded.
};
/// A millisecond for a process with thousands of libraries.
ImagesOfProcess lookForImages(pid_t pid, const ForeignMemory& memory);

/// Whether stacks are read, and how it went, all in all.
struct StackReading {
    bool isWanted = true;
    uint64_t whole = 0;  ///< Read from the innermost frame to the root.
    uint64_t torn = 0;   ///< Changed while they were read, also when that was tried again.
};

/// Reads the Python stacks of the threads of one process, from outside: nothing in it is stopped,
/// called or changed. A stack that changed meanwhile is torn, which shows, and is never guessed.
/// One thread.
class PythonProcess {
  public:
    PythonProcess(std::shared_ptr<const PythonImage> image, ForeignMemory& memory, SampleLog& log,
                  StackReading& reading);

    /// Looks which threads of the process run Python. 1 us a thread.
    void findThreads(int64_t nowNs);
    bool isEmpty() const { return stateOf_.empty(); }
    bool hasThread(pid_t thread) const { return stateOf_.contains(thread); }
    /// The number of the thread's stack in the log, where it is written when it is new; 0 if it
    /// runs no Python, or if the stack was torn. While it collects garbage the innermost frame says
    /// so. 5 to 10 us.
    uint32_t stackOf(pid_t thread);
    /// Whether a thread that sleeps on the word at `address` waits for the GIL.
    bool isGil(uint64_t address) { return gil_.isWaitedFor(memory_, address, states_); }
    /// Who holds the GIL; 0 if nobody does, or if that is not known.
    pid_t gilHolder() const;

  private:
    struct KnownCode {
        uint64_t identity = 0;
        uint32_t number = 0;   ///< In the log.
        uint32_t checked = 0;  ///< When it was last looked at, as `round_` counts.
    };
    enum class Outcome : uint8_t { Whole, Torn, None };
    Outcome tryStack(pid_t thread, uint64_t state, uint32_t& number);
    void findGil();
    bool isCollecting(uint64_t state) const;
    bool isStill(pid_t thread, uint64_t state) const;
    pid_t threadOf(uint64_t state) const;
    bool addFrame(const agent::python::Frame& frame, uint32_t& number);

    const std::shared_ptr<const PythonImage> image_;
    ForeignMemory& memory_;
    SampleLog& log_;
    StackReading& reading_;
    GilWatch gil_;
    uint64_t interpreter_ = 0;  ///< The main one; 0: not known yet.
    std::unordered_map<pid_t, uint64_t> stateOf_;
    std::vector<uint64_t> states_;
    std::unordered_map<uint64_t, uint32_t> known_;  ///< Whole stacks by a hash of their frames.
    std::unordered_map<uint64_t, int32_t> lines_;   ///< By code, its identity and instruction.
    uint32_t round_ = 0;  ///< For the time of one what is known of code is believed.
    int64_t roundBegunNs_ = 0;
    std::unordered_map<uint64_t, KnownCode> codes_;  ///< By address.
    std::vector<agent::python::Frame> frames_;
};

}  // namespace lanescope::capture
