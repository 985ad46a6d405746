// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The turn to open a shared database: one process at a time, until `end`.
final class OpeningTurn: Sendable {
  static let name = "opening"
  /// Looking at a large log takes seconds; what takes longer has been stopped.
  private static let patience = 1000
  private static let pause: UInt32 = 10_000

  private let descriptor: Int32

  /// Waits for those that are opening it.
  /// - Throws: `locked` if that takes more than ten seconds; `notWritable`, `notPrivate`.
  init(in directory: String, _ place: String) throws(StoreError) {
    guard let file = try PrivateFile.open(directory + "/" + Self.name, creating: true) else {
      throw StoreError(.notWritable, "The \(place) cannot be shared: its file \"\(Self.name)\" cannot be made.")
    }
    descriptor = file.descriptor
    for _ in 0..<Self.patience {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      usleep(Self.pause)
    }
    throw StoreError(
      .locked,
      "The \(place) has been about to be opened by another process for ten seconds. If that was stopped, wake it with "
        + "kill -CONT, or end it.")
  }

  func end() { _ = flock(descriptor, LOCK_UN) }

  deinit {
    end()
    close(descriptor)
  }
}
