// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// As of when documents are read, and how much of them.
package struct ReadView: Hashable, Sendable {
  /// As far back as the backend goes; `nil` for the newest documents.
  package var time: SnapshotVersion?
  /// The fields to read; `nil` for all, and none of them for names and versions alone.
  package var projection: FieldMask?

  package init(at time: SnapshotVersion? = nil, projection: FieldMask? = nil) {
    self.time = time
    self.projection = projection
  }

  /// The newest documents as a whole.
  package static let whole = ReadView()
  /// The newest documents without their fields.
  package static let names = ReadView(projection: FieldMask([]))

  /// What is seen of documents.
  package func shown(_ documents: [Document]) -> [Document] {
    guard let projection else { return documents }
    return documents.map { document in
      guard case .found(let data) = document.state else { return document }
      var shown = document
      // Nothing need be decoded to show nothing.
      let fields = projection.paths.isEmpty ? Fields() : data.fields.projected(to: projection)
      shown.state = .found(DocumentData(fields))
      return shown
    }
  }
}
