// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync

/// The way in which the cache answers a query, and its cost. `description` says it in sentences.
public struct QueryExplanation: Hashable, Sendable, CustomStringConvertible {
  /// The source of the documents.
  public enum Plan: String, Hashable, Sendable, CaseIterable {
    /// The query names its one document.
    case document
    /// The documents that the query had when it was last in sync with the server, and those that changed since.
    case syncedResult
    /// The documents that local indexes named.
    case index
    /// All cached documents of the collection or group.
    case scan
  }

  /// The part that an index had in an answer.
  public struct IndexUse: Hashable, Sendable, CustomStringConvertible {
    private let use: FirestoreClientState.IndexUse

    fileprivate init(_ use: FirestoreClientState.IndexUse) { self.use = use }

    /// The index that was used.
    public var index: IndexDefinition { IndexDefinition(use.index) }
    /// The conditions that the index answered, such as `state == "CA"`; the others were checked on the documents that
    /// it named.
    public var servedFilters: [String] { use.filterTexts }
    /// Whether documents were read in the query's order, and only until its limit was reached.
    public var servesOrder: Bool { use.servesOrder }
    /// The use as text, such as `cities(state ascending) for state == "CA"`.
    public var description: String { use.description }
  }

  private let explanation: FirestoreClientState.QueryExplanation

  init(_ explanation: FirestoreClientState.QueryExplanation) { self.explanation = explanation }

  /// The source of the documents.
  public var plan: Plan {
    switch explanation.plan {
    case .document: .document
    case .syncedResult: .syncedResult
    case .index: .index
    case .scan: .scan
    }
  }

  /// The indexes that were used, with the plan `index`.
  public var indexes: [IndexUse] { explanation.indexes.map { IndexUse($0) } }
  /// The number of cached documents that were compared with the query, without those that have pending writes.
  public var documentsScanned: Int { explanation.documentsScanned }
  /// The number of documents of the result.
  public var documentsReturned: Int { explanation.documentsReturned }
  /// The number of index entries that were read to find the documents.
  public var indexEntriesRead: Int { explanation.entriesRead }
  /// The time that the cache took.
  public var duration: Duration { explanation.duration }
  /// The indexes that would spare a scan and are not there yet, with the plan `scan`. Empty if none would.
  public var suggestedIndexes: [IndexDefinition] { explanation.suggestedIndexes.map { IndexDefinition($0) } }
  /// Whether an index is still being filled, and not used yet.
  public var isBuildingIndexes: Bool { explanation.isBuildingIndexes }
  /// Always `true`: the server is not asked, and documents outside of the cache take no part.
  public var isFromCache: Bool { true }
  /// The explanation in several lines: the plan, the indexes, the cost, and indexes that would help.
  public var description: String { explanation.description }
}

extension Query {
  /// Answers the query from the cache and explains the answer: its plan, its indexes and its cost.
  public func explain() async throws -> QueryExplanation {
    let query = try validated()
    return try await firestore.ask { engine throws(RPCStatus) in QueryExplanation(try await engine.explain(query)) }
  }
}
