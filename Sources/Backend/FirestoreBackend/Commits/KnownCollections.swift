// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// The numbers of collections that were looked up or made: a number stays its collection's for ever. Shared by all that
/// read and write one file.
final class KnownCollections {
  /// The number of remembered collections beyond which all are forgotten.
  private static let most = 4_096

  private var numbers: [CollectionName: Int64] = [:]

  /// The number of a collection; `nil` for one that was never made.
  func number(of name: CollectionName, _ connection: Connection) throws(StoreError) -> Int64? {
    if let known = numbers[name] { return known }
    let number = try connection.integer(
      "SELECT id FROM collections WHERE database = ? AND path = ?", name.database, Array(name.path.text.utf8))
    if let number { remember(number, for: name) }
    return number
  }

  func make(_ name: CollectionName, _ connection: Connection) throws(StoreError) -> Int64 {
    let number = try connection.integer(
      "INSERT INTO collections (database, path, name) VALUES (?, ?, ?) RETURNING id", name.database,
      Array(name.path.text.utf8), Array(name.path.last.utf8))
    guard let number else { throw StoreError(.sqlite, "A collection could not be made.") }
    remember(number, for: name)
    return number
  }

  private func remember(_ number: Int64, for name: CollectionName) {
    if numbers.count >= Self.most { numbers = [:] }
    numbers[name] = number
  }

  /// Forgets all, because a transaction that may have made some was rolled back.
  func forget() { numbers = [:] }
}
