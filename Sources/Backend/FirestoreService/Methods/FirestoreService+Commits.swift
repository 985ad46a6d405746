// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreModel
import FirestoreProtocol

extension FirestoreService {
  func beginTransaction(_ bytes: [UInt8], on backend: isolated LocalBackend) throws(RPCStatus) -> [UInt8] {
    let (name, options) = try RequestReader.read(bytes) { reader throws(WireError) in
      try reader.beginTransactionRequest()
    }
    let id = try beginTransaction(options, in: try ResourceName.database(name), on: backend)
    return WireWriter.message { $0.beginTransactionResponse(id) }
  }

  func rollback(_ bytes: [UInt8], on backend: isolated LocalBackend) throws(RPCStatus) -> [UInt8] {
    let (name, id) = try RequestReader.read(bytes) { reader throws(WireError) in try reader.rollbackRequest() }
    try backend.rollback(id, in: try ResourceName.database(name))
    return []
  }

  func commit(_ bytes: [UInt8], on backend: isolated LocalBackend) throws(RPCStatus) -> [UInt8] {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.commitRequest() }
    let (database, mutations) = try request.checked()
    let outcome =
      request.transaction.isEmpty
      ? try backend.commit(mutations, in: database, request: request.requestID, check: access?.commits)
      : try backend.commit(mutations, in: database, transaction: request.transaction, check: access?.commits)
    return WireWriter.message { $0.commitResponse(outcome, to: mutations) }
  }

  /// The commit that a `CommitRequest` asks for, to be done together with others.
  /// - Returns: `nil` for the commit of a transaction, which is done by itself.
  package func commitOrder(_ bytes: [UInt8]) throws(RPCStatus) -> CommitOrder? {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.commitRequest() }
    if !request.transaction.isEmpty { return nil }
    let (database, mutations) = try request.checked()
    return CommitOrder(mutations, in: database, request: request.requestID, check: access?.commits)
  }

  /// Does commits together, each atomically by itself. To be called on the backend's executor.
  /// - Returns: the response's message for each.
  package func commitAtOnce(_ orders: [CommitOrder]) -> [Result<[UInt8], RPCStatus>] {
    zip(orders, backend.step { $0.commit(orders) }).map { order, result in
      result.map { outcome in WireWriter.message { $0.commitResponse(outcome, to: order.mutations) } }
    }
  }

  func batchWrite(_ bytes: [UInt8], on backend: isolated LocalBackend) throws(RPCStatus) -> [UInt8] {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.commitRequest() }
    let (database, mutations) = try request.checked()
    try access?.checkIsAdmin("Batch writes", in: database)
    let results = try backend.commitEach(mutations, in: database)
    return WireWriter.message { $0.batchWriteResponse(results, to: mutations) }
  }

  func beginTransaction(
    _ options: TransactionOptions, in database: DatabaseID, on backend: isolated LocalBackend
  ) throws(RPCStatus) -> [UInt8] {
    if case .readOnly(let time?) = options { try RequestReader.check(time) }
    return try backend.beginTransaction(options, in: database, for: client).bytes
  }

  /// The consistency of a read, beginning the transaction that it asks for.
  /// - Returns: the transaction, if it is new.
  func begin(
    _ selector: ConsistencySelector, in database: DatabaseID, on backend: isolated LocalBackend
  ) throws(RPCStatus) -> (ReadConsistency, new: [UInt8]?) {
    switch selector {
    case .latest: return (.latest, nil)
    case .readTime(let time):
      try RequestReader.check(time)
      return (.readTime(time), nil)
    case .transaction(let id): return (.transaction(id), nil)
    case .newTransaction(let options):
      let id = try beginTransaction(options, in: database, on: backend)
      return (.transaction(id), id)
    }
  }
}
