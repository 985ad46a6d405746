// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync

/// How the cache answers a query, and what that costs. `description` says it in sentences.
public struct QueryExplanation: Hashable, Sendable, CustomStringConvertible {
  /// Where the documents came from.
  public enum Plan: String, Hashable, Sendable, CaseIterable {
    /// The query names its one document.
    case document
    /// From the documents that the query had when it was last in sync with the server, and what changed since.
    case syncedResult
    /// From the documents that local indexes named.
    case index
    /// From all cached documents of the collection or group.
    case scan
  }

  /// How an index took part.
  public struct IndexUse: Hashable, Sendable, CustomStringConvertible {
    private let use: FirestoreClientState.IndexUse

    fileprivate init(_ use: FirestoreClientState.IndexUse) { self.use = use }

    /// The index that was used.
    public var index: IndexDefinition { IndexDefinition(use.index) }
    /// The conditions that the index answered, such as `state == "CA"`; the others were checked on what it found.
    public var servedFilters: [String] { use.filterTexts }
    /// Whether documents were read in the query's order, and only until its limit was reached.
    public var servesOrder: Bool { use.servesOrder }
    /// As `cities(state ascending) for state == "CA"`.
    public var description: String { use.description }
  }

  private let explanation: FirestoreClientState.QueryExplanation

  init(_ explanation: FirestoreClientState.QueryExplanation) { self.explanation = explanation }

  /// Where the documents came from.
  public var plan: Plan {
    switch explanation.plan {
    case .document: .document
    case .syncedResult: .syncedResult
    case .index: .index
    case .scan: .scan
    }
  }

  /// With the plan `index`.
  public var indexes: [IndexUse] { explanation.indexes.map { IndexUse($0) } }
  /// Cached documents that were compared with the query; those with pending writes come on top.
  public var documentsScanned: Int { explanation.documentsScanned }
  /// Documents of the result.
  public var documentsReturned: Int { explanation.documentsReturned }
  /// Entries of indexes that were read to find them.
  public var indexEntriesRead: Int { explanation.entriesRead }
  /// How long the cache took.
  public var duration: Duration { explanation.duration }
  /// With the plan `scan`: indexes that would spare it and are not there yet. Empty if none would.
  public var suggestedIndexes: [IndexDefinition] { explanation.suggestedIndexes.map { IndexDefinition($0) } }
  /// Whether some index is still being filled, and not used yet.
  public var isBuildingIndexes: Bool { explanation.isBuildingIndexes }
  /// The server is not asked: what it holds beyond the cache takes no part.
  public var isFromCache: Bool { true }
  /// Several lines: the plan, the indexes, the cost, and what would help.
  public var description: String { explanation.description }
}

extension Query {
  /// Answers the query from the cache and says how: by which plan and index, and at what cost.
  public func explain() async throws -> QueryExplanation {
    let query = try validated()
    return try await firestore.ask { engine throws(RPCStatus) in QueryExplanation(try await engine.explain(query)) }
  }
}
