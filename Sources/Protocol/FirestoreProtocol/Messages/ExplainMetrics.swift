// SPDX-License-Identifier: Apache-2.0

/// The explanation of a query: the plan and, if the query was run, its cost.
package struct ExplainMetrics: Hashable, Sendable {
  /// An index that takes part in the answer.
  package struct Index: Hashable, Sendable {
    /// `Collection` or `Collection group`.
    package var scope: String
    /// The fields, such as `(a ASC, __name__ ASC)`.
    package var properties: String

    package init(scope: String, properties: String) {
      self.scope = scope
      self.properties = properties
    }
  }

  package struct Execution: Hashable, Sendable {
    /// The number of documents or aggregates that were returned.
    package var results: Int
    package var duration: Duration
    /// The number of reads that are billed.
    package var readOperations: Int
    /// The number of documents that were read for the results; `nil` if the server does not tell.
    package var documents: Int?
    /// The number of index entries that were read; `nil` if the server does not tell.
    package var indexEntries: Int?

    package init(results: Int, duration: Duration, documents: Int?, indexEntries: Int?) {
      self.results = results
      self.duration = duration
      // Cloud Firestore bills a query without results as one read.
      readOperations = max(results, 1)
      self.documents = documents
      self.indexEntries = indexEntries
    }
  }

  package var indexes: [Index]
  package var execution: Execution?

  package init(_ indexes: [Index]) { self.indexes = indexes }
}
