// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol

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
    let id = try await beginTransaction(options, in: try ResourceName.database(name))
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
    let request = try CommitRequest(bytes)
    let outcome =
      request.transaction.isEmpty
      ? try await backend.commit(request.mutations, in: request.database)
      : try await backend.commit(request.mutations, in: request.database, transaction: request.transaction)
    return request.response(outcome)
  }

  func batchWrite(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    let (database, mutations) = try RequestReader.writes(in: bytes) { _, _ in }
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
}
