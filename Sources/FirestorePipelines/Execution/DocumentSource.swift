// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// Documents of a database that a pipeline reads.
package enum DocumentSelection: Hashable, Sendable {
  case collection(ResourcePath)
  case collectionGroup(String)
  case database
  /// Those of them that exist, in this order.
  case documents([DocumentKey])
}

/// Where a pipeline's documents come from. All that is read for one pipeline is of one version.
package protocol DocumentSource: Sendable {
  /// Begins to read, in the order of names.
  /// - Parameter constraints: documents for which these do not all hold are not asked for; some may come all the same.
  func open(_ selection: DocumentSelection, _ constraints: [Filter]) async throws(RPCStatus) -> any DocumentCursor
}

/// How far documents have been read.
package protocol DocumentCursor: Sendable {
  /// The next documents, not more than memory has room for; `nil` at the end.
  mutating func next() async throws(RPCStatus) -> [Document]?
}
