// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
package import FirestoreClientState
package import FirestoreModel

/// The supported part of google.firestore.admin.v1.FirestoreAdmin: lists of databases and of their composite indexes. A
/// database exists while it has documents; it is never created explicitly.
extension FirestoreService {
  package enum AdminMethod: String, Sendable, CaseIterable {
    case listDatabases = "ListDatabases"
    case getDatabase = "GetDatabase"

    /// The prefix of the call paths.
    package static let root = "/google.firestore.admin.v1.FirestoreAdmin/"
  }

  /// - Parameter request: a message whose field 1 is the name of a database or `projects/P`; P can be `-` for all
  ///   projects.
  /// - Throws: `permission-denied` if there are rules and the caller is not an administrator, `invalid-argument`,
  ///   `not-found`.
  package func answer(_ method: AdminMethod, _ request: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    try checkAdministrator("Listing databases")
    let name = try Self.name(request)
    switch method {
    case .listDatabases:
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0] == "projects", !parts[1].isEmpty else {
        throw .invalid("Parent \"\(name)\" is not of the form projects/PROJECT, or projects/- for all projects.")
      }
      let databases = try await backend.occupiedDatabases().filter { parts[1] == "-" || $0.project == parts[1] }
      return WireWriter.message { writer in
        for database in databases { writer.field(1, bytes: Self.message(of: database)) }
      }
    case .getDatabase:
      let database = try ResourceName.database(name)
      guard try await backend.occupiedDatabases().contains(database) else {
        throw RPCStatus(.notFound, "The database \(database.name) has no documents on this server.")
      }
      return Self.message(of: database)
    }
  }

  /// The composite indexes that the server simulates, for one collection id or for all.
  /// - Throws: `permission-denied` if there are rules and the caller is not an administrator.
  package func deployedIndexes(of collectionID: String?) throws(RPCStatus) -> [CompositeIndex] {
    try checkAdministrator("Listing indexes")
    return indexes?.composites.filter { collectionID == nil || $0.collectionID == collectionID } ?? []
  }

  private func checkAdministrator(_ action: String) throws(RPCStatus) {
    if isRestricted, access != nil {
      throw RPCStatus(.permissionDenied, "\(action) requires admin authentication.")
    }
  }

  /// A database as in google/firestore/admin/v1/database.proto: the name, FIRESTORE_NATIVE, OPTIMISTIC.
  private static func message(of database: DatabaseID) -> [UInt8] {
    WireWriter.message { writer in
      writer.field(1, string: database.name)
      writer.field(10, varint: 1)
      writer.field(15, varint: 1)
    }
  }

  private static func name(_ request: [UInt8]) throws(RPCStatus) -> String {
    do throws(WireError) {
      return try WireReader.read(request) { reader throws(WireError) in
        var name = ""
        while let tag = try reader.tag() {
          if tag.field == 1, tag.type == .lengthDelimited {
            name = try reader.string()
          } else {
            try reader.skip(tag.type)
          }
        }
        return name
      }
    } catch { throw .invalid("The request cannot be read: \(error.reason).") }
  }
}
