// SPDX-License-Identifier: Apache-2.0
//
// A layer below SQLite that keeps a checksum at the end of every page of a database file.
//
// The format is the one that SQLite publishes for its checksum VFS (sqlite.org/cksumvfs.html), so any tool with that
// extension can check a closed database file. It detects changed bits, not an intact page in the place of another.
//
// The layer also gathers the frames of a transaction on their way into the log (`gathered_log.c`).

#ifndef CPAGECHECKSUMS_H
#define CPAGECHECKSUMS_H

#include <stddef.h>

/// The number of bytes that the checksum takes at the end of each page. A database must reserve them before it has its
/// first page (SQLITE_FCNTL_RESERVE_BYTES).
#define CPC_RESERVED_BYTES 8

/// The value of `vfs=` in the URI of a database with checksums.
#define CPC_NAME "page-checksums"

/// Turns off SQLite's memory accounting, which takes a process-wide lock at each allocation: sqlite3_memory_used and the
/// limits of its heap have no effect then. It is a setting of the whole process, so a program calls it for itself, before
/// its first use of SQLite. SQLite refuses it afterwards, without harm. Returns SQLite's result code.
int cpc_disable_memory_accounting(void);

/// Registers the layer with SQLite, once per process.
///
/// Reading a page whose checksum does not match fails with SQLITE_IOERR_DATA. `PRAGMA checksum_verification = OFF` turns
/// the comparison off for one connection. Pages in the log have no checksum here, because the log has its own.
/// Returns SQLite's result code.
int cpc_register(void);

/// Computes the two 32-bit sums of a page's first `count` bytes, a multiple of eight, as little-endian bytes.
void cpc_checksum(const void *page, size_t count, unsigned char *sums);

/// Whether the last bytes of a page of `size` bytes are its checksum.
int cpc_is_intact(const void *page, size_t size);

#endif
