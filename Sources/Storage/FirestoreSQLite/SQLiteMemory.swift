// SPDX-License-Identifier: Apache-2.0
import CPageChecksums

package enum SQLiteMemory {
  /// Turns off SQLite's memory accounting, which takes a process-wide lock at each allocation. Call it only in a
  /// program, before its first use of SQLite. A library must not change the settings of its host.
  package static func disableAccounting() { _ = cpc_disable_memory_accounting() }
}
