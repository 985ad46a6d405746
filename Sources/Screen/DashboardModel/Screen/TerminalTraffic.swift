// SPDX-License-Identifier: Apache-2.0

/// The bytes and frames that the screen has sent to the terminal so far.
package struct TerminalTraffic: Codable, Hashable, Sendable {
  package var bytes: Int
  package var frames: Int

  package init(bytes: Int, frames: Int) {
    self.bytes = bytes
    self.frames = frames
  }
}
