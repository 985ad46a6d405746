// SPDX-License-Identifier: Apache-2.0

/// What the screen has cost the terminal's line so far.
package struct TerminalTraffic: Codable, Hashable, Sendable {
  package var bytes: Int
  package var frames: Int

  package init(bytes: Int, frames: Int) {
    self.bytes = bytes
    self.frames = frames
  }
}
