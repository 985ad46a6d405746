// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions

/// A command that writes documents; refused where writing is not allowed.
package protocol WritingCommand: ParsableCommand {
  var storage: StorageOptions { get }
  /// Whether the run writes; `false` for one that only reports what would be written.
  var writes: Bool { get }
}

extension WritingCommand {
  package var writes: Bool { true }
}
