// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The existing documents of one collection as a cache in memory hands them out, so that a scan does not read each of
/// them from SQLite's pages, and a document that several views show is in memory once.
///
/// The mirror is made when a collection is first scanned and kept up with each change; it is dropped whenever it might
/// not agree with the table.
final class CollectionMirror {
  /// The bound of columns. Each costs sixteen bytes per document, and some work with each change.
  private static let maximumColumns = 8
  /// The number of documents that are looked at before the ranges are asked for again.
  private static let blockSize = 4096

  /// The documents, by number within the collection.
  private var documents: [Document?] = []
  /// The number of documents that exist.
  private(set) var count = 0
  /// The columns, the one used last first.
  private var columns: [FieldColumn] = []

  /// - Parameter capacity: the number of documents to make room for.
  init(expecting capacity: Int) { documents.reserveCapacity(capacity) }

  /// - Parameter document: the document; `nil` if it does not exist any more.
  func set(_ index: Int, _ document: Document?) {
    if index >= documents.count {
      documents.append(contentsOf: repeatElement(nil, count: index - documents.count + 1))
    }
    count += (document == nil ? 0 : 1) - (documents[index] == nil ? 0 : 1)
    documents[index] = document
    for column in columns.indices { columns[column].set(index, document?.data?.encoded) }
  }

  /// Calls `body` for all documents that may match, by number.
  /// - Parameter ranges: the ranges that matching documents satisfy; asked again now and then, since they may become
  ///   narrower.
  func scan<Failure: Error>(
    _ ranges: () -> [CodeRange], _ body: (Int, Document) throws(Failure) -> Void
  ) throws(Failure) {
    var start = 0
    while start < documents.count {
      let block = start..<min(start + Self.blockSize, documents.count)
      start = block.upperBound
      let ranges = ranges().prefix(Self.maximumColumns)
      guard let first = ranges.first else {
        for index in block {
          if let document = documents[index] { try body(index, document) }
        }
        continue
      }
      var candidates = column(first.path).documents(in: block, between: first.lower, and: first.upper)
      for range in ranges.dropFirst() {
        let column = column(range.path)
        candidates.removeAll { !column.contains($0, between: range.lower, and: range.upper) }
      }
      for index in candidates {
        if let document = documents[index] { try body(index, document) }
      }
    }
  }

  private func column(_ path: FieldPath) -> FieldColumn {
    if let known = columns.firstIndex(where: { $0.path == path }) {
      if known > 0 { columns.insert(columns.remove(at: known), at: 0) }
      return columns[0]
    }
    var column = FieldColumn(path)
    for (index, document) in documents.enumerated() { column.set(index, document?.data?.encoded) }
    if columns.count == Self.maximumColumns { columns.removeLast() }
    columns.insert(column, at: 0)
    return column
  }
}
