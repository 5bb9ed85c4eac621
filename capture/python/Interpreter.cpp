// SPDX-License-Identifier: Apache-2.0
#include "capture/python/Interpreter.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "capture/python/OwnMemory.h"

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

/// Reads "3.12.3 (main, ...)" as numbers. Returns false for another text.
bool readVersion(std::string_view text, int& major, int& minor) {
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, major);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return false;
    return std::from_chars(first.ptr + 1, end, minor).ec == std::errc();
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
    if (!isKnown) {
        refuse(Refusal::UnknownVersion);
        return;
    }
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

}  // namespace lanescope::agent::python
