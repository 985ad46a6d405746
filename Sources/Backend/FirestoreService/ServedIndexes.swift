// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
package import FirestoreClientState
package import FirestoreJSON
package import FirestoreModel
import FirestoreQuery
import Synchronization

/// The composite indexes that a server simulates, and the indexes that the queries so far would need in Cloud
/// Firestore. The backend itself uses no indexes.
package final class ServedIndexes: Sendable {
  /// The maximum number of recorded indexes.
  private static let mostSeen = 10_000

  private struct State {
    /// The existing indexes; `nil` if no query is rejected.
    var available: [CompositeIndex]?
    /// The needed indexes by project, in the order of their first use.
    var seen: [String: [CompositeIndex]] = [:]
    private var known: [String: Set<CompositeIndex>] = [:]

    init(available: [CompositeIndex]?) { self.available = available }

    mutating func note(_ index: CompositeIndex, of project: String) {
      guard known[project, default: []].count < ServedIndexes.mostSeen,
        known[project, default: []].insert(index).inserted
      else { return }
      seen[project, default: []].append(index)
    }
  }

  private let state: Mutex<State>

  /// - Parameter required: the existing indexes. Queries that need another index are rejected; with `nil`, no query is
  ///   rejected.
  package init(required: [CompositeIndex]? = nil) { state = Mutex(State(available: required)) }

  /// Replaces the existing indexes.
  package func require(_ indexes: [CompositeIndex]) { state.withLock { $0.available = indexes } }

  /// The existing indexes with several fields; empty if no query is rejected.
  var composites: [CompositeIndex] { state.withLock { $0.available ?? [] }.filter { $0.fields.count > 1 } }

  /// Records the index that a query needs.
  /// - Parameter aggregations: the aggregations over the query's matches. The index must contain their fields.
  /// - Throws: `failed-precondition` with the definition of the missing index.
  func check(
    _ query: ServedQuery, _ aggregations: [Aggregation] = [], in database: DatabaseID
  ) throws(RPCStatus) {
    // Nearest-neighbor searches use a different kind of index.
    guard query.scope == .target, query.nearest == nil else { return }
    let needs = IndexNeed.all(of: query.target.implyingOrder(of: aggregations))
    if needs.isEmpty { return }
    let missing = state.withLock { state -> CompositeIndex? in
      for need in needs { state.note(need.index, of: database.project) }
      guard let available = state.available else { return nil }
      return needs.first { !$0.isMet(by: available) }?.index
    }
    if let missing { throw RPCStatus(.failedPrecondition, missing.request(in: database)) }
  }

  /// The indexes that a project's queries have needed so far.
  package func seen(in project: String) -> [CompositeIndex] { state.withLock { $0.seen[project] ?? [] } }
}

extension ServedIndexes {
  /// The definitions in the format of `firestore.indexes.json`, a file of Google's tools.
  package static func configuration(_ indexes: [CompositeIndex]) -> String {
    let list = indexes.map { "    " + $0.definition }.joined(separator: ",\n")
    return "{\n  \"indexes\": [\(list.isEmpty ? "" : "\n\(list)\n  ")],\n  \"fieldOverrides\": []\n}\n"
  }
}

extension CompositeIndex {
  /// The index as an entry of `firestore.indexes.json`, on one line.
  package var definition: String {
    let members = [
      JSONSyntax.Member("collectionGroup", JSONSyntax(.string(collectionID))),
      JSONSyntax.Member("queryScope", JSONSyntax(.string(isGroup ? "COLLECTION_GROUP" : "COLLECTION"))),
      JSONSyntax.Member("fields", JSONSyntax(.array(entries(of: fields)))),
    ]
    return JSONSyntax(.object(members)).lineText
  }

  /// The index as a `google.firestore.admin.v1.Index` in JSON; its last field is `__name__`.
  /// - Parameter number: the id of the index in the database.
  package func deployed(_ number: Int, in database: DatabaseID) -> JSONSyntax {
    let root = "projects/\(database.project)/databases/\(database.database)"
    let name = "\(root)/collectionGroups/\(collectionID)/indexes/\(number)"
    return JSONSyntax(
      .object([
        JSONSyntax.Member("name", JSONSyntax(.string(name))),
        JSONSyntax.Member("queryScope", JSONSyntax(.string(isGroup ? "COLLECTION_GROUP" : "COLLECTION"))),
        JSONSyntax.Member("fields", JSONSyntax(.array(entries(of: namedFields)))),
        JSONSyntax.Member("state", JSONSyntax(.string("READY"))),
      ]))
  }

  /// The fields, followed by `__name__` in the direction of the last field.
  private var namedFields: [Field] {
    if fields.last?.path.isDocumentID == true { return fields }
    return fields + [Field(path: .documentID, kind: fields.last?.kind == .descending ? .descending : .ascending)]
  }

  private func entries(of fields: [Field]) -> [JSONSyntax] {
    fields.map { field in
      let (name, word) =
        switch field.kind {
        case .ascending: ("order", "ASCENDING")
        case .descending: ("order", "DESCENDING")
        case .contains: ("arrayConfig", "CONTAINS")
        }
      return JSONSyntax(
        .object([
          JSONSyntax.Member("fieldPath", JSONSyntax(.string(field.path.canonicalText))),
          JSONSyntax.Member(name, JSONSyntax(.string(word))),
        ]))
    }
  }

  /// The real service's error text for a query that needs the index, with the definition.
  func request(in database: DatabaseID) -> String {
    let page = "https://console.firebase.google.com/v1/r/project/\(database.project)/firestore/indexes"
    return "The query requires an index. You can create it here: \(page)?create_composite=\(creation(in: database)) "
      + "(for firestore.indexes.json: \(definition))"
  }

  /// The index as a `google.firestore.admin.v1.Index` in base64, for the console's URL.
  private func creation(in database: DatabaseID) -> String {
    let name = "projects/\(database.project)/databases/\(database.database)/collectionGroups/\(collectionID)/indexes/_"
    let bytes = WireWriter.message { writer in
      writer.field(1, string: name)
      writer.field(2, integer: isGroup ? 2 : 1)
      for field in namedFields {
        writer.field(3) { entry in
          entry.field(1, string: field.path.canonicalText)
          switch field.kind {
          case .ascending: entry.field(2, integer: 1)
          case .descending: entry.field(2, integer: 2)
          case .contains: entry.field(3, integer: 1)
          }
        }
      }
    }
    return String(Base64.encode(bytes).prefix { $0 != "=" })
  }
}
