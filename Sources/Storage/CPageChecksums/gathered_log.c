// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Writes the frames of a transaction to the log with one call. SQLite uses two calls for each frame, one for its header
// and one for its page. That is a sixth of the cost of an acknowledgement.
//
// Frames are gathered from the end of the last commit on, as long as each frame follows the previous one. They are
// written:
// - when the last page of a commit arrives, so that the call that completes the commit fails if the log cannot store
//   it;
// - before they are read, before a sync, and before a query about the file;
// - when the buffer is full.
//
// Everything else is written immediately: the log's header, and the frames and headers of a transaction that SQLite
// rewrites.

enum { log_header_bytes = 32, frame_header_bytes = 24, first_bytes = 16 << 10, most_bytes = 96 << 10 };

struct log_file {
  sqlite3_file base;
  /// The bytes that are not in the file yet, and their position in it.
  unsigned char *bytes;
  int count;
  int capacity;
  sqlite3_int64 offset;
  /// The position after the last byte that was gathered or written as part of a frame.
  sqlite3_int64 next;
  /// The position after the last commit; -1 until this connection has written one.
  sqlite3_int64 commit_end;
  /// The end position of the frame whose header was written last, if the frame ends a commit; else -1.
  sqlite3_int64 pending_commit;
  /// The size of a page; 0 until the log's header is known.
  int page_size;
};

_Static_assert(sizeof(struct log_file) <= layer_bytes, "a log file fits into its room");

static uint32_t word(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int flush(struct log_file *log) {
  if (log->count == 0) return SQLITE_OK;
  sqlite3_file *real = real_file(&log->base);
  int count = log->count;
  log->count = 0;
  return real->pMethods->xWrite(real, log->bytes, count, log->offset);
}

/// Appends bytes to the buffer. Returns whether there was room.
static int gather(struct log_file *log, const void *bytes, int count) {
  int wanted = log->count + count;
  if (wanted > most_bytes) return 0;
  if (wanted > log->capacity) {
    int capacity = log->capacity == 0 ? first_bytes : log->capacity;
    while (capacity < wanted) capacity *= 2;
    unsigned char *grown = realloc(log->bytes, (size_t)capacity);
    if (grown == NULL) return 0;
    log->bytes = grown;
    log->capacity = capacity;
  }
  memcpy(log->bytes + log->count, bytes, (size_t)count);
  log->count = wanted;
  return 1;
}

/// Reads the page size from the log's header.
static void read_page_size(struct log_file *log, const unsigned char *header) {
  uint32_t size = word(header + 8);
  log->page_size = size >= 512 && size <= 65536 ? (int)size : 0;
}

static int log_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
  struct log_file *log = (struct log_file *)file;
  sqlite3_file *real = real_file(file);
  if (offset == 0 && count == log_header_bytes) {
    read_page_size(log, buffer);
    int code = flush(log);
    if (code == SQLITE_OK) code = real->pMethods->xWrite(real, buffer, count, offset);
    log->commit_end = log->next = code == SQLITE_OK ? log_header_bytes : -1;
    log->pending_commit = -1;
    return code;
  }
  if (log->page_size == 0) {
    unsigned char header[log_header_bytes];
    if (real->pMethods->xRead(real, header, sizeof header, 0) == SQLITE_OK) read_page_size(log, header);
  }
  int frame_bytes = frame_header_bytes + log->page_size;
  int is_header =
      log->page_size > 0 && count == frame_header_bytes && (offset - log_header_bytes) % frame_bytes == 0;
  if (is_header) log->pending_commit = word((const unsigned char *)buffer + 4) != 0 ? offset + frame_bytes : -1;
  int completes_commit = !is_header && offset + count == log->pending_commit;

  int follows = log->count > 0 ? offset == log->offset + log->count
                               : is_header && (offset == log->commit_end || offset == log->next);
  int code = SQLITE_OK;
  if (log->count > 0 && (!follows || log->count + count > most_bytes)) {
    code = flush(log);
    if (code != SQLITE_OK) return code;
  }
  if (log->count == 0) log->offset = offset;
  if (!follows || !gather(log, buffer, count)) {
    code = flush(log);
    if (code == SQLITE_OK) code = real->pMethods->xWrite(real, buffer, count, offset);
  }
  if (code == SQLITE_OK && completes_commit) code = flush(log);
  if (code != SQLITE_OK) return code;
  if (offset + count > log->next || offset == log->commit_end) log->next = offset + count;
  if (completes_commit) {
    log->commit_end = log->next = offset + count;
    log->pending_commit = -1;
  }
  return SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
  struct log_file *log = (struct log_file *)file;
  if (log->count > 0 && offset < log->offset + log->count && offset + count > log->offset) {
    int code = flush(log);
    if (code != SQLITE_OK) return code;
  }
  return real_file(file)->pMethods->xRead(real_file(file), buffer, count, offset);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int code = flush((struct log_file *)file);
  return code != SQLITE_OK ? code : real_file(file)->pMethods->xTruncate(real_file(file), size);
}

static int log_sync(sqlite3_file *file, int flags) {
  int code = flush((struct log_file *)file);
  return code != SQLITE_OK ? code : real_file(file)->pMethods->xSync(real_file(file), flags);
}

static int log_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  int code = flush((struct log_file *)file);
  return code != SQLITE_OK ? code : real_file(file)->pMethods->xFileSize(real_file(file), size);
}

static int log_close(sqlite3_file *file) {
  struct log_file *log = (struct log_file *)file;
  // The remaining bytes do not belong to a commit.
  free(log->bytes);
  log->bytes = NULL;
  log->count = 0;
  return real_file(file)->pMethods->xClose(real_file(file));
}

static int log_lock(sqlite3_file *file, int level) { return real_file(file)->pMethods->xLock(real_file(file), level); }

static int log_unlock(sqlite3_file *file, int level) {
  return real_file(file)->pMethods->xUnlock(real_file(file), level);
}

static int log_check_reserved_lock(sqlite3_file *file, int *is_reserved) {
  return real_file(file)->pMethods->xCheckReservedLock(real_file(file), is_reserved);
}

static int log_file_control(sqlite3_file *file, int operation, void *argument) {
  return real_file(file)->pMethods->xFileControl(real_file(file), operation, argument);
}

static int log_sector_size(sqlite3_file *file) { return real_file(file)->pMethods->xSectorSize(real_file(file)); }

static int log_characteristics(sqlite3_file *file) {
  return real_file(file)->pMethods->xDeviceCharacteristics(real_file(file));
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_file_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_reserved_lock,
    .xFileControl = log_file_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_characteristics,
};

int cpc_open_log(sqlite3_vfs *real, const char *name, sqlite3_file *file, int flags, int *out) {
  struct log_file *log = (struct log_file *)file;
  memset(log, 0, sizeof *log);
  log->commit_end = log->next = log->pending_commit = -1;
  int code = real->xOpen(real, name, real_file(file), flags, out);
  // Sets the methods even after a failure: SQLite closes a file that failed to open only if it has methods.
  if (real_file(file)->pMethods != NULL) file->pMethods = &log_methods;
  return code;
}
