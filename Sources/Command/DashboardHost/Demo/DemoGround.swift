// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation

/// The database that the demo may write to: one that it has filled itself, or an empty one. The databases that it has
/// filled are noted in a file beside the embedded backend's data, one name per line.
struct DemoGround: Sendable {
  /// The folder of the embedded backend's data, or of notes about servers; `nil` for data in memory, which is new with
  /// every start.
  let folder: String?
  let database: DatabaseID
  /// The host of the server that has the database; `nil` for the embedded backend.
  var host: String?

  private var name: String { (host.map { $0 + " " } ?? "") + database.name }

  private var note: String? { folder.map { "\($0)/made-by-demo" } }

  private var known: [String] {
    guard let note, let content = FileManager.default.contents(atPath: note) else { return [] }
    return String(decoding: content, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  enum Claim: Hashable, Sendable {
    /// An empty database, the demo's from now on.
    case new
    /// A database with documents that the demo wrote before.
    case own
    /// A database with documents that the demo did not make.
    case foreign
  }

  /// - Throws: the backend's status; an error of the file system if the database cannot be noted as the demo's.
  func claim(at datastore: any Datastore) async throws -> Claim {
    if try await !datastore.listCollectionIDs(below: .root).isEmpty {
      return known.contains(name) ? .own : .foreign
    }
    if let folder, let note {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let names = known.filter { $0 != name } + [name]
      try Data((names.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: note), options: .atomic)
    }
    return .new
  }
}

extension DemoGround {
  /// The database of a dashboard's storage. Data that could not be opened is replaced by an empty backend in memory, which
  /// lies in no folder.
  /// - Parameter notes: the folder where servers' databases are noted.
  init(_ storage: StorageOptions.Locations, _ connection: BackendConnection, notes: String) {
    switch storage.backend {
    case .embedded(let folder):
      self.init(folder: connection.problem == nil ? folder : nil, database: storage.database)
    case .remote(let remote):
      let host = "\(remote.endpoint.host):\(remote.endpoint.port)"
      self.init(folder: notes, database: storage.database, host: host)
    }
  }
}
