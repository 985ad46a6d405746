// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

package struct PartitionQueryMessage: Sendable {
  package var parent = ""
  package var query: QueryMessage?
  package var partitionCount: Int64 = 0
  package var pageToken = ""
  package var pageSize: Int64 = 0
  package var consistency = ConsistencySelector.latest
}

extension WireReader {
  /// The content of a `google.firestore.v1.PartitionQueryRequest`.
  package mutating func partitionQueryRequest() throws(WireError) -> PartitionQueryMessage {
    var request = PartitionQueryMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.parent = try string()
      case (2, .lengthDelimited): request.query = try queryMessage()
      case (3, .varint): request.partitionCount = try integer()
      case (4, .lengthDelimited): request.pageToken = try string()
      case (5, .varint): request.pageSize = try integer()
      case (6, .lengthDelimited): request.consistency = .readTime(try timestamp())
      default: try skip(tag.type)
      }
    }
    return request
  }
}

extension WireWriter {
  /// The content of a `google.firestore.v1.PartitionQueryResponse`.
  /// - Parameter points: the documents that partitions begin with.
  package mutating func partitionQueryResponse(
    _ points: some Sequence<DocumentKey>, in database: DatabaseID, nextPageToken: String
  ) {
    for key in points { field(1) { $0.cursor([.reference(database, key)], before: true) } }
    if !nextPageToken.isEmpty { field(2, string: nextPageToken) }
  }
}
