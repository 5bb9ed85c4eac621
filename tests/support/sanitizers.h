// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanescope::test {

// Tests skip code that a sanitizer does not support, and state the reason.

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LANESCOPE_THREAD_SANITIZER
#endif
#if __has_feature(address_sanitizer)
#define LANESCOPE_ADDRESS_SANITIZER
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define LANESCOPE_THREAD_SANITIZER
#endif
#ifdef __SANITIZE_ADDRESS__
#define LANESCOPE_ADDRESS_SANITIZER
#endif

#ifdef LANESCOPE_THREAD_SANITIZER
inline constexpr bool hasThreadSanitizer = true;
#else
inline constexpr bool hasThreadSanitizer = false;
#endif
#ifdef LANESCOPE_ADDRESS_SANITIZER
inline constexpr bool hasAddressSanitizer = true;
#else
inline constexpr bool hasAddressSanitizer = false;
#endif

}  // namespace lanescope::test
