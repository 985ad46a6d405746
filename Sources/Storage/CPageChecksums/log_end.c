// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include <errno.h>
#include <stddef.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The noted end of a log. A log that lost its end, or all of itself, looks to SQLite like one with fewer commits. So
// its end is noted in a small file of its own, when a commit is in the log and before any caller is told of the commit:
//
//   slot 0  the log that was begun last, the one before, the database that it goes on from
//   slot 1  the last commit            slot 2  what of it is on the disk           slot 3  what is in the database
//
// Each slot is written by one call, by the connection that holds the lock for its subject, and has a checksum. Only the
// first waits for the disk, before the log's own header: the notes never claim more than was written.

enum { begun_slot, committed_slot, synced_slot, restored_slot, slot_count, slot_distance = 64 };

struct slot {
  unsigned char salts[8];
  uint64_t value;
  uint64_t more;
  uint64_t boot;
  uint64_t checksum;
};

static uint64_t boot;

static void read_boot(void) {
  char text[64];
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t count = file < 0 ? 0 : read(file, text, sizeof text);
  if (file >= 0) close(file);
  boot = count > 0 ? cpc_checksum(text, (size_t)count, 0) : 0;
}

static uint64_t this_boot(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_boot);
  return boot;
}

static uint64_t checksum_of(const struct slot *slot, int number) {
  return cpc_checksum(slot, offsetof(struct slot, checksum), (uint32_t)number + 1);
}

