// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import FirestoreExports
import Foundation
import Glibc

/// The progress of an import, in a file that survives the process.
struct ImportState: Codable, Hashable {
  /// The input and destination of the import; another import does not continue from its progress.
  package struct Identity: Codable, Hashable {
    var backend: String
    var database: String
    var into: String?
    var idField: String?
    var renames: [CollectionRename]?
    var format: TransferFormat
    var delimiter: String?
    var types: [String: ColumnType]?
    /// The size of the input file; absent for standard input.
    var size: Int?
    var modified: Double?
  }

  var identity: Identity
  /// The position before which everything is imported.
  var position: InputPosition
  var documents: Int
  var rejected: Int

  /// - Returns: `nil` if there is no readable file: the import then begins anew, without harm.
  static func read(_ path: String) -> ImportState? {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    return try? JSONDecoder().decode(ImportState.self, from: data)
  }

  /// Replaces the file in one step: a process that is killed meanwhile leaves the old one.
  func write(to path: String) throws(CommandFailure) {
    guard let data = try? JSONEncoder().encode(self) else {
      throw CommandFailure(.failure, "how far the import came cannot be written as JSON.")
    }
    do throws(CommandFailure) {
      let file = try FileReplacement(of: path, mode: 0o600)
      do throws(CommandFailure) { try Self.fill(file.descriptor, data, path) } catch {
        file.discard()
        throw error
      }
      try file.commit(isDurable: false)
    } catch {
      throw CommandFailure(
        error.status, "\(error.message) The import could not go on later; name another file with --resume.")
    }
  }

  private static func fill(_ descriptor: Int32, _ data: Data, _ path: String) throws(CommandFailure) {
    let written = data.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if written != data.count {
      throw CommandFailure(.inputOutput, "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
  }
}

/// The file of documents that could not be imported, one per line and unchanged, so that they can be mended and
/// imported.
final class RejectFile {
  private let path: String?
  private var descriptor: Int32?
  private let note: (String) -> Void

  /// Creates the file with the first rejected document.
  /// - Parameters:
  ///   - path: the path of the file; `nil` to write none.
  ///   - note: called with the reason for each rejection.
  init(_ path: String?, note: @escaping (String) -> Void) {
    self.path = path
    self.note = note
  }

  deinit {
    if let descriptor { close(descriptor) }
  }

  func add(_ rejections: [Rejection]) throws(CommandFailure) {
    for rejection in rejections {
      note(rejection.reason.text)
      guard let path else { continue }
      let descriptor = try opened(path)
      // Line breaks between the parts of JSON are white space.
      var line = rejection.record.text.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
      if line.isEmpty { continue }
      line.append(UInt8(ascii: "\n"))
      guard Glibc.write(descriptor, line, line.count) == line.count else {
        throw Self.failure(.inputOutput, path)
      }
    }
  }

  private func opened(_ path: String) throws(CommandFailure) -> Int32 {
    if let descriptor { return descriptor }
    let opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    if opened < 0 { throw Self.failure(.cannotCreate, path) }
    descriptor = opened
    return opened
  }

  private static func failure(_ status: ExitStatus, _ path: String) -> CommandFailure {
    CommandFailure(status, "\(path) cannot be written: \(String(cString: strerror(errno))).")
  }
}

extension Rejection.Reason {
  /// `line 3, column 14: …`
  package var text: String {
    switch self {
    case .unreadable(let error): "\(error)"
    case .unsupported(let error): "\(error)"
    case .refused(let status, let place): "\(place): \(status)"
    }
  }
}

extension InputRecord {
  /// The document's own text, or a line that can be mended if it had none; empty if it cannot be read at all.
  fileprivate var text: [UInt8] {
    guard let entity else { return bytes }
    guard let document = try? entity.document() else { return [] }
    return Array(DocumentLine.json(document.key, document.fields, in: document.database).utf8)
  }
}
