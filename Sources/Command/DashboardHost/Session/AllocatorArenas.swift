// SPDX-License-Identifier: Apache-2.0
import CAllocator

/// The number of the process's heaps.
package enum AllocatorArenas {
  /// Limits the heaps to two. glibc gives each thread a heap, up to eight per processor. The dashboard's work moves
  /// between the threads of a pool, so memory freed by one thread would remain idle in one heap while another grows.
  /// Call this before any thread starts. A C library without heaps ignores the limit.
  package static func limit() { _ = mallopt(M_ARENA_MAX, 2) }
}
