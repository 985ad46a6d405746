// SPDX-License-Identifier: Apache-2.0
//
// A layer below SQLite that keeps a checksum at the end of every page of a database file, and notes beside a database
// the end of its log.

#ifndef CPAGECHECKSUMS_H
#define CPAGECHECKSUMS_H

#include <stddef.h>
#include <stdint.h>

/// The number of bytes at the end of each page that the checksum takes. A database must reserve them before it has its
/// first page (SQLITE_FCNTL_RESERVE_BYTES).
#define CPC_RESERVED_BYTES 8

/// The value of `vfs=` in a file's URI for databases with checksums.
#define CPC_NAME "page-checksums"

/// The application id in the header of files with checksums, so that no changed bit makes such a file look like one
/// without.
#define CPC_APPLICATION_ID 0x48656172

/// The parameters of such a URI that may be 1: whether the header tells if the file has checksums, since a file of an
/// earlier version may have none; whether the end of the log is noted.
#define CPC_MAY_LACK_CHECKSUMS "may-lack-checksums"
#define CPC_NOTES_END "log-end"

/// The ending that the name of the file with the notes adds to the database's.
#define CPC_LOG_END_SUFFIX ".log-end"

struct sqlite3;

/// Makes the layer known to SQLite, once per process, and has SQLite keep no account of its memory there, unless the
/// program has used SQLite before: sqlite3_memory_used and the limits of its heap are without effect then. A page that differs from the one that was written ends its read
/// from the file with SQLITE_IOERR_DATA. Pages in the log are not checked: the log has checksums of its own. Returns
/// SQLite's result code.
int cpc_register(void);

/// The checksum of the first `count` bytes of page `number`, the first page being 1. Guards against accidents, not
/// against intent; the checksum of a page in another's place is wrong.
uint64_t cpc_checksum(const void *bytes, size_t count, uint32_t number);

/// The notes about a database's log. A log is identified by the two salts in its header, which are different for each.
struct cpc_log_end {
  /// The salts of the log that was begun last, and of the one before it; 0 if unknown.
  uint64_t salts;
  uint64_t previous_salts;
  /// `cpc_checksum` of the database's first page, without its last bytes, when that log was begun; 0 if unknown.
  uint64_t base;
  /// The salts of the log that the last commit went to, and the position at which the commit ends; 0 if none was noted.
  uint64_t committed_salts;
  uint64_t committed;
  /// Whether the system has not been started anew since: then nothing that was written can be missing.
  int is_of_this_boot;
  /// The size of that log's part that is known to be on the disk, and of the part known to be in the database on the
  /// disk.
  uint64_t synced;
  uint64_t restored;
};

/// Reads the notes beside a database; all zero if there are none, or none that can be trusted.
void cpc_read_log_end(const char *path, struct cpc_log_end *end);

/// The number of logs that a connection has begun and whose ends it notes.
unsigned cpc_begun_logs(struct sqlite3 *database);

#endif
