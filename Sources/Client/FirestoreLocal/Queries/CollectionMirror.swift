// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// The existing documents of one collection in an in-memory cache. With the mirror, scans need not read each document
/// from SQLite's pages, and several views can share one copy of a document.
///
/// The first scan of a collection creates its mirror, and each change updates it. The mirror is discarded whenever it
/// might differ from the table.
final class CollectionMirror {
  /// The maximum number of columns. Each column needs 16 bytes per document, and some time for each change.
  private static let maximumColumns = 8
  /// The number of documents that are checked before the ranges are computed again.
  private static let blockSize = 4096

  /// The documents, indexed by their numbers within the collection.
  private var documents: [Document?] = []
  /// The number of documents that exist.
  private(set) var count = 0
  /// The columns, most recently used first.
  private var columns: [FieldColumn] = []

  /// - Parameter capacity: the expected number of documents, for which memory is reserved.
  init(expecting capacity: Int) { documents.reserveCapacity(capacity) }

  /// - Parameter document: the new document; `nil` if it no longer exists.
  func set(_ index: Int, _ document: Document?) {
    if index >= documents.count {
      documents.append(contentsOf: repeatElement(nil, count: index - documents.count + 1))
    }
    count += (document == nil ? 0 : 1) - (documents[index] == nil ? 0 : 1)
    documents[index] = document
    for column in columns.indices { columns[column].set(index, document?.data?.encoded) }
  }

  /// Calls `body` for all documents that may match, in the order of their numbers.
  /// - Parameter ranges: returns the ranges that a matching document must be in. Called repeatedly, because the ranges
  ///   may become narrower.
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

/// The values of one field in all documents of a collection, in an encoding that preserves their order. The encoding is
/// truncated to 16 bytes, which suffices to skip most documents that a condition excludes.
struct FieldColumn {
  /// The first bytes of a value's `OrderedCode`. A lower value never has a higher code, but different values may have
  /// the same code.
  struct Code: Comparable {
    private let high: UInt64
    private let low: UInt64

    /// The code for an absent field, which is lower than the code of every value.
    static let absent = Code(high: 0, low: 0)
    static let least = Code(high: 0, low: 1)
    static let greatest = Code(high: .max, low: .max)

    private init(high: UInt64, low: UInt64) {
      self.high = high
      self.low = low
    }

    init(_ bytes: [UInt8]) {
      var words: (UInt64, UInt64) = (0, 0)
      for index in 0..<16 {
        let byte: UInt64 = index < bytes.count ? UInt64(bytes[index]) : 0
        if index < 8 { words.0 = words.0 << 8 | byte } else { words.1 = words.1 << 8 | byte }
      }
      self.init(high: words.0, low: words.1)
    }

    @inline(__always)
    static func < (left: Code, right: Code) -> Bool {
      left.high != right.high ? left.high < right.high : left.low < right.low
    }

    /// The lowest code for values of the same type.
    var leastOfType: Code { Code(high: high & 0xff << 56, low: 0) }
    /// The highest code for values of the same type.
    var greatestOfType: Code { Code(high: high | .max >> 8, low: .max) }
  }

  let path: FieldPath
  /// The codes of the field, indexed by the documents' numbers within the collection.
  private var codes: [Code] = []
  private var writer = OrderedCode()

  init(_ path: FieldPath) { self.path = path }

  /// - Parameter fields: `nil` for a document that does not exist.
  mutating func set(_ index: Int, _ fields: EncodedFields?) {
    if index >= codes.count { codes.append(contentsOf: repeatElement(.absent, count: index - codes.count + 1)) }
    codes[index] = fields?.withView { code(of: $0) } ?? .absent
  }

  private mutating func code(of fields: EncodedFieldsView) -> Code {
    guard let value = fields.find(path) else { return .absent }
    writer.cut(to: 0)
    return writer.append(value) ? Code(writer.bytes) : .absent
  }

  static func code(of value: Value) -> Code {
    var writer = OrderedCode()
    writer.append(value)
    return Code(writer.bytes)
  }

  /// The documents within `range` whose codes are between two bounds.
  func documents(in range: Range<Int>, between lower: Code, and upper: Code) -> [Int] {
    codes.withUnsafeBufferPointer { codes in
      var found: [Int] = []
      for index in range.clamped(to: 0..<codes.count) where codes[index] >= lower && codes[index] <= upper {
        found.append(index)
      }
      return found
    }
  }

  func contains(_ index: Int, between lower: Code, and upper: Code) -> Bool {
    index < codes.count && codes[index] >= lower && codes[index] <= upper
  }
}

/// Bounds for a field's code in every matching document. Documents within the bounds may still not match.
struct CodeRange {
  let path: FieldPath
  let lower: FieldColumn.Code
  let upper: FieldColumn.Code

  private init(_ path: FieldPath, _ lower: FieldColumn.Code, _ upper: FieldColumn.Code) {
    self.path = path
    self.lower = lower
    self.upper = upper
  }

  /// - Returns: `nil` if the condition does not restrict the field's values to a range.
  init?(_ filter: FieldFilter) {
    if filter.path.isDocumentID { return nil }
    let code = FieldColumn.code(of: filter.value)
    switch filter.op {
    case .equal: self.init(filter.path, code, code)
    case .lessThan, .lessThanOrEqual: self.init(filter.path, code.leastOfType, code)
    case .greaterThan, .greaterThanOrEqual: self.init(filter.path, code, code.greatestOfType)
    case .notEqual, .in, .notIn, .arrayContains, .arrayContainsAny: return nil
    }
  }

  /// The range of values that do not come after `value` in a query's first ordering.
  init(notAfter value: Value, _ order: OrderBy) {
    let code = FieldColumn.code(of: value)
    switch order.direction {
    case .ascending: self.init(order.path, .least, code)
    case .descending: self.init(order.path, code, .greatest)
    }
  }

  /// The ranges that restrict the target. Every document of the target is in all of them.
  static func all(of target: Target) -> [CodeRange] {
    target.filters.compactMap { if case .field(let filter) = $0 { CodeRange(filter) } else { nil } }
  }
}
