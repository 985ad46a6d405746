// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include <stdlib.h>
#include <string.h>

// The frames of a transaction, gathered. SQLite writes each frame by two calls, its header and its page; one after
// another they are one piece of the log, which reaches the file by one call: when its commit is noted, or when the
// piece is full, does not go on, or is read.
//
// A frame means nothing before the frame of its commit, so that a piece that cannot be written fails its transaction
// as a whole, by the call that writes the commit.

/// The most bytes of a piece. SQLite's own layer writes less than 128 KiB by one call.
enum { piece_bytes = 96 << 10, least_bytes = 16 << 10 };

int cpc_flush_log(struct log_file *log) {
  int count = log->piece_count;
  if (count == 0) return SQLITE_OK;
  log->piece_count = 0;
  sqlite3_file *real = real_file(&log->base);
  return real->pMethods->xWrite(real, log->piece, count, log->piece_offset);
}

/// Makes room for so many bytes in all. Returns whether there is.
static int grow(struct log_file *log, int count) {
  if (count <= log->piece_capacity) return 1;
  int capacity = log->piece_capacity == 0 ? least_bytes : log->piece_capacity;
  while (capacity < count) capacity *= 2;
  if (capacity > piece_bytes) capacity = piece_bytes;
  unsigned char *piece = realloc(log->piece, (size_t)capacity);
  if (piece == NULL) return 0;
  log->piece = piece;
  log->piece_capacity = capacity;
  return 1;
}

int cpc_write_log(struct log_file *log, const void *bytes, int count, sqlite3_int64 offset) {
  int goes_on = offset == log->piece_offset + log->piece_count && log->piece_count + count <= piece_bytes;
  if (log->piece_count > 0 && !goes_on) {
    int code = cpc_flush_log(log);
    if (code != SQLITE_OK) return code;
  }
  if (log->piece_count == 0) log->piece_offset = offset;
  if (count > piece_bytes || !grow(log, log->piece_count + count)) {
    int code = cpc_flush_log(log);
    if (code != SQLITE_OK) return code;
    return real_file(&log->base)->pMethods->xWrite(real_file(&log->base), bytes, count, offset);
  }
  memcpy(log->piece + log->piece_count, bytes, (size_t)count);
  log->piece_count += count;
  return SQLITE_OK;
}

int cpc_read_log(struct log_file *log, void *bytes, int count, sqlite3_int64 offset) {
  if (log->piece_count > 0 && offset < log->piece_offset + log->piece_count && offset + count > log->piece_offset) {
    int code = cpc_flush_log(log);
    if (code != SQLITE_OK) return code;
  }
  return real_file(&log->base)->pMethods->xRead(real_file(&log->base), bytes, count, offset);
}

void cpc_close_log(struct log_file *log) {
  // What is left is part of no commit.
  free(log->piece);
  log->piece = NULL;
  log->piece_count = log->piece_capacity = 0;
}
