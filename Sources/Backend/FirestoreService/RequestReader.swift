// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// Reads requests. Bytes that are not a valid message get `invalid-argument`.
enum RequestReader {
  static func read<Message>(
    _ bytes: [UInt8], _ body: (inout WireReader) throws(WireError) -> Message
  ) throws(RPCStatus) -> Message {
    do throws(WireError) { return try WireReader.read(bytes, body) } catch { throw status(error) }
  }

  static func status(_ error: WireError) -> RPCStatus {
    if error == .untypedValue { return .invalid("Cannot convert firestore.v1.Value with type unset.") }
    if let name = error.referenceName {
      do throws(RPCStatus) { _ = try ResourceName.document(name, "Resource name") } catch { return error }
    }
    return .invalid("The request cannot be read: \(error.reason).")
  }

  /// - Throws: `invalid-argument` for a value with a time that Firestore does not support.
  static func check(_ value: Value) throws(RPCStatus) {
    if let time = value.invalidTimestamp { try check(time) }
  }

  static func check(_ fields: Fields) throws(RPCStatus) {
    if fields.arePlain { return }
    for entry in fields.entries { try check(entry.value) }
  }

  /// - Throws: `invalid-argument` for a time that Firestore does not support.
  static func check(_ time: Timestamp) throws(RPCStatus) {
    if !time.isValid { throw .invalid(time.objection) }
  }

  static func check(_ precondition: Precondition) throws(RPCStatus) {
    if case .updateTime(let version) = precondition { try check(version.timestamp) }
  }
}

extension RPCStatus {
  static func invalid(_ message: String) -> RPCStatus { RPCStatus(.invalidArgument, message) }

  /// The error for a request that names a resource of another database.
  static func strays(from database: DatabaseID, to other: DatabaseID) -> RPCStatus {
    .invalid("The request was for database '\(database.name)' but was attempting to access database '\(other.name)'")
  }
}

/// Reads recorded requests in the same way as the service.
package enum RecordedRequest {
  package enum Watch: Sendable {
    case add(TargetID, Query)
    case remove(TargetID)
    /// A target that no query can express, and the reason.
    case other(TargetID, String)
  }

  /// Reads a `ListenRequest`.
  /// - Throws: `invalid-argument` if the service rejects it.
  package static func watch(_ bytes: [UInt8]) throws(RPCStatus) -> (DatabaseID, Watch) {
    let message = try RequestReader.read(bytes) { reader throws(WireError) in try reader.listenRequest() }
    let request = try ListenRequest(message)
    switch request.change {
    case .invalid(let id, let status): return (request.database, .other(id, status.message))
    case .watch(.remove(let id), _, _): return (request.database, .remove(id))
    case .watch(.add(let watched), let orderBy, let others):
      if !others.isEmpty { return (request.database, .other(watched.id, "a target with several documents")) }
      let target = watched.target
      let query = Query(
        path: target.path, collectionGroup: target.collectionGroup, filters: target.filters, explicitOrderBy: orderBy,
        limit: target.limit, start: target.start, end: target.end)
      return (request.database, .add(watched.id, query))
    }
  }

  /// Reads a `WriteRequest`.
  /// - Parameter earlier: the database that an earlier request of the stream named.
  /// - Throws: `invalid-argument` if the service rejects it.
  package static func writes(
    ofStream bytes: [UInt8], in earlier: DatabaseID?
  ) throws(RPCStatus) -> (DatabaseID, [Mutation]) {
    let message = try RequestReader.read(bytes) { reader throws(WireError) in try reader.writeRequest() }
    let database: DatabaseID
    if message.database.isEmpty, let earlier {
      database = earlier
    } else {
      database = try ResourceName.database(message.database)
    }
    return (
      database, try message.writes.map { write throws(RPCStatus) in try Mutation(request: write, in: database) }
    )
  }

  /// Reads a `CommitRequest`.
  /// - Throws: `invalid-argument` if the service rejects it.
  package static func writes(ofCommit bytes: [UInt8]) throws(RPCStatus) -> (DatabaseID, [Mutation]) {
    try RequestReader.read(bytes) { reader throws(WireError) in try reader.commitRequest() }.checked()
  }
}
