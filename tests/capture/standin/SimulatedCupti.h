// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// SIMULATED: functions of the libcupti stand-in beyond CUPTI's own, for programs that play a training run without a
// GPU. Looked up by name; not part of any real CUPTI. Environment variables make it misbehave:
//   STANDIN_CUPTI_VERSION    result of cuptiGetVersion, and the record layouts; 130001
//   STANDIN_CUPTI_SUBSCRIBE  result of subscribing (39: another tool holds it; 999: no driver)
//   STANDIN_CUPTI_HANG       "flush": cuptiActivityFlushAll never returns
//   STANDIN_CUPTI_SLOW_MS    duration of an ordinary flush, which brings nothing
//   STANDIN_CUPTI_SILENT     no callback when a context is created
//   STANDIN_CUPTI_DROPPED    number of dropped records, reported once
//   STANDIN_CUPTI_READABLE   readable bytes of each buffer; then an error comes
//   STANDIN_CUPTI_STOLEN_MS  time after which another tool gets the buffers, and the agent nothing;
//   with STANDIN_CUPTI_MIXED set, the agent gets a buffer of that tool
//   STANDIN_CUPTI_DISABLED   file that gets a line with the number of each disabled kind, and
//   "call" for each driver call no longer reported
//   STANDIN_CUPTI_THREAD     1: buffers are returned on CUPTI's own thread
//   STANDIN_CUPTI_KEEPS      1: an ordinary flush keeps a buffer while a kernel in it has not
//   ended; a forced one returns such a kernel without times
//   STANDIN_CUPTI_UM         result of configuring the counters of managed memory

#include <cstdint>

/// Simulates a driver call from its start to its end: calls the subscriber back for both, if it subscribed to the call.
/// `parameters` as passed by the driver; `stream` is the result of cuptiGetStreamIdEx for their handle.
using SimulateDriverCallFunction = void(uint32_t callbackId, uint32_t correlation, const void* parameters);

/// Reports the creation of a CUDA graph node to the subscriber, or a copy of `original` if that is
/// not 0, if it subscribed to it. The handle of a node is its number.
using SimulateGraphNodeFunction = void(uint64_t node, uint64_t original);

/// Reports the creation of a context to the subscriber.
using SimulateContextFunction = void();
/// Puts a record, built as the newest struct of its kind, into the calling thread's buffer, truncated to the layout of
/// the simulated version. Returns false if its kind or API call is disabled.
using SimulateRecordFunction = bool(const void* activity);
