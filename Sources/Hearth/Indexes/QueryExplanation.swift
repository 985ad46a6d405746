// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
package import FirestoreSync

/// How the cache answers a query, and what that costs. `description` says it in sentences.
public struct QueryExplanation: Hashable, Sendable {
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
  public struct IndexUse: Hashable, Sendable {
    public let index: IndexDefinition
    /// The conditions that the index answered, such as `state == "CA"`; the others were checked on what it found.
    public let servedFilters: [String]
    /// Whether documents were read in the query's order, and only until its limit was reached.
    public let servesOrder: Bool
  }

  public let plan: Plan
  /// With the plan `index`.
  public let indexes: [IndexUse]
  /// Cached documents that were compared with the query; those with pending writes come on top.
  public let documentsScanned: Int
  public let documentsReturned: Int
  public let indexEntriesRead: Int
  public let duration: Duration
  /// With the plan `scan`: indexes that would spare it and are not there yet. Empty if none would.
  public let suggestedIndexes: [IndexDefinition]
  /// Whether some index is still being filled, and not used yet.
  public let isBuildingIndexes: Bool
  /// The server is not asked: what it holds beyond the cache takes no part.
  public var isFromCache: Bool { true }

  package init(_ explanation: FirestoreSync.QueryExplanation) {
    plan =
      switch explanation.plan {
      case .document: .document
      case .syncedResult: .syncedResult
      case .index: .index
      case .scan: .scan
      }
    indexes = explanation.indexes.map { use in
      IndexUse(
        index: IndexDefinition(use.index), servedFilters: use.servedFilters.map(\.text), servesOrder: use.servesOrder)
    }
    documentsScanned = explanation.documentsScanned
    documentsReturned = explanation.documentsReturned
    indexEntriesRead = explanation.entriesRead
    duration = explanation.duration
    suggestedIndexes = explanation.suggestedIndexes.map(IndexDefinition.init)
    isBuildingIndexes = explanation.isBuildingIndexes
  }
}

extension QueryExplanation: CustomStringConvertible {
  /// Several lines: the plan, the indexes, the cost, and what would help.
  public var description: String {
    var lines = ["From the cache: \(planText)."]
    lines += indexes.map { "Index \($0)." }
    let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    lines.append(
      "Scanned \(documentsScanned) documents and \(indexEntriesRead) index entries, returned \(documentsReturned), "
        + "in \(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst()) ms.")
    if !suggestedIndexes.isEmpty {
      let list = suggestedIndexes.map(\.description).joined(separator: ", ")
      lines.append("An index would read fewer: \(list).")
    }
    if isBuildingIndexes { lines.append("Indexes that are still being filled were not used.") }
    return lines.joined(separator: "\n")
  }

  /// The plan in words.
  package var planText: String {
    switch plan {
    case .document: "the one document, by its key"
    case .syncedResult: "the result that was last in sync, and what changed since"
    case .index: "the documents that an index names"
    case .scan: "all documents of the collection"
    }
  }
}

extension QueryExplanation.IndexUse: CustomStringConvertible {
  /// As `cities(state ascending) for state == "CA"`.
  public var description: String {
    var text = "\(index)"
    if !servedFilters.isEmpty { text += " for \(servedFilters.joined(separator: ", "))" }
    if servesOrder { text += servedFilters.isEmpty ? " for the order" : " and the order" }
    return text
  }
}

extension Query {
  /// Answers the query from the cache and says how: by which plan and index, and at what cost.
  public func explain() async throws -> QueryExplanation {
    let query = try validated()
    let engine = try firestore.client().engine
    do throws(RPCStatus) {
      return QueryExplanation(try await engine.explain(query))
    } catch {
      throw FirestoreError(error)
    }
  }
}

extension FieldFilter {
  fileprivate var text: String { "\(path.canonicalText) \(op.rawValue) \(DocumentJSON.line(of: value))" }
}
