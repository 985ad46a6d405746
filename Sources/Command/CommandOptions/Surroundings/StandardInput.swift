// SPDX-License-Identifier: Apache-2.0
package import CommandOutput

/// Descriptor 0 as the source of a command's data.
package enum StandardInput {
  /// - Throws: in a shell that reads its commands there.
  package static func check() throws(CommandFailure) {
    guard Surroundings.current.readsCommands else { return }
    throw CommandFailure(.usage, "standard input holds the shell's commands; name a file in place of -.")
  }
}
