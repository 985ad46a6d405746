// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync

/// The cache's plan for a query, and the cost of executing the query. `description` explains both in sentences.
public struct QueryExplanation: Hashable, Sendable, CustomStringConvertible {
  /// The source of the query's documents.
  public enum Plan: String, Hashable, Sendable, CaseIterable {
    /// The query reads a single document.
    case document
    /// The query started with its last result that was in sync with the server, and then read the documents that have
    /// changed since.
    case syncedResult
    /// The query found its documents through local indexes.
    case index
    /// The query read all cached documents of the collection or collection group.
    case scan
  }

  /// The role of an index in a query plan.
  public struct IndexUse: Hashable, Sendable, CustomStringConvertible {
    private let use: FirestoreClientState.IndexUse

    fileprivate init(_ use: FirestoreClientState.IndexUse) { self.use = use }

    /// The index.
    public var index: IndexDefinition { IndexDefinition(use.index) }
    /// The conditions that the index evaluated, such as `state == "CA"`. The query evaluated all other conditions on
    /// the documents that the index returned.
    public var servedFilters: [String] { use.filterTexts }
    /// Whether the index returned documents in the query's order, so that reading stopped at the query's limit.
    public var servesOrder: Bool { use.servesOrder }
    /// The use of the index as text, such as `cities(state ascending) for state == "CA"`.
    public var description: String { use.description }
  }

  private let explanation: FirestoreClientState.QueryExplanation

  init(_ explanation: FirestoreClientState.QueryExplanation) { self.explanation = explanation }

  /// The source of the query's documents.
  public var plan: Plan {
    switch explanation.plan {
    case .document: .document
    case .syncedResult: .syncedResult
    case .index: .index
    case .scan: .scan
    }
  }

  /// The indexes that the query used; empty unless `plan` is `index`.
  public var indexes: [IndexUse] { explanation.indexes.map { IndexUse($0) } }
  /// The number of cached documents that were compared with the query. Documents with pending writes are not counted.
  public var documentsScanned: Int { explanation.documentsScanned }
  /// The document count of the result.
  public var documentsReturned: Int { explanation.documentsReturned }
  /// The number of index entries that were read to find the documents.
  public var indexEntriesRead: Int { explanation.entriesRead }
  /// The time that the cache took to run the query.
  public var duration: Duration { explanation.duration }
  /// The indexes that would avoid the scan, if `plan` is `scan`. Empty if no index would help.
  public var suggestedIndexes: [IndexDefinition] { explanation.suggestedIndexes.map { IndexDefinition($0) } }
  /// Whether an index is still being built, and therefore not in use yet.
  public var isBuildingIndexes: Bool { explanation.isBuildingIndexes }
  /// Always `true`, because `explain()` uses only cached documents.
  public var isFromCache: Bool { true }
  /// The explanation in several lines: the plan, the indexes used, the cost, and indexes that would help.
  public var description: String { explanation.description }
}

extension Query {
  /// Runs the query on the cache, and explains the query's plan, the indexes that it used, and its cost.
  public func explain() async throws -> QueryExplanation {
    let query = try validated()
    return try await firestore.ask { engine throws(RPCStatus) in QueryExplanation(try await engine.explain(query)) }
  }
}
