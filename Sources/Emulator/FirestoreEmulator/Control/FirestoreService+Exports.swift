// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreExports
package import FirestoreModel
package import FirestoreService

/// Exports of whole databases, as an emulator makes them.
extension FirestoreService {
  /// Writes all documents of a database, as they are at one moment, into a folder in Google's format. The folder takes
  /// its name when it is whole, in place of an older export.
  /// - Returns: the number of documents.
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
}
