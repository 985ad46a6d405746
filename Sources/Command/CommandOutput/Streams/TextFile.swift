// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// A short text that replaces a file in one step.
package enum TextFile {
  package static func write(_ text: String, to path: String, mode: mode_t = 0o666) throws(CommandFailure) {
    let replacement = try FileReplacement(of: path, mode: mode)
    let file = OutputFile(replacement.descriptor, path)
    do {
      try file.data(text)
      try file.flush()
    } catch {
      replacement.discard()
      throw error as? CommandFailure ?? CommandFailure(.inputOutput, "\(path) cannot be written.")
    }
    try replacement.commit()
  }
}
