// SPDX-License-Identifier: Apache-2.0
#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H
#include <sqlite3.h>

/// Makes SQLite leave the log unchanged when the connection closes. Written in C because Swift cannot call variadic
/// functions.
static inline int csqlite_keep_log_on_close(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
#endif
