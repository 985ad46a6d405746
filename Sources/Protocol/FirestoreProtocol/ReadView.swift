// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The time as of which documents are read, and the fields that are read.
package struct ReadView: Hashable, Sendable {
  /// The read time, as far back as the backend goes; `nil` for the newest documents.
  package var time: SnapshotVersion?
  /// The fields to read; `nil` for all, and none of them for names and versions alone.
  package var projection: FieldMask?

  package init(at time: SnapshotVersion? = nil, projection: FieldMask? = nil) {
    self.time = time
    self.projection = projection
  }

  /// The newest documents as a whole.
  package static let latest = ReadView()
  /// The newest documents without their fields.
  package static let names = ReadView(projection: FieldMask([]))

  /// The documents with only the fields of this view.
  package func shown(_ documents: [Document]) -> [Document] {
    guard let projection else { return documents }
    return documents.map { document in
      guard case .found(let data) = document.state else { return document }
      var shown = document
      // A view without fields needs no decoding.
      let fields = projection.paths.isEmpty ? Fields() : data.fields.projected(to: projection)
      shown.state = .found(DocumentData(fields))
      return shown
    }
  }
}
