// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The display of the running case, on standard error if that is a terminal.
struct Progress {
  let total: Int
  private var done = 0
  private let isShown = isatty(2) == 1

  init(total: Int) { self.total = total }

  mutating func begin(_ text: String) {
    done += 1
    show("[\(done)/\(total)] \(text)")
  }

  func clear() { show("") }

  private func show(_ text: String) {
    if isShown { FileHandle.standardError.write(Data("\r\u{1b}[K\(text)".utf8)) }
  }
}
