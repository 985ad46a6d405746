// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "FailingCalls.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *fail_path, *fail_calls;
static long fail_at, fail_count;
static int fail_error, record_file = -1;
static atomic_long calls;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;

static long number(const char *name) {
  const char *value = getenv(name);
  return value != NULL ? atol(value) : 0;
}

static void read_environment(void) {
  fail_path = getenv("FAIL_PATH");
  fail_calls = getenv("FAIL_CALLS");
  fail_at = number("FAIL_AT");
  fail_count = number("FAIL_COUNT");
  fail_error = (int)number("FAIL_ERROR");
  const char *record = getenv("FAIL_RECORD");
  if (record != NULL) {
    record_file = (int)syscall(SYS_openat, AT_FDCWD, record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
}

static int concerns(const char *path) {
  pthread_once(&once, read_environment);
  return fail_path != NULL && strstr(path, fail_path) != NULL;
}

static int path_of(int file, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t count = readlink(link, path, size - 1);
  if (count < 0) return 0;
  path[count] = 0;
  return 1;
}

/// Whether this call fails.
static int fails(const char *call) {
  if (fail_at == 0 || fail_calls == NULL || strstr(fail_calls, call) == NULL) return 0;
  long count = atomic_fetch_add(&calls, 1) + 1;
  return count >= fail_at && (fail_count == 0 || count < fail_at + fail_count);
}

static int failure(void) {
  if (fail_error == 0) {
    kill(getpid(), SIGKILL);
    pause();
  }
  errno = fail_error;
  return -1;
}

static void record(uint32_t kind, const char *path, uint64_t offset, const void *bytes, uint64_t count, int file) {
  if (record_file < 0) return;
  struct recorded_call call = {kind, (uint32_t)strlen(path), offset, count, 0};
  struct stat information;
  if (file >= 0 && fstat(file, &information) == 0) call.file = information.st_ino;
  struct iovec parts[] = {
      {&call, sizeof call}, {(void *)path, call.path_count}, {(void *)bytes, bytes != NULL ? count : 0}};
  pthread_mutex_lock(&record_lock);
  (void)!syscall(SYS_writev, record_file, parts, 3);
  pthread_mutex_unlock(&record_lock);
}

void failing_calls_mark(uint64_t number) {
  pthread_once(&once, read_environment);
  record(recorded_mark, "", number, NULL, 0, -1);
}

// MARK: Calls on open files

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  char path[512];
  int is_concerned = path_of(file, path, sizeof path) && concerns(path);
  if (is_concerned && fails("write")) {
    if (fail_error == 0) syscall(SYS_pwrite64, file, bytes, count / 2, offset);
    return failure();
  }
  ssize_t written = syscall(SYS_pwrite64, file, bytes, count, offset);
  if (is_concerned && written > 0) record(recorded_write, path, (uint64_t)offset, bytes, (uint64_t)written, file);
  return written;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) { return pwrite64(file, bytes, count, offset); }

ssize_t write(int file, const void *bytes, size_t count) {
  char path[512];
  int is_concerned = file > 2 && path_of(file, path, sizeof path) && concerns(path);
  off_t offset = is_concerned ? lseek(file, 0, SEEK_CUR) : 0;
  if (is_concerned && fails("write")) {
    if (fail_error == 0) syscall(SYS_write, file, bytes, count / 2);
    return failure();
  }
  ssize_t written = syscall(SYS_write, file, bytes, count);
  if (is_concerned && written > 0) record(recorded_write, path, (uint64_t)offset, bytes, (uint64_t)written, file);
  return written;
}

static int synchronize(long call, int file) {
  char path[512];
  int is_concerned = path_of(file, path, sizeof path) && concerns(path);
  if (is_concerned && fails("fsync")) return failure();
  int result = (int)syscall(call, file);
  if (is_concerned && result == 0) record(recorded_sync, path, 0, NULL, 0, file);
  return result;
}

int fsync(int file) { return synchronize(SYS_fsync, file); }
int fdatasync(int file) { return synchronize(SYS_fdatasync, file); }

int ftruncate64(int file, off64_t size) {
  char path[512];
  int is_concerned = path_of(file, path, sizeof path) && concerns(path);
  if (is_concerned && fails("ftruncate")) return failure();
  int result = (int)syscall(SYS_ftruncate, file, size);
  if (is_concerned && result == 0) record(recorded_size, path, (uint64_t)size, NULL, 0, file);
  return result;
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

void *mmap64(void *address, size_t count, int protection, int flags, int file, off64_t offset) {
  char path[512];
  if (file >= 0 && path_of(file, path, sizeof path) && concerns(path) && fails("mmap")) {
    failure();
    return MAP_FAILED;
  }
  return (void *)syscall(SYS_mmap, address, count, protection, flags, file, offset);
}

void *mmap(void *address, size_t count, int protection, int flags, int file, off_t offset) {
  return mmap64(address, count, protection, flags, file, offset);
}

// MARK: Calls on names

int rename(const char *from, const char *to) {
  if (concerns(to) && fails("rename")) return failure();
  int result = (int)syscall(SYS_rename, from, to);
  if (result == 0 && concerns(to)) record(recorded_rename, from, 0, to, strlen(to), -1);
  return result;
}

int unlink(const char *path) {
  int result = (int)syscall(SYS_unlink, path);
  if (result == 0 && concerns(path)) record(recorded_removal, path, 0, NULL, 0, -1);
  return result;
}

static int open_file(int directory, const char *path, int flags, mode_t mode) {
  int is_concerned = concerns(path);
  if (is_concerned && (flags & (O_CREAT | O_RDWR | O_WRONLY)) != 0 && fails("open")) return failure();
  int file = (int)syscall(SYS_openat, directory, path, flags, mode);
  if (file >= 0 && is_concerned && (flags & O_CREAT) != 0) {
    record(recorded_creation, path, (flags & O_TRUNC) != 0, NULL, 0, file);
  }
  return file;
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return open_file(AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return open_file(AT_FDCWD, path, flags, mode);
}
