// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreQuery

/// What a query that asks to be explained is told (`ExplainMetrics`): the plan and, if it was run, what that took.
struct ExplainMetrics {
  private let query: ServedQuery
  private var results: (count: Int, duration: Duration)?

  /// The plan alone.
  init(planOf query: ServedQuery) { self.query = query }

  /// - Parameter results: how many documents or aggregates were returned.
  init(_ query: ServedQuery, results: Int, duration: Duration) {
    self.query = query
    self.results = (results, duration)
  }

  func write(_ number: Int, to writer: inout WireWriter) {
    writer.field(number) { writer in
      writer.field(1) { writer in
        writer.field(1) { writer in
          // The backend keeps documents by name and looks at all that could match.
          let isCollection = query.scope == .target && query.target.collectionGroup == nil
          writer.entry("query_scope", isCollection ? "Collection" : "Collection group")
          writer.entry("properties", "(__name__ ASC)")
        }
      }
      guard let results else { return }
      writer.field(2) { writer in
        writer.field(1, integer: Int64(results.count))
        writer.field(3) { writer in
          let (seconds, attoseconds) = results.duration.components
          if seconds != 0 { writer.field(1, integer: seconds) }
          writer.field(2, integer: attoseconds / 1_000_000_000)
        }
        // Cloud Firestore bills a query without results as one read.
        writer.field(4, integer: Int64(max(results.count, 1)))
      }
    }
  }
}

extension WireWriter {
  /// A field of a `google.protobuf.Struct` that holds text.
  fileprivate mutating func entry(_ name: String, _ text: String) {
    field(1) { writer in
      writer.field(1, string: name)
      writer.field(2) { $0.field(3, string: text) }
    }
  }
}

extension RequestField {
  /// An `ExplainOptions`.
  /// - Returns: whether the query is to be run too.
  mutating func explainOptions() throws(RPCStatus) -> Bool? {
    try message { inner throws(RPCStatus) in
      var isRun = false
      try inner.fields { number, field throws(RPCStatus) in
        if number == 1 { isRun = try field.boolean() ?? isRun }
      }
      return isRun
    }
  }
}
