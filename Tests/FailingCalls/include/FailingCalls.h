// SPDX-License-Identifier: Apache-2.0
//
// System calls that fail on request, and a record of those that succeeded. A program that links this module has its own
// definitions of the calls, which its libraries use too. The environment says what to do:
//
//   FAIL_PATH   part of the paths of the files concerned
//   FAIL_CALLS  the names of the calls, with commas: write, fsync, ftruncate, rename, open, mmap
//   FAIL_AT     the first call that fails, counted from 1
//   FAIL_COUNT  how many fail; 0 for all later ones
//   FAIL_ERROR  the error number; 0 to write half and kill the process instead
//   FAIL_RECORD the file that gets the record

#ifndef FAILING_CALLS_H
#define FAILING_CALLS_H

#include <stdint.h>

/// Kinds of records.
enum { recorded_write = 1, recorded_sync, recorded_size, recorded_rename, recorded_removal, recorded_creation, recorded_mark };

/// One record; its path follows, then the bytes of a write, or the second path of a renaming.
struct recorded_call {
  uint32_t kind;
  uint32_t path_count;
  uint64_t offset;
  uint64_t count;
  uint64_t file;
};

/// Adds a mark to the record.
void failing_calls_mark(uint64_t number);

#endif
