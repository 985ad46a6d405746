// SPDX-License-Identifier: Apache-2.0
import CAllocator

/// How many heaps the process has.
enum AllocatorArenas {
  /// Keeps it at two. glibc gives each thread one, up to eight for a processor; the work of a dashboard moves among a
  /// pool of threads, so that what one has freed would lie idle in one heap while another grows.
  /// To be called before there are threads; a C library without heaps has nothing to set.
  static func limit() { _ = mallopt(M_ARENA_MAX, 2) }
}
