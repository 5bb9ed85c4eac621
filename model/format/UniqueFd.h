// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

// Header-only, because the agent does not link `model`.
namespace lanescope {

/// Owner of a file descriptor, which it closes; -1 if there is none. Closing keeps `errno`.
class UniqueFd {
  public:
    UniqueFd() = default;
    explicit UniqueFd(int descriptor) : descriptor_(descriptor) {}
    UniqueFd(UniqueFd&& other) noexcept : descriptor_(other.release()) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }
    ~UniqueFd() { reset(); }

    operator int() const& { return descriptor_; }
    operator int() const&& = delete;
    /// Deleted, because -1 would be true.
    explicit operator bool() const = delete;

    /// Returns the descriptor and leaves it open.
    int release() { return std::exchange(descriptor_, -1); }
    /// Closes the descriptor and owns another one.
    void reset(int descriptor = -1) {
        const int saved = errno;
        if (descriptor_ >= 0) ::close(descriptor_);
        errno = saved;
        descriptor_ = descriptor;
    }

  private:
    int descriptor_ = -1;
};

/// Repeats `transfer(done)`, a system call that transfers bytes after the first `done`, until
/// `bytes` are transferred, nothing more comes or a call fails. Returns the number of bytes; check
/// `errno` if it is too small, 0 if nothing more came.
size_t transferAll(size_t bytes, auto&& transfer) {
    size_t done = 0;
    while (done < bytes) {
        const ssize_t count = transfer(done);
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) errno = 0;
        if (count <= 0) break;
        done += static_cast<size_t>(count);
    }
    return done;
}

/// Reads `size` bytes, fewer only at the end of the file or on failure. Returns the number of bytes
/// as `transferAll` does.
inline size_t readAll(int file, void* bytes, size_t size) {
    return transferAll(size, [&](size_t done) { return ::read(file, static_cast<char*>(bytes) + done, size - done); });
}
/// Reads from a position, which must not overflow `off_t`.
inline size_t readAllAt(int file, void* bytes, size_t size, uint64_t at) {
    return transferAll(size, [&](size_t done) {
        return ::pread(file, static_cast<char*>(bytes) + done, size - done, static_cast<off_t>(at + done));
    });
}

/// Writes everything; a signal does not end it. Returns false with `errno` on failure, EIO if the
/// file system wrote nothing without an error.
inline bool writeAll(int file, const void* bytes, size_t size) {
    const size_t done =
        transferAll(size, [&](size_t at) { return ::write(file, static_cast<const char*>(bytes) + at, size - at); });
    if (done < size && errno == 0) errno = EIO;
    return done == size;
}
/// Writes at a position, which must not overflow `off_t`.
inline bool writeAllAt(int file, const void* bytes, size_t size, uint64_t at) {
    const size_t whole = transferAll(size, [&](size_t done) {
        return ::pwrite(file, static_cast<const char*>(bytes) + done, size - done, static_cast<off_t>(at + done));
    });
    if (whole < size && errno == 0) errno = EIO;
    return whole == size;
}

/// Appends the rest of a file or pipe to `text`, until that has more than `maxBytes`. Returns false
/// with `errno` on failure; `text` then has the bytes before it.
inline bool readToEnd(int file, std::string& text, size_t maxBytes = SIZE_MAX) {
    char part[16384];
    while (text.size() <= maxBytes) {
        const size_t count = readAll(file, part, sizeof part);
        text.append(part, count);
        if (count < sizeof part) return errno == 0;
    }
    return true;
}

}  // namespace lanescope
