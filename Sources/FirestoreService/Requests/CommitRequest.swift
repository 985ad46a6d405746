// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// A `CommitRequest`.
struct CommitRequest {
  let database: DatabaseID
  let mutations: [Mutation]
  /// Empty without one.
  private(set) var transaction: [UInt8] = []

  init(_ bytes: [UInt8]) throws(RPCStatus) {
    var transaction: [UInt8] = []
    (database, mutations) = try RequestReader.writes(in: bytes) { number, field throws(RPCStatus) in
      if number == 3 { transaction = try field.bytes() ?? transaction }
    }
    self.transaction = transaction
  }

  func response(_ outcome: CommitResponse) -> [UInt8] {
    message { $0.commitResponse(outcome, to: mutations) }
  }
}

extension RequestReader {
  /// The database (field 1) and the writes (field 2) of a request. The name may come after the writes.
  static func writes(
    in bytes: [UInt8], other: (Int, inout RequestField) throws(RPCStatus) -> Void
  ) throws(RPCStatus) -> (DatabaseID, [Mutation]) {
    var name = ""
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        if number == 1 { name = try field.string() ?? name } else { try other(number, &field) }
      }
    }
    let database = try ResourceName.database(name)
    var mutations: [Mutation] = []
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        if number == 2, let mutation = try field.write(in: database) { mutations.append(mutation) }
      }
    }
    return (database, mutations)
  }
}
