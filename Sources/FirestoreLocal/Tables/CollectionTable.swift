// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The collections that the cache has seen, each with the number under which documents, batches and overlays name it.
/// Collections are never removed: they are few, and a known parent costs nothing.
final class CollectionTable {
  typealias Number = Int64

  /// More collections than this are looked up in the database.
  private static let remembered = 4096

  private var numbers: [ResourcePath: Number] = [:]
  private var paths: [Number: ResourcePath] = [:]
  private let findNumber: Statement
  private let findPath: Statement
  private let insert: Statement
  private let inGroup: Statement
  private let below: Statement

  init(_ connection: Connection) throws(LocalStoreError) {
    findNumber = try connection.prepare("SELECT id FROM collection_parents WHERE path = ?")
    findPath = try connection.prepare("SELECT path FROM collection_parents WHERE id = ?")
    insert = try connection.prepare(
      "INSERT INTO collection_parents (path, parent, collection_id) VALUES (?, ?, ?) RETURNING id")
    inGroup = try connection.prepare("SELECT id, path FROM collection_parents WHERE collection_id = ? ORDER BY id")
    below = try connection.prepare(
      "SELECT DISTINCT collection_id FROM collection_parents WHERE parent = ? ORDER BY collection_id")
  }

  /// - Returns: `nil` for a collection that the cache has not seen.
  func number(of path: ResourcePath) throws(LocalStoreError) -> Number? {
    if let number = numbers[path] { return number }
    guard let number = try findNumber.bind(path.text, at: 1).first({ $0.integer(0) }) else { return nil }
    try remember(number, path)
    return number
  }

  func numberAdding(_ path: ResourcePath) throws(LocalStoreError) -> Number {
    if let number = try number(of: path) { return number }
    insert.bind(path.text, at: 1).bind(path.parent.text, at: 2).bind(path.last, at: 3)
    guard let number = try insert.first({ $0.integer(0) }) else {
      throw LocalStoreError(.sqlite, "The cache did not number a new collection.")
    }
    try remember(number, path)
    return number
  }

  func path(of number: Number) throws(LocalStoreError) -> ResourcePath {
    if let path = paths[number] { return path }
    guard let text = try findPath.bind(number, at: 1).first({ $0.text(0) }) else {
      throw LocalStoreError(.corrupt, "The cache is damaged: collection \(number) has no path.")
    }
    let path = ResourcePath(text)
    try remember(number, path)
    return path
  }

  func key(_ number: Number, _ name: String) throws(LocalStoreError) -> DocumentKey {
    DocumentKey(unchecked: try path(of: number).appending(name))
  }

  /// The collections with this id at any depth below `ancestor`, ascending.
  func group(_ id: String, below ancestor: ResourcePath) throws(LocalStoreError) -> [Number] {
    var found: [Number] = []
    try inGroup.bind(id, at: 1).forEachRow { row throws(LocalStoreError) in
      let number = row.integer(0)
      try Self.check(number)
      if ancestor.isPrefix(of: ResourcePath(row.text(1))) { found.append(number) }
    }
    return found
  }

  func ids(below parent: ResourcePath) throws(LocalStoreError) -> [String] {
    var ids: [String] = []
    try below.bind(parent.text, at: 1).forEachRow { ids.append($0.text(0)) }
    return ids
  }

  /// Drops what is remembered, because the transaction that numbered it may have been undone.
  func forget() {
    numbers = [:]
    paths = [:]
  }

  private static func check(_ number: Number) throws(LocalStoreError) {
    guard StoredNumbers.collections.contains(number) else {
      throw StoredNumbers.damage("a collection's number", number)
    }
  }

  private func remember(_ number: Number, _ path: ResourcePath) throws(LocalStoreError) {
    try Self.check(number)
    if numbers.count >= Self.remembered { forget() }
    numbers[path] = number
    paths[number] = path
  }
}
