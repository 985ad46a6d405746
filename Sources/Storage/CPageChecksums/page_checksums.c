// SPDX-License-Identifier: Apache-2.0
#include "CPageChecksums.h"
#include "layers.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// A main database file.
struct checked_file {
  sqlite3_file base;
  /// Whether reads verify checksums (PRAGMA checksum_verification).
  int verifies;
  /// The size of a page; 0 until a page is read or written.
  int page_size;
  /// A buffer of one page; NULL until it is needed.
  unsigned char *scratch;
};

_Static_assert(sizeof(struct checked_file) <= layer_bytes, "a database file fits into its room");

static sqlite3_vfs *real_vfs(sqlite3_vfs *vfs) { return (sqlite3_vfs *)vfs->pAppData; }

static uint32_t little_endian(const unsigned char *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void store_little_endian(uint32_t value, unsigned char *bytes) {
  for (int index = 0; index < 4; index += 1) bytes[index] = (unsigned char)(value >> 8 * index);
}

void cpc_checksum(const void *page, size_t count, unsigned char *sums) {
  const unsigned char *next = page;
  uint32_t first = 0, second = 0;
  for (size_t left = count / 8; left > 0; left -= 1, next += 8) {
    first += little_endian(next) + second;
    second += little_endian(next + 4) + first;
  }
  store_little_endian(first, sums);
  store_little_endian(second, sums + 4);
}

int cpc_is_intact(const void *page, size_t size) {
  unsigned char sums[CPC_RESERVED_BYTES];
  cpc_checksum(page, size - CPC_RESERVED_BYTES, sums);
  return memcmp((const char *)page + size - CPC_RESERVED_BYTES, sums, sizeof sums) == 0;
}

/// Whether a call reads or writes one whole page. SQLite accesses whole pages, except for the first bytes of the
/// header.
static int is_page(int count, sqlite3_int64 offset) {
  return count >= 512 && (count & (count - 1)) == 0 && offset % count == 0;
}

/// Returns a buffer for one page. It is needed because writes must not change the pages that SQLite passes.
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
  int code = real_file(file)->pMethods->xRead(real_file(file), page, size, offset);
  if (code != SQLITE_OK || !((struct checked_file *)file)->verifies || cpc_is_intact(page, (size_t)size)) return code;
  sqlite3_log(SQLITE_IOERR_DATA, "page %lld is damaged", (long long)(offset / size + 1));
  return SQLITE_IOERR_DATA;
}

static int checked_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
  struct checked_file *checked = (struct checked_file *)file;
  int size = checked->page_size;
  if (is_page(count, offset)) {
    checked->page_size = size == 0 ? count : size;
    return read_page(file, buffer, count, offset);
  }
  // Newer versions of SQLite read long values without their cache, and without the end of the page.
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
  if (!is_page(count, offset)) return real->pMethods->xWrite(real, buffer, count, offset);
  unsigned char *page = scratch((struct checked_file *)file, count);
  if (page == NULL) return SQLITE_IOERR_NOMEM;
  memcpy(page, buffer, (size_t)count - CPC_RESERVED_BYTES);
  cpc_checksum(page, (size_t)count - CPC_RESERVED_BYTES, page + count - CPC_RESERVED_BYTES);
  return real->pMethods->xWrite(real, page, count, offset);
}

static int checked_close(sqlite3_file *file) {
  struct checked_file *checked = (struct checked_file *)file;
  free(checked->scratch);
  checked->scratch = NULL;
  return real_file(file)->pMethods->xClose(real_file(file));
}

static int checked_truncate(sqlite3_file *file, sqlite3_int64 size) {
  return real_file(file)->pMethods->xTruncate(real_file(file), size);
}

static int checked_sync(sqlite3_file *file, int flags) {
  return real_file(file)->pMethods->xSync(real_file(file), flags);
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
  struct checked_file *checked = (struct checked_file *)file;
  char **pragma = argument;
  if (operation == SQLITE_FCNTL_PRAGMA && sqlite3_stricmp(pragma[1], "checksum_verification") == 0) {
    if (pragma[2] != NULL) {
      checked->verifies = sqlite3_stricmp(pragma[2], "on") == 0 || sqlite3_stricmp(pragma[2], "yes") == 0
        || sqlite3_stricmp(pragma[2], "true") == 0 || atoi(pragma[2]) != 0;
    }
    pragma[0] = sqlite3_mprintf("%d", checked->verifies);
    return SQLITE_OK;
  }
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

/// The methods of version 2. They support a log, but no memory-mapped reads, which would bypass the check.
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

static int checked_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
  sqlite3_vfs *real = real_vfs(vfs);
  if (flags & SQLITE_OPEN_WAL) return cpc_open_log(real, name, file, flags, out);
  if (!(flags & SQLITE_OPEN_MAIN_DB)) return real->xOpen(real, name, file, flags, out);
  struct checked_file *checked = (struct checked_file *)file;
  memset(checked, 0, sizeof *checked);
  checked->verifies = 1;
  int code = real->xOpen(real, name, real_file(file), flags, out);
  // Sets the methods even after a failure: SQLite closes a file that failed to open only if it has methods.
  if (real_file(file)->pMethods != NULL) file->pMethods = &checked_methods;
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
  sqlite3_vfs *real = sqlite3_vfs_find(NULL);
  if (real == NULL || !sqlite3_compileoption_used("USE_URI")) {
    registration = SQLITE_MISUSE;
    return;
  }
  // All functions except opening a file are those of the layer below.
  checked_vfs = *real;
  checked_vfs.pNext = NULL;
  checked_vfs.zName = CPC_NAME;
  checked_vfs.pAppData = real;
  checked_vfs.szOsFile = layer_bytes + real->szOsFile;
  checked_vfs.xOpen = checked_open;
  checked_vfs.xDelete = checked_delete;
  checked_vfs.xAccess = checked_access;
  checked_vfs.xFullPathname = checked_full_pathname;
  registration = sqlite3_vfs_register(&checked_vfs, 0);
}

int cpc_disable_memory_accounting(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

int cpc_register(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_once);
  return registration;
}
