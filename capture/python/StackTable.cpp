// SPDX-License-Identifier: Apache-2.0
#include "capture/python/StackTable.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "capture/python/OwnMemory.h"
#include "model/format/threadStates.h"

namespace lanescope::agent::python {

namespace {

/// Returns the path of an interpreter library that was opened locally, so that its symbols are not
/// global; empty if there is none.
std::string privateLibrary() {
    std::string found;
    const auto search = [](dl_phdr_info* info, size_t, void* into) {
        const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
        const std::string_view name = path.substr(path.rfind('/') + 1);
        if (name.substr(0, 11) != "libpython3.") return 0;
        *static_cast<std::string*>(into) = path;
        return 1;
    };
    ::dl_iterate_phdr(search, &found);
    return found;
}

/// Returns the hash of a frame at `depth` frames from the counted end, which calls `module` or none. The sum over a
/// stack is its key; two different stacks have equal keys with a probability of 2^-63.
uint64_t share(const Frame& frame, uint64_t depth, uint64_t module) {
    __extension__ using Product = unsigned __int128;
    const uint64_t where = frame.code ^ (depth + 1) * 0x9e3779b97f4a7c15;
    const uint64_t which = frame.instruction ^ (frame.identity ^ module << 16) * 0xd6e8feb86659fd93;
    const Product product = Product{where} * which;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// Returns the module that a frame calls, given the code that calls modules; 0 for most frames.
inline uint64_t moduleOf(const FrameLayout& layout, const Frame& frame, uint64_t moduleCall) {
    uint64_t self = 0;
    if (frame.code == moduleCall) [[unlikely]]
        PlainMemory::get(frame.at + layout.firstLocal, self);
    return self & ~uint64_t{7};
}

/// Returns the identity of a module: its address and class, which a later module at the address may not share, and the
/// number of times that modules were made.
inline uint64_t identityOf(const FrameLayout& layout, uint64_t module, uint32_t generation) {
    uint64_t type = 0;
    if (isPlausible(module)) PlainMemory::get(module + layout.type, type);
    return module ^ type * 0x9e3779b97f4a7c15 ^ uint64_t { generation } << 32;
}

constexpr uint64_t noModuleCall = 1;
constexpr uint64_t seed = 0x2545f4914f6cdd1d, truncationSeed = 0x9fb21c651e98df25;

/// Returns a reserved unused number, else a new one.
uint32_t take(uint32_t& spare, std::atomic<uint32_t>& last) {
    if (spare == 0) spare = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return spare;
}

}  // namespace

struct Interpreter::Names {
    void* handle = RTLD_DEFAULT;

