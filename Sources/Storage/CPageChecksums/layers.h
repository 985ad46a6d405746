// SPDX-License-Identifier: Apache-2.0
//
// The parts of the two layers, over database files and over their logs, that each needs of the other.

#ifndef LAYERS_H
#define LAYERS_H

#include "CPageChecksums.h"

#include <sqlite3.h>
#include <stdint.h>

struct log_file;

/// A main database file. The structure that opens the file below lies directly behind it.
struct checked_file {
  sqlite3_file base;
  /// Whether the pages of the file end with checksums.
  int is_checked;
  /// The size of a page; 0 until a page has been read or written.
  int page_size;
  /// A buffer as large as a page; NULL until it is needed.
  unsigned char *scratch;
  /// The log of the database while it is open and its end is noted, or NULL.
  struct log_file *log;
};

/// A log whose end is noted. The structure that opens the file below lies directly behind it.
struct log_file {
  sqlite3_file base;
  /// The database of the log; NULL if nothing is noted.
  struct checked_file *database;
  /// The descriptor of the file with the notes.
  int notes;
  int page_size;
  /// The number of logs that were begun since the file was opened.
  unsigned begun;
  /// The salts of the frame whose header was written last, which its page follows; `header` is the header's position.
  unsigned char salts[8];
  sqlite3_int64 header;
  /// The position up to which this connection has written since the last commit.
  sqlite3_int64 written;
  /// The position at which the commit ends whose frame is being written, or 0.
  sqlite3_int64 commit;
  /// Whether pages of this transaction were written again, so that the headers are as well, after the last page.
  int is_rewriting;
  /// The size of the log's part on the disk while it is being brought into the database, or 0, the salts of that log,
  /// and whether all of that part is in the database.
  sqlite3_int64 restoring;
  unsigned char restoring_salts[8];
  int is_restored;
  /// The written bytes that are not in the file yet, and their position (`log_buffer.c`).
  unsigned char *piece;
  int piece_count;
  int piece_capacity;
  sqlite3_int64 piece_offset;
};

static const sqlite3_int64 offset_of_real =
    ((sizeof(struct log_file) > sizeof(struct checked_file) ? sizeof(struct log_file) : sizeof(struct checked_file)) + 15)
    & ~(size_t)15;

static inline sqlite3_file *real_file(sqlite3_file *file) { return (sqlite3_file *)((char *)file + offset_of_real); }

int cpc_open_log(sqlite3_vfs *real, struct checked_file *database, const char *name, sqlite3_file *file, int flags,
                 int *out);
/// Writes bytes behind those before, or elsewhere; they are in the file after the next flush. Returns SQLite's result
/// code, also that of earlier bytes.
int cpc_write_log(struct log_file *log, const void *bytes, int count, sqlite3_int64 offset);
int cpc_flush_log(struct log_file *log);
int cpc_read_log(struct log_file *log, void *bytes, int count, sqlite3_int64 offset);
/// Drops what was not flushed, which is part of no commit.
void cpc_close_log(struct log_file *log);
/// Notes that the database got its last page from the log, which is not yet on the disk.
void cpc_log_was_copied(struct log_file *log);
void cpc_database_was_synced(struct log_file *log);

#endif
