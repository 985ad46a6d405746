// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSQLite

/// The work that changed definitions leave behind: entries of dropped indexes are removed, and documents that were
/// cached before an index get their entries. It is done in pieces, bounded in documents, entries and bytes, so that
/// each takes about half a millisecond whatever the documents are; the position is stored with it, so that a restart
/// goes on from there.
struct IndexBackfill {
  private static let maximumDocuments = 50
  private static let maximumEntries = 50
  private static let maximumBytes = 32 * 1024
  private static let maximumRemovals = 250

  let database: CacheDatabase

  private var indexes: IndexTable { database.indexes }

  var isNeeded: Bool {
    get throws(StoreError) {
      if try !indexes.dropped.isEmpty { return true }
      return try indexes.indexes.contains { !$0.isReady }
    }
  }

  /// Works until the pacer says that it is enough.
  /// - Precondition: inside a transaction.
  func performSlice(_ pacer: inout SlicePacer) throws(StoreError) {
    repeat {
      try performPiece()
      if pacer.isOver() { break }
    } while try isNeeded
    pacer.endWork()
  }

  private func performPiece() throws(StoreError) {
    if let number = try indexes.dropped.first {
      try indexes.removeEntries(of: number, atMost: Self.maximumRemovals)
    } else if let index = try indexes.indexes.first(where: { !$0.isReady }), let position = index.position {
      try indexes.set(position: try advance(index, from: position), of: index)
    }
  }

  /// - Returns: the position to continue from; `nil` at the end.
  private func advance(
    _ index: IndexTable.Index, from position: DocumentNumber
  ) throws(StoreError) -> DocumentNumber? {
    var documents = 0
    var entries = 0
    var bytes = 0
    for collection in try collections(of: index) where collection >= position.collection {
      var next: DocumentNumber?
      try database.documents.scan(collection, from: position) { row throws(StoreError) in
        documents += 1
        if row.isFound, try !indexes.tails.contains(row.number) {
          let fields = row.fieldBytes
          bytes += fields.count
          entries += try indexes.add(row.number, EncodedFieldsView(fields), to: index)
        }
        next = row.number.next
        return documents < Self.maximumDocuments && entries < Self.maximumEntries && bytes < Self.maximumBytes
      }
      if documents >= Self.maximumDocuments || entries >= Self.maximumEntries || bytes >= Self.maximumBytes {
        return next
      }
    }
    return nil
  }

  /// The number of documents that the index knows, and the number of documents for it.
  func progress(of index: IndexTable.Index) throws(StoreError) -> IndexProgress {
    var progress = IndexProgress(documentsIndexed: 0, documentsTotal: 0)
    for collection in try collections(of: index) {
      let extent = try database.documents.extent(of: collection)
      progress.documentsTotal += extent
      let position = index.position ?? DocumentNumber(rawValue: .max)
      if position.collection > collection {
        progress.documentsIndexed += extent
      } else if position.collection == collection {
        progress.documentsIndexed += min(extent, Int(position.ordinal))
      }
    }
    return progress
  }

  private func collections(of index: IndexTable.Index) throws(StoreError) -> [CollectionNumber] {
    try database.collections.group(index.definition.collectionGroup, below: .root)
  }
}
