// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreExports
package import FirestoreModel
import FirestoreProtocol

/// What an emulator does with whole databases.
extension FirestoreService {
  /// Writes all documents of a database, as they are at one moment, into a folder in Google's format. The folder takes its
  /// name when it is whole, in place of an older export.
  /// - Returns: how many documents there were.
  /// - Throws: `RPCStatus`; `failed-precondition` for a folder that cannot be made or written.
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
      throw RPCStatus(.cancelled, "The export was cancelled, and nothing was written.")
    }
  }

  /// A `ListDatabasesResponse` with the databases that have documents; of all projects for the parent `projects/-`.
  package func listDatabases(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    let name = try RequestReader.read(bytes) { reader throws(WireError) in try reader.listDatabasesRequest() }
    let parent = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parent.count == 2, parent[0] == "projects", !parent[1].isEmpty else {
      throw .invalid("The parent of databases is projects/PROJECT, or projects/- for those of all.")
    }
    let databases = try await backend.occupiedDatabases().filter { parent[1] == "-" || $0.project == parent[1] }
    return WireWriter.message { $0.listDatabasesResponse(databases) }
  }

  /// Removes every document of every database. Listeners are told.
  package func deleteEverything() async throws(RPCStatus) {
    for database in try await backend.databases() { try await backend.deleteAllDocuments(in: database) }
  }
}
