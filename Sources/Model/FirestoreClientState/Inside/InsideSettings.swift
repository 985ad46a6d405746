// SPDX-License-Identifier: Apache-2.0

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
}
