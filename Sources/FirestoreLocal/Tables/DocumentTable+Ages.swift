// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite

extension DocumentTable {
  /// When a document was last used, and where it stands in the index that knows.
  struct Age: Sendable {
    var collection: CollectionNumber
    var readTime: Int64
    var sequenceNumber: Int64
    var number: DocumentNumber
  }

  /// Calls `body` for rows with this sequence number or a lower one, in the order of their index.
  /// - Returns: where to go on; `nil` after the last row.
  func scanAges(
    after position: Age?, upTo bound: Int64, limit: Int, _ body: (Age) -> Void
  ) throws(LocalStoreError) -> Age? {
    var last: Age?
    var count = 0
    try connection.forEachRow(
      """
      SELECT collection, read_time, sequence_number, id FROM documents INDEXED BY documents_by_read_time
      WHERE (collection, read_time, sequence_number, id) > (?, ?, ?, ?)
      ORDER BY collection, read_time, sequence_number, id LIMIT ?
      """, position?.collection.rawValue ?? .min, position?.readTime ?? .min, position?.sequenceNumber ?? .min,
      position?.number.rawValue ?? .min, limit
    ) { row in
      let age = Age(
        collection: row.number(0), readTime: row.integer(1), sequenceNumber: row.integer(2), number: row.number(3))
      if age.sequenceNumber <= bound { body(age) }
      last = age
      count += 1
    }
    return count < limit ? nil : last
  }

  /// - Returns: `nil` for a document that is not there.
  func sequenceNumber(_ number: DocumentNumber) throws(LocalStoreError) -> Int64? {
    try connection.integer("SELECT sequence_number FROM documents WHERE id = ?", number)
  }

  /// Of a document's fields and id.
  func byteCount(_ number: DocumentNumber) throws(LocalStoreError) -> Int64 {
    try connection.integer("SELECT length(name) + ifnull(length(fields), 0) FROM documents WHERE id = ?", number) ?? 0
  }

  func count() throws(LocalStoreError) -> Int { Int(try connection.integer("SELECT count(*) FROM documents") ?? 0) }
}
