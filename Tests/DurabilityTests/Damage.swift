// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreSQLite
import FirestoreTesting
import Foundation

/// What can happen to the files of a cache that nobody has open.
enum Damage: String, CaseIterable {
  case bytesFlipped, bytesFlippedInLog, logCutOff, logEmpty, cutOff, empty, pageLost, pageZeroed, garbageBesideLog
  case wrongNumbers

  func happen(toCacheIn folder: String, _ random: inout some RandomNumberGenerator) throws {
    let file = folder + "/cache.sqlite3"
    let log = file + "-wal"
    switch self {
    case .bytesFlipped: try Self.edit(file) { Self.flip(&$0, &random) }
    case .bytesFlippedInLog: try Self.edit(log) { Self.flip(&$0, &random) }
    case .logCutOff: try Self.edit(log) { $0.removeLast(Int.random(in: 0...$0.count, using: &random)) }
    case .logEmpty: try Self.edit(log) { $0.removeAll() }
    case .cutOff: try Self.edit(file) { $0.removeLast(Int.random(in: 0...$0.count, using: &random)) }
    case .empty: try Self.edit(file) { $0.removeAll() }
    case .pageLost:
      try Self.edit(file) { bytes in
        let (from, to) = (Self.page(in: bytes, &random), Self.page(in: bytes, &random))
        bytes.replaceSubrange(to, with: bytes[from])
      }
    case .pageZeroed:
      try Self.edit(file) { bytes in
        let page = Self.page(in: bytes, &random)
        bytes.replaceSubrange(page, with: Data(count: page.count))
      }
    case .garbageBesideLog:
      let garbage = (0..<32768).map { _ in UInt8.random(in: 0...255, using: &random) }
      try Data(garbage).write(to: URL(filePath: file + "-shm"))
    case .wrongNumbers: try Self.writeWrongNumbers(file, &random)
    }
  }

  private static func edit(_ path: String, _ change: (inout Data) -> Void) throws {
    var bytes = try Data(contentsOf: URL(filePath: path))
    change(&bytes)
    try bytes.write(to: URL(filePath: path))
  }

  private static func flip(_ bytes: inout Data, _ random: inout some RandomNumberGenerator) {
    guard !bytes.isEmpty else { return }
    for _ in 0..<Int.random(in: 1...60, using: &random) {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
  }

  private static func page(in bytes: Data, _ random: inout some RandomNumberGenerator) -> Range<Int> {
    let start = Int.random(in: 0..<max(bytes.count / 4096, 1), using: &random) * 4096
    return start..<min(start + 4096, bytes.count)
  }

  /// What SQLite cannot notice: numbers of rows, versions and states that nobody has stored.
  private static func writeWrongNumbers(_ file: String, _ random: inout some RandomNumberGenerator) throws {
    let numbers = ["-1", "0", "1", "2147483648", "4294967296", "9223372036854775807", "-9223372036854775808", "NULL"]
    let columns = [
      "globals.value", "users.id", "collection_parents.id", "documents.id", "documents.collection", "documents.version",
      "documents.create_time", "documents.read_time", "documents.sequence_number", "documents.state",
      "documents.checksum", "mutation_batches.id", "mutation_batches.user", "pending_documents.collection",
      "pending_documents.user", "pending_documents.batch", "pending_documents.largest_batch",
      "targets.id", "targets.sequence_number", "targets.snapshot_version", "targets.limbo_free_version",
      "target_documents.target", "target_documents.document",
    ]
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let column = columns[Int.random(in: 0..<columns.count, using: &random)].split(separator: ".")
      let number = numbers[Int.random(in: 0..<numbers.count, using: &random)]
      let everywhere = Bool.random(using: &random) ? "" : "WHERE random() % 3 = 0"
      // Not every column takes every number.
      try? change(file, "UPDATE OR IGNORE \(column[0]) SET \(column[1]) = \(number) \(everywhere)")
    }
  }

  /// Runs a statement on the database.
  static func change(_ file: String, _ statement: String) throws {
    try Connection(path: PageChecksums.uri(of: file), called: "cache").execute(statement)
  }
}
