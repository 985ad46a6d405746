// SPDX-License-Identifier: Apache-2.0
import CAllocator

/// The number of the process's heaps.
package enum AllocatorArenas {
  /// Limits the heaps to two. glibc gives each thread one, up to eight for a processor; the work of a dashboard moves
  /// among a pool of threads, so that memory freed by one thread would lie idle in one heap while another grows. Must
  /// be called before there are threads; a C library without heaps has nothing to set.
  package static func limit() { _ = mallopt(M_ARENA_MAX, 2) }
}
