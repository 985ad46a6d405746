// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// Reads requests: whatever the bytes, the outcome is a message or `invalid-argument`.
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

  /// - Throws: `invalid-argument` for a value that holds a time that Firestore does not know.
  static func check(_ value: Value) throws(RPCStatus) {
    if let time = value.invalidTimestamp { try check(time) }
  }

  static func check(_ fields: Fields) throws(RPCStatus) {
    if fields.arePlain { return }
    for entry in fields.entries { try check(entry.value) }
  }

  /// - Throws: `invalid-argument` for a time that Firestore does not know.
  static func check(_ time: Timestamp) throws(RPCStatus) {
    if !time.isValid { throw .invalid(time.objection) }
  }

  static func check(_ precondition: Precondition) throws(RPCStatus) {
    if case .updateTime(let version) = precondition { try check(version.timestamp) }
  }
}

extension RPCStatus {
  static func invalid(_ message: String) -> RPCStatus { RPCStatus(.invalidArgument, message) }

  /// A request for one database that names something in another.
  static func strays(from database: DatabaseID, to other: DatabaseID) -> RPCStatus {
    .invalid("The request was for database '\(database.name)' but was attempting to access database '\(other.name)'")
  }
}
