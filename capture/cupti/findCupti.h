#pragma once

#include <string>

namespace lanescope {

/// A CUPTI library that has been opened.
struct OpenedCupti {
    void* handle = nullptr;  ///< Null if there is none.
    std::string path;        ///< Where it is, or the name it was found by.
    std::string searched;    ///< What was tried, for the message when there is none.
};

/// Opens the CUPTI that suits this process: the one already loaded if there is one, since two
/// copies fight over the driver; then `overridePath`; then those beside the CUDA runtime in use, in
/// the toolkit and in the loader's cache, newest major first. Never a copy newer than what the
/// program brought.
OpenedCupti findCupti(const std::string& overridePath);

}  // namespace lanescope
