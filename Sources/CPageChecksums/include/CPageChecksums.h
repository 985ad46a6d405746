// SPDX-License-Identifier: Apache-2.0
//
// A layer below SQLite that keeps a checksum at the end of every page of a database file, and notes beside a database
// where its log ends.

#ifndef CPAGECHECKSUMS_H
#define CPAGECHECKSUMS_H

#include <stddef.h>
#include <stdint.h>

/// How many bytes at the end of each page the checksum takes. A database must reserve them before it has its first
/// page (SQLITE_FCNTL_RESERVE_BYTES).
#define CPC_RESERVED_BYTES 8

/// What `vfs=` in a file's URI says for databases with checksums.
#define CPC_NAME "page-checksums"

/// The application id in the header of files with checksums, so that no changed bit makes one look like one without.
#define CPC_APPLICATION_ID 0x48656172

/// Parameters of such a URI that may be 1: whether the file is one with checksums is taken from its header, as that of
/// an earlier version may have none; whether the end of the log is noted.
#define CPC_MAY_LACK_CHECKSUMS "may-lack-checksums"
#define CPC_NOTES_END "log-end"

/// What the name of the file with the notes adds to that of the database.
#define CPC_LOG_END_SUFFIX ".log-end"

struct sqlite3;

/// Makes the layer known to SQLite, once per process. A page that is read from the file and is not what was written
/// there ends the read with SQLITE_IOERR_DATA. Pages in the log are not looked at: the log has checksums of its own.
/// Returns SQLite's result code.
int cpc_register(void);

/// The checksum of the first `count` bytes of page `number`, the first page being 1. Guards against accidents, not
/// against intent; a page in another's place has the wrong one.
uint64_t cpc_checksum(const void *bytes, size_t count, uint32_t number);

/// What was noted of a database's log. A log is named by the two salts in its header, which each has of its own.
struct cpc_log_end {
  /// Of the log that was begun last, and of the one before it; 0 where that is not known.
  uint64_t salts;
  uint64_t previous_salts;
  /// `cpc_checksum` of the database's first page, without its last bytes, when that log was begun; 0 if not known.
  uint64_t base;
  /// The log that the last commit went to, and where in it that ends; 0 if no commit was noted.
  uint64_t committed_salts;
  uint64_t committed;
  /// Whether the system has not been started anew since: then nothing that was written can be missing.
  int is_of_this_boot;
  /// How much of that log is known to be on the disk, and how much of it to be in the database, on the disk.
  uint64_t synced;
  uint64_t restored;
};

/// Reads what was noted beside a database; all zero where there is nothing, or nothing that can be trusted.
void cpc_read_log_end(const char *path, struct cpc_log_end *end);

/// How many logs a connection has begun, whose end it notes.
unsigned cpc_begun_logs(struct sqlite3 *database);

#endif
