// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
package import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import Synchronization

/// The composite indexes that a server claims to have, and those that the queries so far would need at Cloud Firestore.
/// The backend itself needs none.
package final class ServedIndexes: Sendable {
  /// The number of indexes that are remembered.
  private static let mostSeen = 10_000

  private struct State {
    /// The existing indexes; `nil` if no query is refused.
    var available: [CompositeIndex]?
    /// The needed indexes by project, in the order in which they were first needed.
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

  /// - Parameter required: the existing indexes; queries that need another one are refused. `nil` refuses none.
  package init(required: [CompositeIndex]? = nil) { state = Mutex(State(available: required)) }

  /// Replaces the existing indexes.
  package func require(_ indexes: [CompositeIndex]) { state.withLock { $0.available = indexes } }

  /// The existing indexes of several fields; none if no query is refused.
  var composites: [CompositeIndex] { state.withLock { $0.available ?? [] }.filter { $0.fields.count > 1 } }

  /// Notes the index that a query needs.
  /// - Parameter aggregations: the aggregations over its matches, which need their fields in the index.
  /// - Throws: `failed-precondition` with the definition of the index that is missing.
  func check(
    _ query: ServedQuery, _ aggregations: [Aggregation] = [], in database: DatabaseID
  ) throws(RPCStatus) {
    // Searches for neighbours have indexes of another kind.
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

  /// The indexes that the queries so far need, for a project.
  package func seen(in project: String) -> [CompositeIndex] { state.withLock { $0.seen[project] ?? [] } }
}

extension ServedIndexes {
  /// The definitions in the form of the file `firestore.indexes.json` of Google's tools.
  package static func configuration(_ indexes: [CompositeIndex]) -> String {
    let list = indexes.map { "    " + $0.definition }.joined(separator: ",\n")
    return "{\n  \"indexes\": [\(list.isEmpty ? "" : "\n\(list)\n  ")],\n  \"fieldOverrides\": []\n}\n"
  }
}
