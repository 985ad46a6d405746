// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import FirestoreQuery

/// The collections at the root that are listened to as they become known, each once.
struct RootListening {
  private var known: Set<String> = []

  init() {}

  /// - Returns: the queries to listen to from now on because of what has happened.
  mutating func queries(after action: Action) -> [Query] {
    guard case .client(.collections(let parent, let ids), _) = action, parent.isRoot else { return [] }
    return ids.filter { known.insert($0).inserted }.map { Query(path: ResourcePath($0)) }
  }
}
