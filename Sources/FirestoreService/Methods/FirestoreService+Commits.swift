// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreRemote

extension FirestoreService {
  func beginTransaction(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    var (name, options) = ("", TransactionOptions.readWrite(retrying: nil))
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: name = try field.string() ?? name
        case 2: options = try field.transactionOptions() ?? options
        default: break
        }
      }
    }
    let id = try await backend.beginTransaction(options, in: try ResourceName.database(name)).bytes
    return message { $0.field(1, bytes: id) }
  }

  func rollback(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    var (name, id) = ("", [UInt8]())
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: name = try field.string() ?? name
        case 2: id = try field.bytes() ?? id
        default: break
        }
      }
    }
    try await backend.rollback(id, in: try ResourceName.database(name))
    return []
  }

  func commit(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    var transaction: [UInt8] = []
    let (database, mutations) = try Self.writes(in: bytes) { number, field throws(RPCStatus) in
      if number == 3 { transaction = try field.bytes() ?? transaction }
    }
    let response =
      transaction.isEmpty
      ? try await backend.commit(mutations, in: database)
      : try await backend.commit(mutations, in: database, transaction: transaction)
    return message { writer in
      for (mutation, result) in zip(mutations, response.results) { writer.writeResult(1, result, of: mutation) }
      writer.field(2, timestamp: response.commitTime.timestamp)
    }
  }

  func batchWrite(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    let (database, mutations) = try Self.writes(in: bytes) { _, _ in }
    let results = try await backend.commitEach(mutations, in: database)
    return message { writer in
      for (mutation, result) in zip(mutations, results) {
        switch result {
        case .success(let result): writer.writeResult(1, result, of: mutation)
        case .failure: writer.field(1) { _ in }
        }
      }
      for result in results {
        switch result {
        case .success: writer.field(2) { _ in }
        case .failure(let status): writer.status(2, status)
        }
      }
    }
  }

  /// The database (field 1) and the writes (field 2) of a request. The name may come after the writes.
  private static func writes(
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
