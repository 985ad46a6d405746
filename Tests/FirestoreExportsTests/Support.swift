// SPDX-License-Identifier: Apache-2.0
import FirestoreExports
import FirestoreModel
import Foundation

/// Exports that Google's emulator made.
enum EmulatorExport {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Exports").path
  static let all = folder + "/emulator"
  static let output = all + "/all_namespaces/all_kinds/output-0"
}

func bytes(of path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

func records(_ bytes: [UInt8], inPiecesOf size: Int = .max, limit: Int = 1 << 20) throws -> [[UInt8]] {
  var log = RecordLogReader(limit: limit)
  var records: [[UInt8]] = []
  var rest = bytes[...]
  while true {
    while let record = try log.next(isAtEnd: rest.isEmpty) { records.append(record.bytes) }
    if rest.isEmpty { return records }
    log.append(Array(rest.prefix(size)))
    rest = rest.dropFirst(size)
  }
}

func log(_ records: [[UInt8]]) -> [UInt8] {
  var log = RecordLogWriter()
  for record in records { log.append(record) }
  return log.bytes
}

/// Everything in an export, by path.
func documents(_ path: String) throws -> [String: Fields] {
  var reader = try ExportReader(path)
  var found: [String: Fields] = [:]
  while let record = try reader.next() {
    let document = try record.document()
    found[document.key.path.text] = document.fields
  }
  return found
}

func export(_ path: String, _ documents: [(String, Fields)], in database: DatabaseID, bytesPerFile: Int = 1 << 30)
  throws
{
  var writer = try ExportWriter(path, database, begin: Timestamp(seconds: 1), bytesPerFile: bytesPerFile)
  for (path, fields) in documents { try writer.append(DocumentKey(unchecked: ResourcePath(path)), fields) }
  try writer.finish(end: Timestamp(seconds: 2))
}
