// SPDX-License-Identifier: Apache-2.0
//
// A layer below SQLite that keeps a checksum at the end of every page of a database file.

#ifndef CPAGECHECKSUMS_H
#define CPAGECHECKSUMS_H

#include <stddef.h>
#include <stdint.h>

/// How many bytes at the end of each page the checksum takes. A database must reserve them before it has its first
/// page (SQLITE_FCNTL_RESERVE_BYTES).
#define CPC_RESERVED_BYTES 8

/// What `vfs=` in a file's URI says for databases with checksums.
#define CPC_NAME "page-checksums"

/// Makes the layer known to SQLite, once per process. A page that is read from the file and is not what was written
/// there ends the read with SQLITE_IOERR_DATA. Pages in the log are not looked at: the log has checksums of its own.
/// Returns SQLite's result code.
int cpc_register(void);

/// The checksum of the first `count` bytes of page `number`, the first page being 1. Guards against accidents, not
/// against intent; a page in another's place has the wrong one.
uint64_t cpc_checksum(const void *bytes, size_t count, uint32_t number);

#endif
