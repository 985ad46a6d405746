// SPDX-License-Identifier: Apache-2.0
//
// What the two layers, over database files and over their logs, know of each other.

#ifndef LAYERS_H
#define LAYERS_H

#include "CPageChecksums.h"

#include <sqlite3.h>
#include <stdint.h>

struct log_file;

/// A main database file. What opens the file below lies directly behind.
struct checked_file {
  sqlite3_file base;
  /// Whether its pages end with checksums.
  int is_checked;
  /// Zero until a page has been read or written.
  int page_size;
  /// As large as a page; NULL until it is needed.
  unsigned char *scratch;
  /// Its log while that is open and its end is noted, or NULL.
  struct log_file *log;
};

/// A log whose end is noted. What opens the file below lies directly behind.
struct log_file {
  sqlite3_file base;
  /// NULL where nothing is noted.
  struct checked_file *database;
  /// Of the file with the notes.
  int notes;
  int page_size;
  /// How many logs were begun since the file was opened.
  unsigned begun;
  /// Of the frame whose header was written last, which its page follows.
  unsigned char salts[8];
  sqlite3_int64 header;
  /// How far this connection has written since the last commit.
  sqlite3_int64 written;
  /// Where the commit ends whose frame is being written, or 0.
  sqlite3_int64 commit;
  /// Whether pages of this transaction were written again, so that the headers are as well, after the last page.
  int is_rewriting;
  /// What is on the disk of the log while it is being brought into the database, or 0, and whether all of that is there.
  sqlite3_int64 restoring;
  unsigned char restoring_salts[8];
  int is_restored;
};

static const sqlite3_int64 offset_of_real =
    ((sizeof(struct log_file) > sizeof(struct checked_file) ? sizeof(struct log_file) : sizeof(struct checked_file)) + 15)
    & ~(size_t)15;

static inline sqlite3_file *real_file(sqlite3_file *file) { return (sqlite3_file *)((char *)file + offset_of_real); }

int cpc_open_log(sqlite3_vfs *real, struct checked_file *database, const char *name, sqlite3_file *file, int flags,
                 int *out);
/// The database got its last page from the log; what follows is its way to the disk.
void cpc_log_was_copied(struct log_file *log);
void cpc_database_was_synced(struct log_file *log);

#endif
