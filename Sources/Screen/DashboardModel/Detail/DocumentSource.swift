// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The side that vouches for the open document, and since when.
package struct DocumentSource: Hashable, Sendable {
  /// Whether the server has not confirmed what is shown, or not since the last outage.
  package let isFromCache: Bool
  /// The time of the news.
  package let time: Timestamp

  package init(isFromCache: Bool, time: Timestamp) {
    self.isFromCache = isFromCache
    self.time = time
  }

  /// The state in words that can be checked.
  /// - Parameter outage: the beginning of the outage that lasts; `nil` while the server can be asked.
  package func text(outage: Timestamp?, offset: Int) -> String {
    if let outage { return StateWord.cache.text(at: outage, offset: offset) }
    return isFromCache ? StateWord.asking.text : StateWord.server.text(at: time, offset: offset)
  }
}
