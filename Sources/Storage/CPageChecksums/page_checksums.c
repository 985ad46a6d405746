// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static sqlite3_vfs *real_vfs(sqlite3_vfs *vfs) { return (sqlite3_vfs *)vfs->pAppData; }

static uint64_t mixed(uint64_t value, uint64_t multiplier) {
  unsigned __int128 product = (unsigned __int128)value * multiplier;
  // The value is mixed in again, because a product of zero would forget the state before.
  return (uint64_t)(product >> 64) ^ (uint64_t)product ^ value;
}

uint64_t cpc_checksum(const void *bytes, size_t count, uint32_t number) {
  const uint64_t multiplier = 0x9e3779b97f4a7c15u;
  const unsigned char *next = bytes;
  // The state is not zero for a page of zeros.
  uint64_t state = mixed(((uint64_t)number << 32) + count + 1, multiplier);
  for (size_t rest = count; rest >= 8; rest -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    state = mixed(state ^ word, multiplier);
  }
  return mixed(state, multiplier);
}

/// Whether a whole page is read or written, as SQLite does but for the first bytes of the header, which it reads again
/// with their page.
static int is_page(int count, sqlite3_int64 offset) {
  return count >= 512 && (count & (count - 1)) == 0 && offset % count == 0;
}

static uint64_t checksum_of_page(const void *page, int count, sqlite3_int64 offset) {
  return cpc_checksum(page, (size_t)count - CPC_RESERVED_BYTES, (uint32_t)(offset / count + 1));
}

/// A buffer for one page, since the pages that SQLite passes belong to SQLite.
static unsigned char *scratch(struct checked_file *file, int page_size) {
  if (file->scratch != NULL && file->page_size != page_size) {
    free(file->scratch);
    file->scratch = NULL;
  }
  file->page_size = page_size;
  if (file->scratch == NULL) file->scratch = malloc((size_t)page_size);
  return file->scratch;
}

static int read_page(sqlite3_file *file, void *page, int size, sqlite3_int64 offset) {
  sqlite3_file *real = real_file(file);
  int code = real->pMethods->xRead(real, page, size, offset);
  if (code != SQLITE_OK) return code;
  uint64_t stored;
  memcpy(&stored, (char *)page + size - CPC_RESERVED_BYTES, CPC_RESERVED_BYTES);
  if (stored == checksum_of_page(page, size, offset)) return SQLITE_OK;
  sqlite3_log(SQLITE_IOERR_DATA, "page %lld is damaged", (long long)(offset / size + 1));
  return SQLITE_IOERR_DATA;
}

static int checked_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
  struct checked_file *checked = (struct checked_file *)file;
  int size = checked->page_size;
  if (!checked->is_checked) return real_file(file)->pMethods->xRead(real_file(file), buffer, count, offset);
  if (is_page(count, offset)) {
    checked->page_size = size == 0 ? count : size;
    return read_page(file, buffer, count, offset);
  }
  // Newer versions of SQLite read long values around their cache, without the end of the page.
  if (size > 0 && offset >= size && offset % size + count <= size) {
    unsigned char *page = scratch(checked, size);
    if (page == NULL) return SQLITE_IOERR_NOMEM;
    int code = read_page(file, page, size, offset - offset % size);
    if (code == SQLITE_OK) memcpy(buffer, page + offset % size, (size_t)count);
    return code;
  }
  return real_file(file)->pMethods->xRead(real_file(file), buffer, count, offset);
}

static int checked_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
  sqlite3_file *real = real_file(file);
  struct checked_file *checked = (struct checked_file *)file;
  if (!checked->is_checked || !is_page(count, offset)) return real->pMethods->xWrite(real, buffer, count, offset);
  unsigned char *page = scratch(checked, count);
  if (page == NULL) return SQLITE_IOERR_NOMEM;
  uint64_t checksum = checksum_of_page(buffer, count, offset);
  memcpy(page, buffer, (size_t)count - CPC_RESERVED_BYTES);
  memcpy(page + count - CPC_RESERVED_BYTES, &checksum, CPC_RESERVED_BYTES);
  return real->pMethods->xWrite(real, page, count, offset);
}

static int checked_close(sqlite3_file *file) {
  struct checked_file *checked = (struct checked_file *)file;
  free(checked->scratch);
  checked->scratch = NULL;
  return real_file(file)->pMethods->xClose(real_file(file));
}

static int checked_truncate(sqlite3_file *file, sqlite3_int64 size) {
  struct checked_file *checked = (struct checked_file *)file;
  int code = real_file(file)->pMethods->xTruncate(real_file(file), size);
  // The truncation is SQLite's last action on the file when it brings back a whole log, before it waits for the disk.
  if (code == SQLITE_OK && checked->log != NULL) cpc_log_was_copied(checked->log);
  return code;
}

static int checked_sync(sqlite3_file *file, int flags) {
  struct checked_file *checked = (struct checked_file *)file;
  int code = real_file(file)->pMethods->xSync(real_file(file), flags);
  if (code == SQLITE_OK && checked->log != NULL) cpc_database_was_synced(checked->log);
  return code;
}

static int checked_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real_file(file)->pMethods->xFileSize(real_file(file), size);
}

static int checked_lock(sqlite3_file *file, int level) {
  return real_file(file)->pMethods->xLock(real_file(file), level);
}

static int checked_unlock(sqlite3_file *file, int level) {
  return real_file(file)->pMethods->xUnlock(real_file(file), level);
}

