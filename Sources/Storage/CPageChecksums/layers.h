// SPDX-License-Identifier: Apache-2.0

#ifndef LAYERS_H
#define LAYERS_H

#include <sqlite3.h>
#include <stddef.h>

/// The size reserved for this layer's structure of an open file. The underlying VFS's structure follows it in memory.
enum { layer_bytes = 128 };

static inline sqlite3_file *real_file(sqlite3_file *file) { return (sqlite3_file *)((char *)file + layer_bytes); }

/// Opens a log with gathered frames.
int cpc_open_log(sqlite3_vfs *real, const char *name, sqlite3_file *file, int flags, int *out);

#endif
