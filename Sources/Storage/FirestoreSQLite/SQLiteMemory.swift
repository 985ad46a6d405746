// SPDX-License-Identifier: Apache-2.0
import CPageChecksums

/// SQLite's memory in this process.
package enum SQLiteMemory {
  /// Turns off SQLite's memory accounting, which takes a process-wide lock at each allocation. Only a program that owns
  /// its process calls this, before its first use of SQLite; a library does not change the settings of its host.
  package static func disableAccounting() { _ = cpc_disable_memory_accounting() }
}
