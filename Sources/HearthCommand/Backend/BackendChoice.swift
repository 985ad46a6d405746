// SPDX-License-Identifier: Apache-2.0

/// Which backend the options name; `Connection` opens it.
enum BackendChoice: Hashable, Sendable {
  /// Inside this process, in a folder that one process uses at a time; `nil` keeps the data in memory.
  case embedded(folder: String?)
}
