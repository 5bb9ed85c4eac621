// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <string>
#include <utility>

namespace lanescope::capture {

/// A shared library that is opened at run time, and the functions in it, looked up by name. Closed
/// at the end unless it is to stay. All in this header, because the agent links nothing of this
/// folder.
class DynamicLibrary {
  public:
    DynamicLibrary() = default;
    /// Opens a file, or by the loader's rules a name. `flags` are more of dlopen's, such as
    /// RTLD_NOLOAD. May take milliseconds and runs the library's own initialization.
    explicit DynamicLibrary(const std::string& name, int flags = 0)
        : handle_(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | flags)) {}
    DynamicLibrary(DynamicLibrary&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), missing_(other.missing_) {}
    DynamicLibrary& operator=(DynamicLibrary&& other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(missing_, other.missing_);
        return *this;
    }
    ~DynamicLibrary() {
        if (handle_ != nullptr) ::dlclose(handle_);
    }

    /// Whether it was opened.
    explicit operator bool() const { return handle_ != nullptr; }
    /// It is loaded to the end of the process: it keeps threads or pointers of its own.
    void stay() { handle_ = nullptr; }

    /// Looks up a function that may be absent, and is null then. False for that.
    template <class Function>
    bool find(Function& function, const char* name) const {
        function = reinterpret_cast<Function>(::dlsym(handle_, name));
        return function != nullptr;
    }
    /// Looks up a function that must be there; see `missing`. `name` is a literal.
    template <class Function>
    bool need(Function& function, const char* name) {
        if (find(function, name)) return true;
        if (missing_ == nullptr) missing_ = name;
        return false;
    }
    /// The first function that was needed and is not there; null if there is none.
    const char* missing() const { return missing_; }

  private:
    void* handle_ = nullptr;
    const char* missing_ = nullptr;
};

}  // namespace lanescope::capture
