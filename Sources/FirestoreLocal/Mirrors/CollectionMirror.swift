// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The existing documents of one collection as a cache in memory hands them out, so that a scan does not get each of
/// them out of SQLite's pages, and what several views show is there once.
///
/// Made when a collection is first scanned and kept up with each change; dropped whenever it might not agree with the
/// table.
final class CollectionMirror {
  /// Each costs sixteen bytes per document, and something with each change.
  private static let maximumColumns = 8
  /// How many documents are looked at between two questions for the ranges.
  private static let blockSize = 4096

  /// By number within the collection.
  private var documents: [Document?] = []
  /// How many documents exist.
  private(set) var count = 0
  /// The one used last comes first.
  private var columns: [FieldColumn] = []

  /// - Parameter document: `nil` if there is none any more.
  func set(_ index: Int, _ document: Document?) {
    if index >= documents.count {
      documents.append(contentsOf: repeatElement(nil, count: index - documents.count + 1))
    }
    count += (document == nil ? 0 : 1) - (documents[index] == nil ? 0 : 1)
    documents[index] = document
    for column in columns.indices { columns[column].set(index, document?.data?.encoded) }
  }

  /// Calls `body` for all documents that may match, by number.
  /// - Parameter ranges: what these satisfy; asked again now and then, since it may become narrower.
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
