// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <string>
#include <utility>

namespace lanescope::capture {

/// A shared library opened at run time, and its functions, looked up by name: `int (*init)() = library.get("init");`.
/// Closed by the destructor unless `stay` was called. Header-only, because the agent links nothing of this folder.
class DynamicLibrary {
  public:
    DynamicLibrary() = default;
    /// Opens a file, or a name by the loader's rules. `flags` are additional dlopen flags, such as
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

    explicit operator bool() const { return handle_ != nullptr; }
    /// Keeps the library loaded to the end of the process, because it has threads or pointers of its own.
    void stay() { handle_ = nullptr; }

    /// Address of a function, which initializes a pointer to a function of any type; null if it is absent.
    struct Found {
        void* address;
        template <class Function>
        operator Function*() const {
            return reinterpret_cast<Function*>(address);
        }
    };
    /// Looks up an optional function, or its older name. Without an open library nothing is found.
    Found get(const char* name, const char* olderName = nullptr) const {
        void* const address = handle_ != nullptr ? ::dlsym(handle_, name) : nullptr;
        return address == nullptr && olderName != nullptr ? get(olderName) : Found{address};
    }
    /// Looks up a required function; see `missing`. `name` is a literal.
    Found need(const char* name) {
        const Found found = get(name);
        if (found.address == nullptr && missing_ == nullptr) missing_ = name;
        return found;
    }
    /// Returns the name of the first required function that is absent, or null.
    const char* missing() const { return missing_; }

  private:
    void* handle_ = nullptr;
    const char* missing_ = nullptr;
};

}  // namespace lanescope::capture
