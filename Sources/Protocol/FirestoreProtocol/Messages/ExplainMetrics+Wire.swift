// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The explanation of a query: the plan and, if the query was run, its cost.
package struct ExplainMetrics: Sendable {
  package struct Execution: Sendable {
    /// The number of documents or aggregates that were returned.
    package var results: Int
    package var duration: Duration
    /// The number of documents that were read for the results.
    package var documents: Int
    package var indexEntries: Int

    package init(results: Int, duration: Duration, documents: Int, indexEntries: Int) {
      self.results = results
      self.duration = duration
      self.documents = documents
      self.indexEntries = indexEntries
    }
  }

  /// The scope of the index that answers the query: `Collection` or `Collection group`.
  package var scope: String
  /// The fields of the index, such as `(a ASC, __name__ ASC)`.
  package var properties: String
  package var execution: Execution?

  package init(scope: String, properties: String) {
    self.scope = scope
    self.properties = properties
  }
}

extension WireWriter {
  /// A field with a `google.firestore.v1.ExplainMetrics`.
  mutating func explainMetrics(_ number: Int, _ metrics: ExplainMetrics) {
    field(number) { writer in
      writer.field(1) { writer in
        writer.field(1) { writer in
          writer.entry("query_scope", metrics.scope)
          writer.entry("properties", metrics.properties)
        }
      }
      if let execution = metrics.execution { writer.field(2) { $0.executionStats(execution) } }
    }
  }

  private mutating func executionStats(_ execution: ExplainMetrics.Execution) {
    field(1, integer: Int64(execution.results))
    field(3) { writer in
      let (seconds, attoseconds) = execution.duration.components
      if seconds != 0 { writer.field(1, integer: seconds) }
      writer.field(2, integer: attoseconds / 1_000_000_000)
    }
    // Cloud Firestore bills a query without results as one read.
    field(4, integer: Int64(max(execution.results, 1)))
    field(5) { writer in
      writer.entry("documents_scanned", "\(execution.documents)")
      writer.entry("index_entries_scanned", "\(execution.indexEntries)")
      writer.entry("billing_details") { writer in
        writer.entry("documents_billable", "\(execution.documents)")
        writer.entry("index_entries_billable", "\(execution.indexEntries - execution.documents)")
        writer.entry("min_query_cost", execution.results == 0 ? "1" : "0")
        writer.entry("small_ops", "0")
      }
    }
  }

  /// A field of a `google.protobuf.Struct` that holds another.
  private mutating func entry(_ name: String, _ content: (inout WireWriter) -> Void) {
    field(1) { writer in
      writer.field(1, string: name)
      writer.field(2) { $0.field(5, content) }
    }
  }

  /// A field of a `google.protobuf.Struct` that holds text.
  private mutating func entry(_ name: String, _ text: String) {
    field(1) { writer in
      writer.field(1, string: name)
      writer.field(2) { $0.field(3, string: text) }
    }
  }
}

extension WireReader {
  /// A field that holds a `google.firestore.v1.ExplainOptions`.
  /// - Returns: whether the query is also to be run.
  mutating func explainOptions() throws(WireError) -> Bool {
    var isRun = false
    try message(with: 1, .varint) { reader throws(WireError) in isRun = try reader.boolean() }
    return isRun
  }
}
