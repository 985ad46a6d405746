// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

extension ReadPrice {
  /// The cost of a number of reads: `0.000723 USD`, `1.20 USD`.
  package func text(of reads: Int) -> String {
    let millionths = Int((Double(reads) * Double(self.millionths) / 100_000).rounded())
    return "\(Self.amount(millionths)) \(currency)"
  }

  /// Six digits below a hundredth, else two.
  private static func amount(_ millionths: Int) -> String {
    if millionths == 0 { return "0" }
    if millionths < 10_000 { return "0." + String(1_000_000 + millionths).dropFirst() }
    let cents = (millionths + 5_000) / 10_000
    return "\(grouped(cents / 100))." + String(100 + cents % 100).dropFirst()
  }

  /// The assumption in words.
  package var assumption: String {
    "\(text(of: 100_000)) for 100 000 reads: an assumption, as of \(asOf); [bill] in config.toml has your own"
  }
}

/// The circumstances of a table about the inside of a client: what it is compared with.
package struct InsideContext: Sendable {
  /// The time by which ages are told.
  package var now: Timestamp
  package var settings = InsideSettings()
  /// The reads of the last minute by target; `nil` where they were not followed.
  package var lastMinute: [Target: Int]?
  /// Collections that are known beside those of the cache, with the number of documents that the server last told.
  package var known: [ResourcePath: Int?] = [:]
  /// The count of the cache's indexes; `nil` before there was one.
  package var contents: CacheContents?
  /// Whether the server bills reads.
  package var isBilled = true

  package init(_ now: Timestamp) { self.now = now }
}
