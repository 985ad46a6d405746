// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The figures of a user's configuration with which those of the client are compared.
package struct InsideSettings: Codable, Hashable, Sendable {
  package var budget = LatencyBudget()
  package var price = ReadPrice()

  package init() {}
}

/// The times that a user wants a client to keep to.
package struct LatencyBudget: Codable, Hashable, Sendable {
  /// The time that opening the cache may take.
  package var opening = Duration.milliseconds(100)
  /// The time from the first listener to its first snapshot.
  package var firstSnapshot = Duration.milliseconds(250)
  /// The time of a query at the cache that half of the runs keep to, and 99 of 100.
  package var median = Duration.milliseconds(5)
  package var p99 = Duration.milliseconds(50)

  package init() {}
}

/// The price of reads that a bill is estimated with.
package struct ReadPrice: Codable, Hashable, Sendable {
  /// The price of 100 000 reads, in millionths of the currency.
  package var millionths: Int
  package var currency: String
  /// The month as of which the price is assumed: `2025-06`.
  package var asOf: String

  /// Cloud Firestore's list price in its multi-region of the USA (nam5), as it was assumed when this was written.
  package init(millionths: Int = 60_000, currency: String = "USD", asOf: String = "2025-06") {
    self.millionths = millionths
    self.currency = currency
    self.asOf = asOf
  }

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
