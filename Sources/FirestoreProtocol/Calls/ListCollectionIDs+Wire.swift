// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One page of ids of collections.
package struct CollectionIDPage: Sendable {
  package var ids: [String]
  /// Asks for the page behind this one; empty if there is none.
  package var nextPageToken: String

  package init(ids: [String], nextPageToken: String = "") {
    self.ids = ids
    self.nextPageToken = nextPageToken
  }
}

extension WireWriter {
  /// The content of a `google.firestore.v1.ListCollectionIdsRequest` for the newest documents.
  package mutating func listCollectionIDsRequest(
    below parent: ResourcePath, in database: DatabaseID, pageSize: Int32, pageToken: String
  ) {
    field(1, string: database.name(of: parent))
    field(2, integer: Int64(pageSize))
    if !pageToken.isEmpty { field(3, string: pageToken) }
  }

  /// The content of a `google.firestore.v1.ListCollectionIdsResponse`.
  package mutating func listCollectionIDsResponse(_ page: CollectionIDPage) {
    for id in page.ids { field(1, string: id) }
    if !page.nextPageToken.isEmpty { field(2, string: page.nextPageToken) }
  }
}

extension WireReader {
  /// The content of a `google.firestore.v1.ListCollectionIdsResponse`.
  package mutating func listCollectionIDsResponse() throws(WireError) -> CollectionIDPage {
    var page = CollectionIDPage(ids: [])
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): page.ids.append(try string())
      case (2, .lengthDelimited): page.nextPageToken = try string()
      default: try skip(tag.type)
      }
    }
    return page
  }
}
