// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The documents of a database that a pipeline reads.
package enum DocumentSelection: Hashable, Sendable {
  case collection(ResourcePath)
  case collectionGroup(String)
  case database
  /// The existing documents among these, in this order.
  case documents([DocumentKey])
}

/// The source of a pipeline's documents. All documents read for one pipeline are of one version of the database.
package protocol DocumentSource: Sendable {
  /// Begins to read the selected documents, in the order of their names.
  /// - Parameter constraints: conditions of the documents that are needed; documents that do not meet them may come
  ///   too.
  func open(_ selection: DocumentSelection, _ constraints: [Filter]) async throws(RPCStatus) -> any DocumentCursor
}

/// The place up to which documents have been read.
package protocol DocumentCursor: Sendable {
  /// The next documents, not more than memory has room for; `nil` at the end.
  mutating func next() async throws(RPCStatus) -> [Document]?
}
