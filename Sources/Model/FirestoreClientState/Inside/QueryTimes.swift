// SPDX-License-Identifier: Apache-2.0
package import FirestoreQuery

/// The times that the cache took to answer a query, by the number of documents that there were to look at.
package struct QueryTimes: Codable, Sendable {
  /// The runs over collections of about one size: up to ten times as large as the smallest.
  package struct Class: Codable, Hashable, Sendable {
    /// The number of documents that no run of the class had more of: 1, 10, 100 and so on. Runs from before the
    /// times were first read have none: the size was not asked for then.
    package var limit: Int?
    package var runs: Int
    package var median: Duration
    /// The time that 99 of 100 runs did not exceed: of fewer runs, the longest.
    package var p99: Duration

    package init(limit: Int?, runs: Int, median: Duration, p99: Duration) {
      self.limit = limit
      self.runs = runs
      self.median = median
      self.p99 = p99
    }
  }

  package var query: Query
  /// The runs by size, ascending; those of the last 256.
  package var classes: [Class]
  /// The number of all runs since the client was opened, or since the query was forgotten.
  package var runs: Int
  /// The way of the last answer.
  package var plan: QueryPlan
  /// The numbers of documents that the last run compared with the query, and that it found.
  package var scanned: Int
  package var found: Int

  package init(query: Query, classes: [Class], runs: Int, plan: QueryPlan, scanned: Int, found: Int) {
    self.query = query
    self.classes = classes
    self.runs = runs
    self.plan = plan
    self.scanned = scanned
    self.found = found
  }
}
