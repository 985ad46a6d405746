// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A step that changes how one client works.
package enum ClientSetting: Sendable {
  /// Sets the client's time of day: so far ahead of the true one, or behind it.
  case clock(Duration)
  /// Adds a local index.
  case index(FieldIndex)
  case automaticIndexes(Bool)
  /// Drops all local indexes.
  case noIndexes
  /// Takes documents out of the cache.
  case evict(EvictionScope)
  /// Fills the cache from a bundle.
  case load(bundle: String)
}

/// A bundle that a scenario makes at the server's side.
package struct ScenarioBundle: Sendable {
  package enum Contents: Sendable {
    /// The documents that a query finds at the server; the query has the bundle's name.
    case result(FirestoreQuery.Query)
    /// The documents that the scenario writes down, or the fact that there is none.
    case documents([(key: DocumentKey, fields: Fields?)], queries: [(name: String, query: FirestoreQuery.Query)])
  }

  package var name: String
  package var contents: Contents
}