/// The result code for a write that the system has refused.
static int failure(int error) {
  // The disk is full, or a quota, or a limit of the size of files is reached.
  return error == ENOSPC || error == EDQUOT || error == EFBIG ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

/// Reads a slot. Returns whether it holds a valid note.
static int read_slot(int notes, int number, struct slot *slot) {
  ssize_t count = pread(notes, slot, sizeof *slot, number * slot_distance);
  return count == (ssize_t)sizeof *slot && slot->checksum == checksum_of(slot, number);
}

static int write_slot(int notes, int number, const unsigned char *salts, uint64_t value, uint64_t more) {
  struct slot slot = {.value = value, .more = more, .boot = this_boot()};
  memcpy(slot.salts, salts, sizeof slot.salts);
  slot.checksum = checksum_of(&slot, number);
  ssize_t count = pwrite(notes, &slot, sizeof slot, number * slot_distance);
  if (count == (ssize_t)sizeof slot) return SQLITE_OK;
  return count >= 0 ? SQLITE_FULL : failure(errno);
}

static uint32_t word(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint64_t number_of(const unsigned char *salts) { return (uint64_t)word(salts) << 32 | word(salts + 4); }

void cpc_read_log_end(const char *path, struct cpc_log_end *end) {
  memset(end, 0, sizeof *end);
  int notes = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (notes < 0) return;
  struct slot slot;
  if (read_slot(notes, begun_slot, &slot)) {
    unsigned char previous[8];
    memcpy(previous, &slot.more, sizeof previous);
    end->salts = number_of(slot.salts);
    end->previous_salts = number_of(previous);
    end->base = slot.value;
  }
  if (read_slot(notes, committed_slot, &slot)) {
    end->committed_salts = number_of(slot.salts);
    end->committed = slot.value;
    end->is_of_this_boot = slot.boot != 0 && slot.boot == this_boot();
    struct slot part;
    if (read_slot(notes, synced_slot, &part) && number_of(part.salts) == end->committed_salts) end->synced = part.value;
    if (read_slot(notes, restored_slot, &part) && number_of(part.salts) == end->committed_salts)
      end->restored = part.value;
  }
  close(notes);
}

// MARK: The log

/// The checksum of the database's first page in the file; 0 if there is none.
static uint64_t base_of(struct checked_file *database, int page_size) {
  sqlite3_file *real = real_file(&database->base);
  unsigned char *page = malloc((size_t)page_size);
  if (page == NULL) return 0;
  int code = real->pMethods->xRead(real, page, page_size, 0);
  uint64_t sum = code == SQLITE_OK ? cpc_checksum(page, (size_t)page_size - CPC_RESERVED_BYTES, 1) : 0;
  free(page);
  return sum;
}

/// Notes that a log begins: before its header is written, and so that the note survives a power cut.
static int begin(struct log_file *log, const unsigned char *header) {
  sqlite3_file *real = real_file(&log->base);
  unsigned char old[32] = {0};
  uint64_t previous;
  // A shorter file makes SQLite's read return an error, and fill the rest with zeros.
  (void)real->pMethods->xRead(real, old, sizeof old, 0);
  memcpy(&previous, old + 16, sizeof previous);
  log->page_size = (int)word(header + 8);
  if (log->page_size < 512 || log->page_size > 65536) return SQLITE_OK;
  int code = write_slot(log->notes, begun_slot, header + 16, base_of(log->database, log->page_size), previous);
  if (code == SQLITE_OK && fdatasync(log->notes) != 0) code = SQLITE_IOERR_FSYNC;
  if (code != SQLITE_OK) return code;
  log->begun += 1;
  log->header = log->written = log->commit = 0;
  log->is_rewriting = 0;
  return SQLITE_OK;
}

/// The page size of a log that another connection may have begun.
static int page_size_of(struct log_file *log) {
  if (log->page_size != 0) return log->page_size;
  sqlite3_file *real = real_file(&log->base);
  unsigned char bytes[4];
  if (real->pMethods->xRead(real, bytes, sizeof bytes, 8) == SQLITE_OK) log->page_size = (int)word(bytes);
  return log->page_size;
}

static int note_commit(struct log_file *log) {
  sqlite3_int64 end = log->commit;
  log->commit = 0;
  log->is_rewriting = 0;
  int code = cpc_flush_log(log);
  if (code != SQLITE_OK) return code;
  return write_slot(log->notes, committed_slot, log->salts, (uint64_t)end, 0);
}

static int header_was_written(struct log_file *log, const unsigned char *header, sqlite3_int64 offset) {
  sqlite3_int64 end = offset + 24 + page_size_of(log);
  int is_commit = word(header + 4) != 0;
  memcpy(log->salts, header + 8, sizeof log->salts);
  log->header = offset;
  // The commit is whole with the last of the headers that are written again.
  if (is_commit && log->is_rewriting && log->commit == end) return note_commit(log);
  // The frame comes after all that was written, or replaces a transaction that was given up.
  if (!log->is_rewriting) log->written = offset;
  log->commit = is_commit ? end : log->is_rewriting ? log->commit : 0;
  return SQLITE_OK;
}

static int page_was_written(struct log_file *log, int count, sqlite3_int64 offset) {
  if (offset < log->written) {
    // A page without its header replaces one of this transaction; with it, it is the first of the next transaction,
    // after one that was given up.
    log->is_rewriting = offset != log->header + 24;
    if (!log->is_rewriting) log->written = offset;
  }
  sqlite3_int64 end = offset + count;
  if (end > log->written) log->written = end;
  return end == log->commit && !log->is_rewriting ? note_commit(log) : SQLITE_OK;
}

static int log_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
  struct log_file *log = (struct log_file *)file;
  if (offset == 0 && count == 32) {
    int code = begin(log, buffer);
    if (code != SQLITE_OK) return code;
  }
  int code = cpc_write_log(log, buffer, count, offset);
  if (code == SQLITE_OK && offset < 32) code = cpc_flush_log(log);
  if (code != SQLITE_OK || offset < 32) return code;
  int is_header = count == 24 && (offset - 32) % (24 + page_size_of(log)) == 0;
  // A commit whose end could not be noted has not happened.
  return is_header ? header_was_written(log, buffer, offset) : page_was_written(log, count, offset);
}

static int log_sync(sqlite3_file *file, int flags) {
  struct log_file *log = (struct log_file *)file;
  struct slot slot;
  // The commits noted before the sync are on the disk after it.
  int is_noted = read_slot(log->notes, committed_slot, &slot);
  int code = cpc_flush_log(log);
  if (code != SQLITE_OK) return code;
  code = real_file(file)->pMethods->xSync(real_file(file), flags);
  if (code != SQLITE_OK || !is_noted) return code;
  log->restoring = (sqlite3_int64)slot.value;
  memcpy(log->restoring_salts, slot.salts, sizeof slot.salts);
  log->is_restored = 0;
  // A note that cannot be written leaves an earlier one.
  (void)write_slot(log->notes, synced_slot, slot.salts, slot.value, 0);
  return code;
}

void cpc_log_was_copied(struct log_file *log) { log->is_restored = log->restoring != 0; }

void cpc_database_was_synced(struct log_file *log) {
  if (!log->is_restored) return;
  log->is_restored = 0;
  (void)write_slot(log->notes, restored_slot, log->restoring_salts, (uint64_t)log->restoring, 0);
}

static int log_close(sqlite3_file *file) {
  struct log_file *log = (struct log_file *)file;
  if (log->database != NULL) log->database->log = NULL;
  if (log->notes >= 0) close(log->notes);
  log->notes = -1;
  cpc_close_log(log);
  return real_file(file)->pMethods->xClose(real_file(file));
}

static int log_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
  return cpc_read_log((struct log_file *)file, buffer, count, offset);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int code = cpc_flush_log((struct log_file *)file);
  if (code != SQLITE_OK) return code;
  return real_file(file)->pMethods->xTruncate(real_file(file), size);
}

