// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What a block returned, on its way from the block's thread to the caller: taken once.
final class BlockResult: Sendable {
  private let value: Mutex<Any?>

  init(_ value: sending Any?) { self.value = Mutex(value) }

  func take() -> sending Any? { value.withLock { $0.take() } }
}