    template <class Function>
    bool find(Function& function, const char* name) const {
        function = reinterpret_cast<Function>(::dlsym(handle, name));
        return function != nullptr;
    }
    bool find(uint64_t& address, const char* name) const {
        address = reinterpret_cast<uintptr_t>(::dlsym(handle, name));
        return address != 0;
    }
};

void Interpreter::search() {
    if (state() != State::Absent) return;
    Names names;
    void* (*threadStateOf)() = nullptr;
    if (!names.find(threadStateOf, "PyGILState_GetThisThreadState")) {
        const std::string path = privateLibrary();
        names.handle = path.empty() ? nullptr : ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        // Stays open, so that the memory read from it stays mapped.
        if (!names.handle || !names.find(threadStateOf, "PyGILState_GetThisThreadState")) return;
    }
    const char* (*versionOf)() = nullptr;
    const void* runtime = nullptr;
    if (!names.find(versionOf, "Py_GetVersion")) return;
    const std::string_view version = versionOf();
    version_ = version.substr(0, version.find(' '));
    names.find(runtime, "_PyRuntime");
    if (!names.find(isFinalizing_, "Py_IsFinalizing")) names.find(isFinalizing_, "_Py_IsFinalizing");
    int major = 0, minor = 0;
    const bool isKnown = readVersion(version, major, minor) && isFinalizing_ &&
                         names.find(types_.code, "PyCode_Type") && names.find(types_.text, "PyUnicode_Type") &&
                         names.find(types_.bytes, "PyBytes_Type") && takeLayout(runtime, major, minor);
    if (!isKnown) return refuse(Refusal::UnknownVersion);
    threadStateOf_ = threadStateOf;
    state_.store(State::Found, std::memory_order_release);
}

void Interpreter::takeFrom(const Interpreter& parents) {
    if (parents.state() != State::Found) return;
    layout_ = parents.layout_;
    types_ = parents.types_;
    version_ = parents.version_;
    threadStateOf_ = parents.threadStateOf_;
    isFinalizing_ = parents.isFinalizing_;
    state_.store(State::Found, std::memory_order_release);
}

bool Interpreter::takeLayout(const void* runtime, int major, int minor) {
    std::optional<FrameLayout> layout = layoutOf(major, minor);
    if (!layout && runtime) {
        std::array<std::byte, runtimeBytes> told{};
        if (CarefulMemory().read(reinterpret_cast<uintptr_t>(runtime), told.data(), told.size()))
            layout = layoutOfRuntime(told, major, minor);
    }
    if (layout) layout_ = *layout;
    return layout.has_value();
}

uint64_t Interpreter::threadState() {
    // While it ends, it frees memory that its other threads still use.
    if (isFinalizing_() != 0) return 0;
    const auto state = reinterpret_cast<uintptr_t>(threadStateOf_());
    if (!isPlausible(state)) return 0;
    // A state that this thread made for another thread is registered as if it were this thread's.
    uint64_t owner = 0;
    PlainMemory().get(state + layout_.threadId, owner);
    if (owner == static_cast<uint64_t>(::pthread_self())) [[likely]]
        return state;
    // If every thread appears to have a foreign state, the offset is wrong.
    constexpr uint32_t maxOtherStates = 1'000;
    if (!isProven() && otherStates_.fetch_add(1, std::memory_order_relaxed) >= maxOtherStates)
        refuse(Refusal::OtherLayout);
    return 0;
}

bool Interpreter::pause(bool isPaused) {
    const State wanted = isPaused ? State::Paused : State::Found;
    State other = isPaused ? State::Found : State::Paused;
    return state_.compare_exchange_strong(other, wanted) || other == wanted;
}

void Interpreter::refuse(Refusal why) {
    Refusal none = Refusal::None;
    refusal_.compare_exchange_strong(none, why);
    state_.store(State::Refused, std::memory_order_release);
}

template <size_t capacity>
const StackTable::Entry* StackTable::Map<capacity>::find(uint64_t key) const {
    for (size_t at = home(key);; at = (at + 1) & (capacity - 1)) {
        if (entries[at].key == key) return &entries[at];
        if (entries[at].key == 0) return nullptr;
    }
}

template <size_t capacity>
void StackTable::Map<capacity>::insert(uint64_t key, uint32_t number, bool makesModules) {
    if (used >= maxUsed) {
        std::memset(entries, 0, sizeof entries);
        used = 0;
    }
    size_t at = home(key);
    while (entries[at].key != 0) at = (at + 1) & (capacity - 1);
    entries[at] = {key, number, makesModules};
    ++used;
}

StackTable* StackTable::make() {
    const int errnoBefore = errno;
    void* const memory =
        ::mmap(nullptr, sizeof(StackTable), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = errnoBefore;
    // Zero pages, most of which are never touched.
    return memory == MAP_FAILED ? nullptr : static_cast<StackTable*>(memory);
}

uint32_t StackTable::number(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink) {
    if (interpreter.state() != Interpreter::State::Found) return 0;
    const uint64_t state = interpreter.threadState();
    if (state == 0) return 0;
    if (!isProven_) [[unlikely]] {
        if (!prove(interpreter, state)) return 0;
    }
    if (!numbers.distinguishModules()) moduleCall_ = noModuleCall;
    // Counts frames from the innermost one, since their number is known only at the end.
    const FrameLayout& layout = interpreter.layout();
    uint64_t key = 0, depth = 0, modules = 0;
    const uint64_t moduleCall = moduleCall_;
    const uint32_t generation = numbers.generation.load(std::memory_order_relaxed);
    const auto take = [&, moduleCall](const Frame& frame) {
        key += share(frame, depth++, 0);
        if (frame.code == moduleCall) [[unlikely]]
            modules =
                (modules ^ identityOf(layout, moduleOf(layout, frame, moduleCall), generation)) * 0x9e3779b97f4a7c15;
    };
    const Walked walked = visitFrames(PlainMemory(), layout, state, maxFrames, take);
    if (walked.count == 0 || !walked.isWhole) return 0;
    key = (key ^ modules) | 1;
    if (const Entry* known = known_.find(key)) [[likely]] {
        if (known->makesModules) [[unlikely]]
            numbers.generation.fetch_add(1, std::memory_order_relaxed);
        return known->number;
    }
    if (numbers.isFull()) return 0;
    makesModules_ = false;
    const uint32_t number =
        addFrames(interpreter, numbers, sink, walkFrames(PlainMemory(), layout, state, frames_), generation);
    // The first call of a module: its stack has another key.
    if (moduleCall_ != moduleCall) return this->number(interpreter, numbers, sink);
    if (number != 0) known_.insert(key, number, makesModules_);
    if (makesModules_) numbers.generation.fetch_add(1, std::memory_order_relaxed);
    return number;
}

/// Validates the first stack of a thread as if it were another process's. From then on its frames
/// stay mapped, and only this thread changes them.
bool StackTable::prove(Interpreter& interpreter, uint64_t threadState) {
    const Walked walked = walkFrames(CarefulMemory(), interpreter.layout(), threadState, frames_);
    bool isGood = walked.isWhole;
    CodeFacts facts;
    for (uint32_t i = 0; isGood && i < walked.count; ++i)
        isGood = readCode(CarefulMemory(), interpreter.layout(), interpreter.types(), frames_[i].code, i == 0, facts) &&
                 isWithinCode(CarefulMemory(), interpreter.layout(), frames_[i]);
    if (!isGood) {
        interpreter.refuse(Interpreter::Refusal::OtherLayout);
        return false;
    }
    if (walked.count > 0) interpreter.setProven();
    // A thread without Python frames proves nothing.
    isProven_ = interpreter.isProven();
    return walked.count > 0;
}

/// Adds the new part of the stack in `frames_`, from the outermost frame inwards.
uint32_t StackTable::addFrames(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink, const Walked& walked,
                               uint32_t generation) {
    uint64_t key = walked.isCut ? truncationSeed : seed;
    const FrameLayout& layout = interpreter.layout();
    const uint64_t moduleCall = moduleCall_;
    for (uint32_t depth = 0; depth < walked.count; ++depth) {
        const Frame& frame = frames_[walked.count - 1 - depth];
        const uint64_t called = moduleOf(layout, frame, moduleCall);
        key += share(frame, depth, called == 0 ? 0 : identityOf(layout, called, generation));
        keys_[depth] = key | 1;
    }
    uint32_t number = 0;
    uint32_t depth = walked.count;
    while (depth > 0) {
        if (const Entry* known = stacks_.find(keys_[depth - 1])) {
            number = known->number;
            makesModules_ = known->makesModules;
            break;
        }
        --depth;
    }
    if (depth == 0 && walked.isCut && !addTruncated(numbers, sink, number)) return 0;
    ModuleCall module;
    for (uint32_t at = 0; at < walked.count; ++at) {
        const Frame& frame = frames_[walked.count - 1 - at];
        if (const uint64_t called = moduleOf(layout, frame, moduleCall); called != 0)
            module = {called, module.module, true, identityOf(layout, called, generation)};
        else
            module.isCall = false;
        if (at >= depth && !addFrame(interpreter, numbers, sink, frame, module, keys_[at], number)) return 0;
    }
    return number;
}

/// Replaces the number of a stack by that of the stack with one more frame.
bool StackTable::addFrame(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink, const Frame& frame,
                          ModuleCall module, uint64_t key, uint32_t& number) {
    constexpr uint32_t maxUnreadable = 64;
    CodeFacts facts;
    if (!readCode(CarefulMemory(), interpreter.layout(), interpreter.types(), frame.code, false, facts)) {
        // An object of an extension in place of a frame. If that is common, the layout is wrong.
        if (++unreadable_ > maxUnreadable) interpreter.refuse(Interpreter::Refusal::OtherLayout);
        stacks_.insert(key, number, makesModules_);
        return true;
    }
    const uint32_t code = codeNumber(interpreter, numbers, sink, frame, module);
    if (code == 0) return false;
    const uint32_t stack = take(spareStack_, numbers.stacks);
    if (!sink.addStack(stack, number, code, lineOfFrame(CarefulMemory(), interpreter.layout(), facts, frame)))
        return false;
    spareStack_ = 0;
    stacks_.insert(key, stack, makesModules_);
    number = stack;
    return true;
}

uint32_t StackTable::codeNumber(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink, const Frame& frame,
                                ModuleCall module) {
    if (!module.isCall) module = {};
    const uint64_t key = share({0, frame.code, module.outer, frame.identity, 0}, 0, module.identity) | 1;
    if (const Entry* known = codes_.find(key)) {
        makesModules_ |= known->makesModules;
        return known->number;
    }
    CodeFacts facts;
    const FrameLayout& layout = interpreter.layout();
    if (!readCode(CarefulMemory(), layout, interpreter.types(), frame.code, true, facts)) return 0;
    if (moduleCall_ == 0 && isModuleCall(facts)) moduleCall_ = frame.code;
    const bool isMaking = makesModules(facts);
    makesModules_ |= isMaking;
    ModuleText text;
    if (module.isCall) readModule(CarefulMemory(), layout, interpreter.types(), module, attribute_, text);
    const uint32_t number = take(spareCode_, numbers.codes);
    if (!sink.addCode(number, {facts.function, facts.functionBytes}, {facts.file, facts.fileBytes}, text.text()))
        return 0;
    if (module.isCall) numbers.modules.fetch_add(1, std::memory_order_relaxed);
    spareCode_ = 0;
    codes_.insert(key, number, isMaking);
    return number;
}

/// Adds the entry that stands for the omitted frames.
bool StackTable::addTruncated(StackNumbers& numbers, StackSink& sink, uint32_t& number) {
    if (const Entry* known = stacks_.find(truncationSeed | 1)) {
        number = known->number;
        return true;
    }
    const uint32_t code = take(spareCode_, numbers.codes);
    if (!sink.addCode(code, truncatedFrame, {}, {})) return false;
    spareCode_ = 0;
    const uint32_t stack = take(spareStack_, numbers.stacks);
    if (!sink.addStack(stack, 0, code, 0)) return false;
    spareStack_ = 0;
    stacks_.insert(truncationSeed | 1, stack, false);
    number = stack;
    return true;
}

}  // namespace lanescope::agent::python