static int log_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  int code = cpc_flush_log((struct log_file *)file);
  if (code != SQLITE_OK) return code;
  return real_file(file)->pMethods->xFileSize(real_file(file), size);
}

static int log_lock(sqlite3_file *file, int level) { return real_file(file)->pMethods->xLock(real_file(file), level); }

static int log_unlock(sqlite3_file *file, int level) {
  return real_file(file)->pMethods->xUnlock(real_file(file), level);
}

static int log_check_reserved_lock(sqlite3_file *file, int *is_reserved) {
  return real_file(file)->pMethods->xCheckReservedLock(real_file(file), is_reserved);
}

static int log_file_control(sqlite3_file *file, int operation, void *argument) {
  return real_file(file)->pMethods->xFileControl(real_file(file), operation, argument);
}

static int log_sector_size(sqlite3_file *file) { return real_file(file)->pMethods->xSectorSize(real_file(file)); }

static int log_characteristics(sqlite3_file *file) {
  return real_file(file)->pMethods->xDeviceCharacteristics(real_file(file));
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_file_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_reserved_lock,
    .xFileControl = log_file_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_characteristics,
};

/// Opens the file with the notes of the log called `name`, and makes it if there is none. Returns SQLite's result code.
static int open_notes(const char *name, int *result) {
  size_t length = strlen(name);
  if (length < 4) return SQLITE_CANTOPEN;
  char *path = malloc(length + sizeof CPC_LOG_END_SUFFIX);
  if (path == NULL) return SQLITE_NOMEM;
  memcpy(path, name, length - strlen("-wal"));
  strcpy(path + length - strlen("-wal"), CPC_LOG_END_SUFFIX);
  int notes = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  int error = errno;
  free(path);
  if (notes < 0) return failure(error) == SQLITE_FULL ? SQLITE_FULL : SQLITE_CANTOPEN;
  // The file gets its final size, so that a disk that is full later does not matter.
  char end = 0;
  if (lseek(notes, 0, SEEK_END) == 0 && pwrite(notes, &end, 1, slot_count * slot_distance - 1) != 1) {
    int code = failure(errno);
    close(notes);
    return code;
  }
  *result = notes;
  return SQLITE_OK;
}

int cpc_open_log(sqlite3_vfs *real, struct checked_file *database, const char *name, sqlite3_file *file, int flags,
                 int *out) {
  struct log_file *log = (struct log_file *)file;
  memset(log, 0, sizeof *log);
  log->notes = -1;
  int code = real->xOpen(real, name, real_file(file), flags, out);
  if (real_file(file)->pMethods != NULL) file->pMethods = &log_methods;
  if (code != SQLITE_OK) return code;
  code = open_notes(name, &log->notes);
  if (code != SQLITE_OK) return code;
  log->database = database;
  database->log = log;
  return SQLITE_OK;
}