static int checked_check_reserved_lock(sqlite3_file *file, int *is_reserved) {
  return real_file(file)->pMethods->xCheckReservedLock(real_file(file), is_reserved);
}

static int checked_file_control(sqlite3_file *file, int operation, void *argument) {
  return real_file(file)->pMethods->xFileControl(real_file(file), operation, argument);
}

static int checked_sector_size(sqlite3_file *file) {
  return real_file(file)->pMethods->xSectorSize(real_file(file));
}

static int checked_characteristics(sqlite3_file *file) {
  return real_file(file)->pMethods->xDeviceCharacteristics(real_file(file));
}

static int checked_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **address) {
  return real_file(file)->pMethods->xShmMap(real_file(file), region, size, extend, address);
}

static int checked_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  return real_file(file)->pMethods->xShmLock(real_file(file), offset, count, flags);
}

static void checked_shm_barrier(sqlite3_file *file) { real_file(file)->pMethods->xShmBarrier(real_file(file)); }

static int checked_shm_unmap(sqlite3_file *file, int removes) {
  return real_file(file)->pMethods->xShmUnmap(real_file(file), removes);
}

/// The methods of version 2: with a log, without memory-mapped reads, which would bypass the check.
static const sqlite3_io_methods checked_methods = {
    .iVersion = 2,
    .xClose = checked_close,
    .xRead = checked_read,
    .xWrite = checked_write,
    .xTruncate = checked_truncate,
    .xSync = checked_sync,
    .xFileSize = checked_file_size,
    .xLock = checked_lock,
    .xUnlock = checked_unlock,
    .xCheckReservedLock = checked_check_reserved_lock,
    .xFileControl = checked_file_control,
    .xSectorSize = checked_sector_size,
    .xDeviceCharacteristics = checked_characteristics,
    .xShmMap = checked_shm_map,
    .xShmLock = checked_shm_lock,
    .xShmBarrier = checked_shm_barrier,
    .xShmUnmap = checked_shm_unmap,
};

/// Finds out by its header whether the pages of an existing file have checksums; a contradictory header is damage.
static int find_checksums(struct checked_file *checked) {
  unsigned char header[100];
  sqlite3_file *real = real_file(&checked->base);
  // A shorter file is no database; SQLite reports it.
  if (real->pMethods->xRead(real, header, sizeof header, 0) != SQLITE_OK) return SQLITE_OK;
  uint32_t application =
      (uint32_t)header[68] << 24 | (uint32_t)header[69] << 16 | (uint32_t)header[70] << 8 | header[71];
  checked->is_checked = header[20] == CPC_RESERVED_BYTES;
  return checked->is_checked == (application == CPC_APPLICATION_ID) ? SQLITE_OK : SQLITE_NOTADB;
}

static int checked_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
  sqlite3_vfs *real = real_vfs(vfs);
  if (flags & SQLITE_OPEN_WAL) {
    struct checked_file *database = (struct checked_file *)sqlite3_database_file_object(name);
    if (database->base.pMethods == &checked_methods && sqlite3_uri_boolean(name, CPC_NOTES_END, 0))
      return cpc_open_log(real, database, name, file, flags, out);
  }
  if (!(flags & SQLITE_OPEN_MAIN_DB)) return real->xOpen(real, name, file, flags, out);
  struct checked_file *checked = (struct checked_file *)file;
  memset(checked, 0, sizeof *checked);
  checked->is_checked = 1;
  int code = real->xOpen(real, name, real_file(file), flags, out);
  // A file that failed to open may have to be closed all the same; it has methods then.
  if (real_file(file)->pMethods != NULL) file->pMethods = &checked_methods;
  if (code == SQLITE_OK && sqlite3_uri_boolean(name, CPC_MAY_LACK_CHECKSUMS, 0)) code = find_checksums(checked);
  return code;
}

static int checked_delete(sqlite3_vfs *vfs, const char *name, int syncs) {
  return real_vfs(vfs)->xDelete(real_vfs(vfs), name, syncs);
}

static int checked_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  return real_vfs(vfs)->xAccess(real_vfs(vfs), name, flags, result);
}

static int checked_full_pathname(sqlite3_vfs *vfs, const char *name, int size, char *out) {
  return real_vfs(vfs)->xFullPathname(real_vfs(vfs), name, size, out);
}

static sqlite3_vfs checked_vfs;
static int registration;

static void register_once(void) {
  // SQLite's account of its memory takes a lock of the whole process at each allocation. Refused, and without harm, where
  // the program has used SQLite before.
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3_vfs *real = sqlite3_vfs_find(NULL);
  if (real == NULL || !sqlite3_compileoption_used("USE_URI")) {
    registration = SQLITE_MISUSE;
    return;
  }
  // Functions that do not open a file are those of the layer below.
  checked_vfs = *real;
  checked_vfs.pNext = NULL;
  checked_vfs.zName = CPC_NAME;
  checked_vfs.pAppData = real;
  checked_vfs.szOsFile = (int)offset_of_real + real->szOsFile;
  checked_vfs.xOpen = checked_open;
  checked_vfs.xDelete = checked_delete;
  checked_vfs.xAccess = checked_access;
  checked_vfs.xFullPathname = checked_full_pathname;
  registration = sqlite3_vfs_register(&checked_vfs, 0);
}

unsigned cpc_begun_logs(struct sqlite3 *database) {
  struct checked_file *file = NULL;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == NULL || file->base.pMethods != &checked_methods || file->log == NULL) return 0;
  return file->log->begun;
}

int cpc_register(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_once);
  return registration;
}
