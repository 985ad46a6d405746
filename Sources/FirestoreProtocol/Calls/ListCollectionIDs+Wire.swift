// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

package struct ListCollectionIDsMessage: Sendable {
  package var parent = ""
  package var pageSize: Int64 = 0
  package var pageToken = ""
  package var consistency = ConsistencySelector.latest
}

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
  /// The content of a `google.firestore.v1.ListCollectionIdsRequest`.
  package mutating func listCollectionIDsRequest() throws(WireError) -> ListCollectionIDsMessage {
    var request = ListCollectionIDsMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.parent = try string()
      case (2, .varint): request.pageSize = try integer()
      case (3, .lengthDelimited): request.pageToken = try string()
      case (4, .lengthDelimited): request.consistency = .readTime(try timestamp())
      default: try skip(tag.type)
      }
    }
    return request
  }

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
