// SPDX-License-Identifier: Apache-2.0

/// A thing of the whole process that one test at a time may have.
package actor OneAtATime {
  /// The log of all clients.
  package static let log = OneAtATime()

  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Waits until it is free, and takes it.
  package func take() async {
    if !isTaken {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Leaves it to the next one.
  package func give() {
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }
}
