// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The explanation of a query: the plan and, if the query was run, its cost.
package struct ExplainMetrics: Hashable, Sendable {
  /// An index that the query used.
  package struct Index: Hashable, Sendable {
    /// The scope of the index: `Collection` or `Collection group`.
    package var scope: String
    /// The fields of the index, such as `(a ASC, __name__ ASC)`.
    package var properties: String

    package init(scope: String, properties: String) {
      self.scope = scope
      self.properties = properties
    }
  }

  package struct Execution: Hashable, Sendable {
    /// The number of documents or aggregations that were returned.
    package var results: Int
    package var duration: Duration
    /// The number of reads that were billed.
    package var readOperations: Int
    /// The number of documents that were read to get the results; `nil` if the server does not report it.
    package var documents: Int?
    /// The number of index entries that were read; `nil` if the server does not report it.
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

extension WireWriter {
  /// Writes a field that contains a `google.firestore.v1.ExplainMetrics`.
  mutating func explainMetrics(_ number: Int, _ metrics: ExplainMetrics) {
    field(number) { writer in
      writer.field(1) { writer in
        for index in metrics.indexes {
          writer.field(1) { writer in
            writer.entry("query_scope", index.scope)
            writer.entry("properties", index.properties)
          }
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
    field(4, integer: Int64(execution.readOperations))
    guard let documents = execution.documents, let entries = execution.indexEntries else { return }
    field(5) { writer in
      writer.entry("documents_scanned", "\(documents)")
      writer.entry("index_entries_scanned", "\(entries)")
      writer.entry("billing_details") { writer in
        writer.entry("documents_billable", "\(documents)")
        writer.entry("index_entries_billable", "\(entries - documents)")
        writer.entry("min_query_cost", execution.results == 0 ? "1" : "0")
        writer.entry("small_ops", "0")
      }
    }
  }

  /// Writes a field of a `google.protobuf.Struct` whose value is another `Struct`.
  private mutating func entry(_ name: String, _ content: (inout WireWriter) -> Void) {
    field(1) { writer in
      writer.field(1, string: name)
      writer.field(2) { $0.field(5, content) }
    }
  }

  /// Writes a field of a `google.protobuf.Struct` whose value is a text.
  private mutating func entry(_ name: String, _ text: String) {
    field(1) { writer in
      writer.field(1, string: name)
      writer.field(2) { $0.field(3, string: text) }
    }
  }
}

extension WireReader {
  /// Reads a field that contains a `google.firestore.v1.ExplainOptions`.
  /// - Returns: whether the query is also run.
  mutating func explainOptions() throws(WireError) -> Bool {
    var isRun = false
    try message(with: 1, .varint) { reader throws(WireError) in isRun = try reader.boolean() }
    return isRun
  }

  /// Reads a field that contains a `google.firestore.v1.ExplainMetrics`. Servers send some execution figures as text.
  /// If such a text is not a number, the figure counts as missing.
  mutating func explainMetrics() throws(WireError) -> ExplainMetrics {
    var (reader, metrics) = (try message(), ExplainMetrics([]))
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited):
        try reader.message(with: 1, .lengthDelimited) { reader throws(WireError) in
          let texts = try reader.texts()
          metrics.indexes.append(
            ExplainMetrics.Index(scope: texts["query_scope"] ?? "", properties: texts["properties"] ?? ""))
        }
      case (2, .lengthDelimited): metrics.execution = try reader.executionStats()
      default: try reader.skip(tag.type)
      }
    }
    return metrics
  }

  private mutating func executionStats() throws(WireError) -> ExplainMetrics.Execution {
    var reader = try message()
    var execution = ExplainMetrics.Execution(results: 0, duration: .zero, documents: nil, indexEntries: nil)
    execution.readOperations = 0
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): execution.results = Int(try reader.integer())
      case (3, .lengthDelimited): execution.duration = try reader.duration()
      case (4, .varint): execution.readOperations = Int(try reader.integer())
      case (5, .lengthDelimited):
        let texts = try reader.texts()
        execution.documents = texts["documents_scanned"].flatMap { Int($0) }
        execution.indexEntries = texts["index_entries_scanned"].flatMap { Int($0) }
      default: try reader.skip(tag.type)
      }
    }
    return execution
  }

  /// Reads a field that contains a `google.protobuf.Duration`.
  private mutating func duration() throws(WireError) -> Duration {
    var (reader, seconds, nanoseconds) = (try message(), Int64(0), Int64(0))
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): seconds = try reader.integer()
      case (2, .varint): nanoseconds = try reader.integer()
      default: try reader.skip(tag.type)
      }
    }
    return .seconds(seconds) + .nanoseconds(nanoseconds)
  }

  /// Reads a field that contains a `google.protobuf.Struct`. Only strings are read.
  private mutating func texts() throws(WireError) -> [String: String] {
    var texts: [String: String] = [:]
    try message(with: 1, .lengthDelimited) { reader throws(WireError) in
      var (entry, name, text) = (try reader.message(), "", String?.none)
      while let tag = try entry.tag() {
        switch (tag.field, tag.type) {
        case (1, .lengthDelimited): name = try entry.string()
        case (2, .lengthDelimited):
          try entry.message(with: 3, .lengthDelimited) { value throws(WireError) in text = try value.string() }
        default: try entry.skip(tag.type)
        }
      }
      if let text { texts[name] = text }
    }
    return texts
  }
}
