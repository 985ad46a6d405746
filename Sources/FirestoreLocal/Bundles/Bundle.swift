// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// Query results that were packed at the backend, to fill caches without asking it.
package struct Bundle: Sendable {
  package struct NamedQuery: Sendable {
    package var name: String
    package var query: Query
    /// The version that the query's result reflects.
    package var readTime: SnapshotVersion

    package init(name: String, query: Query, readTime: SnapshotVersion) {
      self.name = name
      self.query = query
      self.readTime = readTime
    }
  }

  package struct Entry: Sendable {
    /// `found`, or `missing` at the time when it was read.
    package var document: Document
    /// The named queries whose result contains the document.
    package var queries: [String]
    /// How many bytes of the bundle come before the end of the entry.
    package var byteEnd: Int

    package init(document: Document, queries: [String], byteEnd: Int = 0) {
      self.document = document
      self.queries = queries
      self.byteEnd = byteEnd
    }
  }

  package var id: String
  /// A bundle replaces one of the same id that was created earlier.
  package var createTime: SnapshotVersion
  package var queries: [NamedQuery]
  package var entries: [Entry]

  package init(id: String, createTime: SnapshotVersion, queries: [NamedQuery] = [], entries: [Entry] = []) {
    self.id = id
    self.createTime = createTime
    self.queries = queries
    self.entries = entries
  }
}
