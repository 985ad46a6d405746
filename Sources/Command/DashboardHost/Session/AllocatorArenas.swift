// SPDX-License-Identifier: Apache-2.0
import CAllocator

/// Limits the number of heaps of the process.
package enum AllocatorArenas {
  /// Limits the heaps to two. glibc gives each thread a heap, up to eight per processor. The dashboard's tasks run on
  /// changing threads of a pool. With many heaps, memory that was freed in one heap would remain unused while another
  /// heap grows. Call this before any thread starts. A C library that has only one heap ignores the limit.
  package static func limit() { _ = mallopt(M_ARENA_MAX, 2) }
}
