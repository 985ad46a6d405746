// SPDX-License-Identifier: Apache-2.0
//
// A layer below SQLite that stores a checksum at the end of every page of a database file.
//
// The format is that of SQLite's checksum VFS (sqlite.org/cksumvfs.html), so tools with that extension can check a
// closed database file. Checksums detect changed bits, but not an intact page in the wrong place.
//
// The layer also gathers the frames of a transaction before they are written to the log (`gathered_log.c`).

#ifndef CPAGECHECKSUMS_H
#define CPAGECHECKSUMS_H

#include <stddef.h>

/// The size of the checksum at the end of each page, in bytes. A database must reserve these bytes before it has its
/// first page (SQLITE_FCNTL_RESERVE_BYTES).
#define CPC_RESERVED_BYTES 8

/// The value of `vfs=` in the URI of a database with checksums.
#define CPC_NAME "page-checksums"

/// Turns off SQLite's memory accounting, which takes a process-wide lock at each allocation. sqlite3_memory_used and
/// SQLite's heap limits then have no effect. The setting is for the whole process, so only a program may call this,
/// before its first use of SQLite. Later calls are rejected and have no effect. Returns SQLite's result code.
int cpc_disable_memory_accounting(void);

/// Registers the layer with SQLite. Call it once per process.
///
/// Reading a page whose checksum does not match fails with SQLITE_IOERR_DATA. `PRAGMA checksum_verification = OFF`
/// turns the comparison off for one connection. Pages in the log have no such checksum, because the log has other
/// checksums. Returns SQLite's result code.
int cpc_register(void);

/// Computes the two 32-bit sums of the first `count` bytes of a page, as little-endian bytes. `count` is a multiple of
/// eight.
void cpc_checksum(const void *page, size_t count, unsigned char *sums);

/// Whether the last bytes of a page of `size` bytes are its checksum.
int cpc_is_intact(const void *page, size_t size);

#endif
