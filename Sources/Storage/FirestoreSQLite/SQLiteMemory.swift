// SPDX-License-Identifier: Apache-2.0
import CPageChecksums

package enum SQLiteMemory {
  /// Turns off SQLite's memory accounting, which takes a process-wide lock at each allocation. Only a program may call
  /// this, before its first use of SQLite. A library must not change such settings, because they affect the whole
  /// process.
  package static func disableAccounting() { _ = cpc_disable_memory_accounting() }
}
