// SPDX-License-Identifier: Apache-2.0
#include "allocation_count.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NOT_COUNTED
#endif
#endif

#if defined(NOT_COUNTED) || !defined(__GLIBC__) && !defined(__linux__)

unsigned long long allocation_count(void) { return 0; }

#else

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// The functions of glibc that this file replaces.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

// Each thread has a separate counter, so that threads do not contend. If there are more threads than counters, the last
// threads share one.
enum { PLACES = 1024, SHARED = PLACES - 1 };
static struct {
  _Alignas(64) atomic_ullong count;
} places[PLACES];
static atomic_uint threads;
// The index of the thread's counter plus one; 0 before its first allocation.
static _Thread_local unsigned own __attribute__((tls_model("initial-exec")));

static void count_one(void) {
  if (own == 0) {
    unsigned thread = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
    own = (thread < SHARED ? thread : SHARED) + 1;
  }
  atomic_ullong *count = &places[own - 1].count;
  if (own - 1 == SHARED) {
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
  } else {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
  }
}

unsigned long long allocation_count(void) {
  unsigned long long sum = 0;
  unsigned last = atomic_load_explicit(&threads, memory_order_relaxed);
  for (unsigned place = 0; place < PLACES && place <= last; place++) {
    sum += atomic_load_explicit(&places[place].count, memory_order_relaxed);
  }
  return sum;
}

void *malloc(size_t size) {
  count_one();
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  count_one();
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  count_one();
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
  count_one();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count_one();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  count_one();
  void *taken = __libc_memalign(alignment, size);
  if (taken == NULL) return ENOMEM;
  *block = taken;
  return 0;
}

void free(void *block) { __libc_free(block); }

#endif
