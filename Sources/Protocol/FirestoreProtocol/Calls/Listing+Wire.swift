// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

package struct ListDocumentsMessage: Sendable {
  package var parent = ""
  package var collectionID = ""
  package var pageSize = 0
  package var pageToken = ""
  package var orderBy = ""
  package var mask: [String]?
  package var consistency = ConsistencySelector.latest
  package var showMissing = false
}

/// One page of a collection's documents.
package struct DocumentPage: Sendable {
  /// The documents on the page. A `missing` document has no version, but there are documents below it.
  package var documents: [Document]
  /// The token for requesting the next page; empty on the last page.
  package var nextPageToken: String

  package init(documents: [Document], nextPageToken: String = "") {
    self.documents = documents
    self.nextPageToken = nextPageToken
  }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.ListDocumentsRequest` that requests the names of all documents in a
  /// collection, including missing documents.
  /// - Parameter time: the read time; `nil` for the newest documents. The functions below have the same parameter.
  package mutating func listNamesRequest(
    in collection: ResourcePath, at time: SnapshotVersion? = nil, of database: DatabaseID, pageSize: Int32,
    pageToken: String
  ) {
    field(1, string: database.name(of: collection.parent))
    field(2, string: collection.last)
    field(3, integer: Int64(pageSize))
    if !pageToken.isEmpty { field(4, string: pageToken) }
    field(7) { $0.field(1, string: FieldPath.documentID.canonicalText) }
    if let time { field(10, timestamp: time.timestamp) }
    field(12, boolean: true)
  }

  /// Writes the content of a `google.firestore.v1.ListDocumentsResponse`.
  /// - Parameter mask: the fields to send; `nil` to send all fields.
  package mutating func listDocumentsResponse(_ page: DocumentPage, _ names: DocumentNames, mask: FieldMask? = nil) {
    for document in page.documents { field(1) { $0.document(document, names, mask: mask) } }
    if !page.nextPageToken.isEmpty { field(2, string: page.nextPageToken) }
  }
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.ListDocumentsRequest`.
  package mutating func listDocumentsRequest() throws(WireError) -> ListDocumentsMessage {
    var request = ListDocumentsMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.parent = try string()
      case (2, .lengthDelimited): request.collectionID = try string()
      case (3, .varint): request.pageSize = Int(Int32(truncatingIfNeeded: try integer()))
      case (4, .lengthDelimited): request.pageToken = try string()
      case (6, .lengthDelimited): request.orderBy = try string()
      case (7, .lengthDelimited): request.mask = try documentMask()
      case (8, .lengthDelimited): request.consistency = .transaction(try byteArray())
      case (10, .lengthDelimited): request.consistency = .readTime(try timestamp())
      case (12, .varint): request.showMissing = try boolean()
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// Reads the content of a `google.firestore.v1.ListDocumentsResponse`.
  package mutating func listDocumentsResponse(_ names: DocumentNames) throws(WireError) -> DocumentPage {
    var page = DocumentPage(documents: [])
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): page.documents.append(try document(names, mayBeMissing: true))
      case (2, .lengthDelimited): page.nextPageToken = try string()
      default: try skip(tag.type)
      }
    }
    return page
  }
}

package struct ListCollectionIDsMessage: Sendable {
  package var parent = ""
  package var pageSize: Int64 = 0
  package var pageToken = ""
  package var consistency = ConsistencySelector.latest
}

/// One page of collection ids.
package struct CollectionIDPage: Sendable {
  package var ids: [String]
  /// The token for requesting the next page; empty on the last page.
  package var nextPageToken: String

  package init(ids: [String], nextPageToken: String = "") {
    self.ids = ids
    self.nextPageToken = nextPageToken
  }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.ListCollectionIdsRequest`.
  package mutating func listCollectionIDsRequest(
    below parent: ResourcePath, at time: SnapshotVersion? = nil, in database: DatabaseID, pageSize: Int32,
    pageToken: String
  ) {
    field(1, string: database.name(of: parent))
    field(2, integer: Int64(pageSize))
    if !pageToken.isEmpty { field(3, string: pageToken) }
    if let time { field(4, timestamp: time.timestamp) }
  }

  /// Writes the content of a `google.firestore.v1.ListCollectionIdsResponse`.
  package mutating func listCollectionIDsResponse(_ page: CollectionIDPage) {
    for id in page.ids { field(1, string: id) }
    if !page.nextPageToken.isEmpty { field(2, string: page.nextPageToken) }
  }
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.ListCollectionIdsRequest`.
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

  /// Reads the content of a `google.firestore.v1.ListCollectionIdsResponse`.
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

// MARK: Databases

extension WireWriter {
  /// Writes the content of a `google.firestore.admin.v1.ListDatabasesRequest`.
  /// - Parameter project: the id of the project whose databases to list; `nil` to list all databases of a server.
  package mutating func listDatabasesRequest(of project: String?) { field(1, string: "projects/\(project ?? "-")") }
}

extension WireReader {
  /// Reads the content of a `google.firestore.admin.v1.ListDatabasesResponse`. Skips invalid names.
  package mutating func listDatabasesResponse() throws(WireError) -> [DatabaseID] {
    var databases: [DatabaseID] = []
    while let tag = try tag() {
      guard tag.field == 1, tag.type == .lengthDelimited else {
        try skip(tag.type)
        continue
      }
      try message(with: 1, .lengthDelimited) { reader throws(WireError) in
        if let database = DatabaseID(name: try reader.string()) { databases.append(database) }
      }
    }
    return databases
  }
}
