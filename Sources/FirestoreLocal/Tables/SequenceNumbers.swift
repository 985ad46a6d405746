// SPDX-License-Identifier: Apache-2.0

/// Counts the transactions that use documents and targets; what was used least recently has the lowest number.
/// Numbers grow across restarts. They are reserved in blocks, so that most transactions need not store the last one.
final class SequenceNumbers {
  private static let block: Int64 = 1000

  private let globals: Globals
  private var last: Int64
  private var reserved: Int64

  init(_ globals: Globals) throws(LocalStoreError) {
    self.globals = globals
    last = try globals.value(.reservedSequenceNumber) ?? 0
    reserved = last
  }

  /// - Precondition: inside a transaction.
  func next() throws(LocalStoreError) -> Int64 {
    last += 1
    if last > reserved {
      reserved = last + Self.block
      try globals.set(.reservedSequenceNumber, reserved)
    }
    return last
  }

  /// Reserves anew, because the transaction that reserved may have been undone.
  func forget() { reserved = last }
}
