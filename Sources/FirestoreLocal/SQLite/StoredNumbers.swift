// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// What numbers of the cache can be. SQLite does not notice when one changes on disk, and calculating with one that was
/// never stored must not overflow.
enum StoredNumbers {
  /// Counters: targets, batches, sequence numbers.
  static let counters: Range<Int64> = 0..<1 << 53
  /// Microseconds, from the year 1 to the year 9999.
  static let times: ClosedRange<Int64> = -62_135_596_800_000_000...253_402_300_799_999_999
  /// Collections are the upper half of the numbers of their documents.
  static let collections: Range<Int64> = 1..<1 << 31

  static func damage(_ what: String, _ number: Int64) -> StoreError { .damaged("\(what) is \(number)") }
}

extension Row {
  /// - Throws: `corrupt` for a time that no document can have.
  func version(_ column: Int32) throws(StoreError) -> SnapshotVersion? {
    guard let time = optionalInteger(column) else { return nil }
    guard StoredNumbers.times.contains(time) else { throw StoredNumbers.damage("a version", time) }
    return SnapshotVersion(microseconds: time)
  }
}
