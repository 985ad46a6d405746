// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreExports
import FirestoreJSON
package import FirestoreModel
package import FirestoreService
import Glibc

/// Serves exports over HTTP, as Google's emulator does: `{"database": "projects/P/databases/D", "export_directory":
/// DIR, "export_name": NAME}`.
struct ExportControl: Sendable {
  private let service: FirestoreService

  init(_ service: FirestoreService) { self.service = service }

  /// Writes the export to the folder NAME in the existing folder DIR.
  func answer(_ body: [UInt8]) async throws(RPCStatus) -> HTTPAnswer {
    let json = try Self.json(body)
    func text(_ name: String, _ jsonName: String) throws(RPCStatus) -> String? {
      switch (json?[name] ?? json?[jsonName])?.kind {
      case nil, .null: return nil
      case .string(let text) where text.unicodeScalars.contains { $0.properties.generalCategory == .control }:
        // The system would truncate the name at a NUL. A terminal that lists the folder would interpret other control
        // characters.
        throw RPCStatus(.invalidArgument, "\(name) contains a control character.")
      case .string(let text): return text
      default: throw RPCStatus(.invalidArgument, "Payload isn't valid for request. \(name) must be a string.")
      }
    }
    let database = try text("database", "database") ?? ""
    guard let database = DatabaseID(name: database) else {
      throw RPCStatus(
        .invalidArgument, "Database name \"\(database)\" is not of the form projects/PROJECT/databases/DATABASE.")
    }
    let directory = try text("export_directory", "exportDirectory") ?? ""
    var status = stat()
    guard !directory.isEmpty, stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw RPCStatus(.failedPrecondition, "export_directory must be a directory")
    }
    let name = try text("export_name", "exportName") ?? "firestore_export_\(time(nil))"
    guard !name.isEmpty, !name.hasPrefix("."), !name.utf8.contains(UInt8(ascii: "/")) else {
      throw RPCStatus(.invalidArgument, "export_name \"\(name)\" is not the name of a folder in export_directory.")
    }
    do {
      try await service.export(database, to: directory + "/" + name)
    } catch {
      throw error as? RPCStatus ?? RPCStatus(.internal, "The export failed: \(error).")
    }
    return HTTPAnswer(200, "{}\n")
  }

  private static func json(_ body: [UInt8]) throws(RPCStatus) -> JSONSyntax? {
    if body.isEmpty { return nil }
    let text = String(decoding: body, as: UTF8.self)
    do throws(JSONError) { return try JSONSyntax(parsing: text) } catch {
      throw RPCStatus(
        .invalidArgument,
        "Payload isn't valid for request. Line \(error.line), column \(error.column): \(error.reason)")
    }
  }
}

extension FirestoreService {
  /// Writes all documents of a database, as of one point in time, to a folder in Google's format. The folder gets its
  /// name when it is complete, and then replaces an older export.
  /// - Returns: the number of documents.
  /// - Throws: `RPCStatus`; `failed-precondition` for a folder that cannot be created or written.
  @discardableResult
  package func export(_ database: DatabaseID, to folder: String) async throws -> Int {
    do {
      var cursor: QueryCursor? = try await backend.openAll(in: database)
      let time = cursor?.readTime.timestamp ?? Timestamp(seconds: 0)
      var writer = try ExportWriter(folder, database, begin: time)
      while let position = cursor {
        try Task.checkCancellation()
        let (piece, rest) = try await backend.read(position)
        for document in piece.documents {
          guard let data = document.data else { continue }
          try writer.append(document.key, data.fields)
        }
        cursor = rest
      }
      let count = writer.documents
      try writer.finish(end: time)
      return count
    } catch let error as ExportError {
      throw RPCStatus(error.kind == .unsupported ? .dataLoss : .failedPrecondition, "\(error)")
    } catch is CancellationError {
      throw RPCStatus(.cancelled, "The export was canceled, and nothing was written.")
    }
  }
}
