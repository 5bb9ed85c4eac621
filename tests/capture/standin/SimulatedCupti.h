// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// SIMULATED: what the stand-in for libcupti offers beyond CUPTI's own functions, for programs that
// play a training run without a GPU. Looked up by name; not part of any real CUPTI.
//
// The environment makes it misbehave:
//   STANDIN_CUPTI_VERSION      what cuptiGetVersion answers and which record layouts it writes;
//                              130001
//   STANDIN_CUPTI_SUBSCRIBE    result of subscribing (39: another tool holds it; 999: no driver)
//   STANDIN_CUPTI_HANG         "flush": cuptiActivityFlushAll never returns
//   STANDIN_CUPTI_SLOW_MS      an ordinary flush takes that long and brings nothing
//   STANDIN_CUPTI_SILENT       no callback when a context is made
//   STANDIN_CUPTI_DROPPED      so many records were dropped, said once
//   STANDIN_CUPTI_READABLE     of each buffer only so many bytes can be read; then an error comes
//   STANDIN_CUPTI_STOLEN_MS    after that time another tool gets the buffers, and we get nothing;
//                              with STANDIN_CUPTI_MIXED set we get a buffer of its instead
//   STANDIN_CUPTI_DISABLED     a file to which a line is added for each kind that is disabled, its
//                              number, and for each driver call no longer told of, "call"
//   STANDIN_CUPTI_THREAD       1: buffers are given back on a thread of CUPTI's own
//   STANDIN_CUPTI_KEEPS        1: an ordinary flush keeps a buffer back while a kernel in it has
//   not
//                              ended yet; one that is forced gives such a kernel without times
//   STANDIN_CUPTI_UM           result of configuring the counters of managed memory

#include <cstdint>

/// A call of the driver from its beginning to its end: the subscriber is called back with both, if
/// it asked for the call. `parameters` as the driver would pass them; `stream` is what
/// cuptiGetStreamIdEx answers for the handle in them.
using SimulateDriverCallFunction = void(uint32_t callbackId, uint32_t correlation,
                                        const void* parameters);

/// Says that a node of a CUDA graph was made, or if `original` is not 0 that it was copied of that,
/// to the subscriber, if it asked for that. The handle of a node is its number.
using SimulateGraphNodeFunction = void(uint64_t node, uint64_t original);

/// Says that a context was made, to the subscriber.
using SimulateContextFunction = void();
/// Puts a record, built as the newest struct of its kind, into the calling thread's buffer, cut to
/// the layout of the version played. Answers false if its kind or API call is not switched on.
using SimulateRecordFunction = bool(const void* activity);
