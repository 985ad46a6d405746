// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// The valid ranges of the cache's numbers. SQLite does not detect a number that was altered on disk, and arithmetic
/// with such a number must not overflow.
enum StoredNumbers {
  /// The range of counters: target ids, batch numbers and sequence numbers.
  static let counters: Range<Int64> = 0..<1 << 53
  /// The range of times in microseconds, from the year 1 to the year 9999.
  static let times: ClosedRange<Int64> = -62_135_596_800_000_000...253_402_300_799_999_999
  /// The range of collection numbers, which are the upper halves of document numbers.
  static let collections: Range<Int64> = 1..<1 << 31

  static func damage(_ what: String, _ number: Int64) -> StoreError { .damaged("\(what) is \(number)") }
}

/// A number that rows use to refer to something, such as a document.
protocol StoredNumber: Hashable, Comparable, Sendable, SQLValue {
  var rawValue: Int64 { get }
  init(rawValue: Int64)
}

extension StoredNumber {
  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { rawValue.bind(to: statement, at: index) }
}

/// The number of a collection (`CollectionTable`).
struct CollectionNumber: StoredNumber {
  let rawValue: Int64

  /// The numbers that the collection's documents can have.
  var documents: ClosedRange<DocumentNumber> {
    DocumentNumber(self, 0)...DocumentNumber(self, DocumentNumber.lastOrdinal)
  }
}

/// The number of a document: the upper half is the collection's number, and the lower half is the document's number
/// within the collection.
struct DocumentNumber: StoredNumber {
  static let lastOrdinal: Int64 = 0xffff_ffff

  let rawValue: Int64

  init(rawValue: Int64) { self.rawValue = rawValue }

  init(_ collection: CollectionNumber, _ ordinal: Int64) { rawValue = collection.rawValue << 32 | ordinal }

  var collection: CollectionNumber { CollectionNumber(rawValue: rawValue >> 32) }
  var ordinal: Int64 { rawValue & Self.lastOrdinal }
  var next: DocumentNumber { DocumentNumber(rawValue: rawValue + 1) }
}

/// The number of an index (`IndexTable`).
struct IndexNumber: StoredNumber {
  let rawValue: Int64
}

/// The number of a user who has or had pending writes (`MutationQueue`).
struct UserNumber: StoredNumber {
  let rawValue: Int64
}

extension Row {
  func number<Number: StoredNumber>(_ column: Int32) -> Number { Number(rawValue: integer(column)) }

  /// - Throws: `corrupt` for an invalid time.
  func version(_ column: Int32) throws(StoreError) -> SnapshotVersion? {
    guard let time = optionalInteger(column) else { return nil }
    guard StoredNumbers.times.contains(time) else { throw StoredNumbers.damage("a version", time) }
    return SnapshotVersion(microseconds: time)
  }
}
