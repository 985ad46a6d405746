// SPDX-License-Identifier: Apache-2.0
import ByteCompression
package import CommandOptions
package import CommandOutput
import FirestoreBackend
import FirestoreExports
import FirestoreJSON
package import FirestoreModel
import FirestoreProtocol
import Foundation

/// One side of a comparison, as it is named on the command line.
package enum ComparedSide: Sendable {
  /// `-` for standard input.
  case file(String)
  /// - Parameters:
  ///   - path: the root for a whole database.
  ///   - time: the time as of which the data is read; `nil` for now.
  case database(StorageOptions.Locations, ResourcePath, at: Timestamp?)

  /// A file of documents, a folder of data, or else a place.
  package init(_ text: String, in locations: StorageOptions.Locations) throws(CommandFailure) {
    if text == "-" || ImportInput.isFile(text) || ExportLocation.isExport(text) {
      self = .file(text)
      return
    }
    var place = PlaceText(text)
    if place.database == nil, let folder = place.path, LocalBackend.exists(in: folder) {
      (place.database, place.path) = (.folder(folder), nil)
    }
    if case .folder(let folder) = place.database, !LocalBackend.exists(in: folder) {
      throw CommandFailure(.noInput, "there is no file or folder of data \(folder).")
    }
    if place.database == nil, let path = place.path,
      path.hasPrefix("~") || path.contains(".json") || CompressionFormat(fileName: path) != nil
    {
      throw CommandFailure(.noInput, "there is no file or folder of data \(path).")
    }
    let named = try NamedPlace(place, in: locations)
    self = .database(named.locations, named.path ?? .root, at: named.time)
  }

  /// The same at another time.
  package func at(_ time: Timestamp) throws(CommandFailure) -> ComparedSide {
    guard case .database(let locations, let path, nil) = self else {
      throw CommandFailure(.usage, "--at is about data that changes: name a path, and say once as of when.")
    }
    return .database(locations, path, at: time)
  }

  /// The path in a database; `nil` for a file and for a database as a whole.
  package var path: ResourcePath? {
    guard case .database(_, let path, _) = self, !path.isRoot else { return nil }
    return path
  }

  /// The documents in the order of their paths.
  /// - Parameter path: below which documents count.
  package func documents(below path: ResourcePath, in database: DatabaseID) throws -> ComparedDocuments {
    switch self {
    case .database(let locations, _, let time):
      try locations.requireData()
      let connection = try locations.connect().at(time)
      let walk = DocumentWalk(at: connection.datastore, connection.database, isRecursive: true)
      return ComparedDocuments(walk: DocumentWalk.Iterator(walk, path), connection.database)
    case .file(let name):
      return ComparedDocuments(file: try Self.read(name, database).filter { path.isPrefix(of: $0.key.path) }, database)
    }
  }

  /// All documents of a file by their paths, of several with one path the last.
  private static func read(_ file: String, _ database: DatabaseID) throws -> [(key: DocumentKey, data: DocumentData)] {
    let format = TransferFormat(input: file)
    var input = try ImportInput(file, format)
    var rules = ImportRules(database: database, collection: nil, idField: nil)
    var found: [DocumentKey: DocumentData] = [:]
    do {
      if let delimiter = format.delimiter {
        rules.columns = try DelimitedColumns(input.sample(), delimiter, isPlain: false, types: [:], in: database)
      }
      while let batch = try input.next() {
        for record in batch.records {
          let mutation = try rules.mutation(of: record)
          guard case .set(let fields) = mutation.operation, mutation.transforms.isEmpty else {
            throw JSONError(
              line: record.place.line, column: record.place.column,
              reason: "What a server is to compute cannot be compared.")
          }
          found[mutation.key] = DocumentData(encoded: EncodedFields(fields))
        }
      }
    } catch let error as JSONError {
      throw CommandFailure(.badData, "\(input.name), \(error)")
    } catch let reason as Rejection.Reason {
      throw CommandFailure(.badData, "\(input.name), \(reason.text)")
    }
    return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

/// The documents of one side, one after the other.
package struct ComparedDocuments {
  private enum Source {
    case file(ArraySlice<(key: DocumentKey, data: DocumentData)>)
    case walk(DocumentWalk.Iterator)
  }

  let database: DatabaseID
  private var source: Source

  init(file documents: [(key: DocumentKey, data: DocumentData)], _ database: DatabaseID) {
    self.database = database
    source = .file(documents[...])
  }

  init(walk: DocumentWalk.Iterator, _ database: DatabaseID) {
    self.database = database
    source = .walk(walk)
  }

  mutating func next() async throws -> (key: DocumentKey, data: DocumentData)? {
    switch source {
    case .file(var documents):
      let first = documents.popFirst()
      source = .file(documents)
      return first
    case .walk(var walk):
      let document = try await walk.next()
      source = .walk(walk)
      return document.flatMap { document in document.data.map { (document.key, $0) } }
    }
  }
}
