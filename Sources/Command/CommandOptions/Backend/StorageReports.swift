// SPDX-License-Identifier: Apache-2.0
import Logging

/// The sentences with which data and cache tell what happened to them, such as commits that a power failure took: each goes
/// to the log, and to the one reader that a screen has. What is told before the reader begins waits for it.
package struct StorageReports: Sendable {
  /// The sentences in their order; of more than 64 that are not read, the newest are in the log only.
  package let sentences: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  package init() { (sentences, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(64)) }

  /// The way from a part of the storage to the log and the reader.
  /// - Parameter label: the part's name in the log.
  package func report(_ label: String) -> @Sendable (String) -> Void {
    let (log, continuation) = (Logger(label: label), continuation)
    return { sentence in
      log.warning("\(sentence)")
      continuation.yield(sentence)
    }
  }
}
