// SPDX-License-Identifier: Apache-2.0
// Tells ThreadSanitizer about contended locks of Swift's `Mutex`.
//
// Taking and giving back a free `Mutex` is compiled into the program, and seen. When two threads want it at once, code
// in libswiftSynchronization takes over, which was built without the sanitizer and hands the lock over in the kernel:
// everything that the lock guards then looks like a race. A list of suppressions would hide true races in which one of
// both sides holds some lock. Instead this library, loaded before that one, takes its place in those two functions,
// calls them, and says in the sanitizer's own words what they did.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// In the program under test; absent from the others that the environment variable reaches.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void (*LockSlow)(uint32_t thread, __attribute__((swift_context)) void *handle);
typedef __attribute__((swiftcall)) void (*UnlockSlow)(__attribute__((swift_context)) void *handle);

__attribute__((swiftcall)) void lockSlow(uint32_t thread, __attribute__((swift_context)) void *handle) __asm__(LOCK);
__attribute__((swiftcall)) void unlockSlow(__attribute__((swift_context)) void *handle) __asm__(UNLOCK);

__attribute__((swiftcall)) void lockSlow(uint32_t thread, __attribute__((swift_context)) void *handle) {
  LockSlow original = (LockSlow)dlsym(RTLD_NEXT, LOCK);
  original(thread, handle);
  if (__tsan_acquire) __tsan_acquire(handle);
}

__attribute__((swiftcall)) void unlockSlow(__attribute__((swift_context)) void *handle) {
  UnlockSlow original = (UnlockSlow)dlsym(RTLD_NEXT, UNLOCK);
  if (__tsan_release) __tsan_release(handle);
  original(handle);
}
