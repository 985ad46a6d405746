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

  /// Decodes the commit in a `CommitRequest`, so that it can be applied together with others.
  /// - Returns: `nil` for the commit of a transaction, which is applied separately.
  package func commitOrder(_ bytes: [UInt8]) throws(RPCStatus) -> CommitOrder? {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.commitRequest() }
    if !request.transaction.isEmpty { return nil }
    let (database, mutations) = try request.checked()
    return CommitOrder(mutations, in: database, request: request.requestID, check: access?.commits)
  }

  /// Applies commits together, each atomically. Call this on the backend's executor.
  /// - Returns: the response message for each commit.
  package func commitAtOnce(_ orders: [CommitOrder]) -> [Result<[UInt8], RPCStatus>] {
    zip(orders, backend.step { $0.commit(orders) }).map { order, result in
      result.map { outcome in WireWriter.message { $0.commitResponse(outcome, to: order.mutations) } }
    }
  }

  /// Ends the transaction of a commit whose wait for locks timed out.
  func endTransaction(of bytes: [UInt8], on backend: isolated LocalBackend) {
    let request = try? RequestReader.read(bytes) { reader throws(WireError) in try reader.commitRequest() }
    guard let request, !request.transaction.isEmpty, let database = try? request.checked().0 else { return }
    // An error means that the transaction is unknown, so it has ended.
    try? backend.rollback(request.transaction, in: database)
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
    var options = options
    switch options {
    case .readOnly(let time): if let time { try RequestReader.check(time) }
    case .readWrite(let retried, let mode):
      options = .readWrite(retrying: retried, concurrency: mode ?? concurrency)
    }
    return try backend.beginTransaction(options, in: database, for: client).bytes
  }

  /// Determines the consistency of a read. Begins a transaction if the read requests one.
  /// - Returns: the consistency, and the id of the transaction if it is new.
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

extension FirestoreService {
  /// Serves one Write stream (PROTOCOL §3.1): handshake, then one response per request, in order. The first failing
  /// batch ends the stream; later batches are not applied.
  ///
  /// A stream can be resumed. A client that names the stream and its last received token, and resends requests, gets
  /// the responses to these requests, which are not applied again. The token counts the applied requests. A request
  /// with the label `hearth-write`, which Hearth's client sends, is applied only once on any stream. Requests of other
  /// clients are applied at least once, as in Cloud Firestore.
  package func write<Requests: AsyncSequence & Sendable>(
    _ requests: Requests, to send: Send
  ) async throws where Requests.Element == [UInt8] {
    var stream = WriteStream(self)
    for try await bytes in requests {
      let answer = try await stream.answer(bytes, on: backend)
      try await send([answer.message])
      if answer.isLast { return }
    }
  }
}

/// One Write stream, for a transport on the backend's executor. Each request is one step of the backend.
package struct WriteStream: Sendable {
  private let backend: LocalBackend
  private let access: (any CallerPermissions)?
  private var place: WriteStreamPlace?

  package init(_ service: FirestoreService) {
    backend = service.backend
    access = service.access
  }

  /// Applies a request. Call this on the backend's executor.
  /// - Returns: the response message, and whether the client ends the stream with this request.
  /// - Throws: the stream's final status.
  package mutating func receive(_ bytes: [UInt8]) throws(RPCStatus) -> (message: [UInt8], isLast: Bool) {
    let stream = self
    let (answer, place) = try backend.step { backend throws(RPCStatus) in
      var stream = stream
      return (try stream.answer(bytes, on: backend), stream.place)
    }
    self.place = place
    return answer
  }

  fileprivate mutating func answer(
    _ bytes: [UInt8], on backend: isolated LocalBackend
  ) throws(RPCStatus) -> (message: [UInt8], isLast: Bool) {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.writeRequest() }
    guard var current = place else {
      let opened = try WriteStreamPlace(opening: request)
      place = opened
      let response = WriteResponse(streamID: opened.id, streamToken: opened.token)
      return (WireWriter.message { $0.writeResponse(response) }, false)
    }
    if request.writes.isEmpty {
      // The client is closing the stream.
      let response = WriteResponse(streamToken: current.token)
      return (WireWriter.message { $0.writeResponse(response) }, true)
    }
    let database = current.database
    let mutations = try request.writes.map { write throws(RPCStatus) in try Mutation(request: write, in: database) }
    try access?.checkTime()
    current.position += 1
    let outcome = try backend.commit(
      mutations, in: database, request: request.requestID ?? current.requestID, check: access?.commits)
    let response = WriteResponse(streamToken: current.token, commit: outcome)
    place = current
    return (WireWriter.message { $0.writeResponse(response, to: mutations) }, false)
  }
}

/// The position of a Write stream: its name, and the number of answered requests.
private struct WriteStreamPlace {
  let id: String
  let database: DatabaseID
  var position: Int64

  /// The highest position, which no stream ever reaches.
  private static let mostRequests: Int64 = 1 << 62

  init(opening request: WriteStreamMessage) throws(RPCStatus) {
    if request.database.isEmpty { throw .invalid("'database' must be set on an initial write request.") }
    database = try ResourceName.database(request.database)
    if !request.writes.isEmpty { throw .invalid("'writes' must not be set on an initial write request.") }
    if request.streamID.isEmpty, !request.streamToken.isEmpty {
      throw .invalid(
        "Resuming streams is not supported, 'stream_token' must not be set on an initial write request without "
          + "'stream_id'.")
    }
    if request.streamID.isEmpty {
      id = Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) })
      position = 0
      return
    }
    guard Hexadecimal.bytes(request.streamID)?.count == 16, request.streamToken.count == 8 else {
      throw .invalid("The stream to resume does not exist on this server.")
    }
    id = request.streamID
    position = Int64(bitPattern: request.streamToken.reduce(0) { $0 << 8 | UInt64($1) })
    guard (0..<Self.mostRequests).contains(position) else {
      throw .invalid("The stream to resume does not exist on this server.")
    }
  }

  var token: [UInt8] { withUnsafeBytes(of: position.bigEndian) { [UInt8]($0) } }

  /// A globally unique id for the request at the current position.
  var requestID: WriteRequestID {
    WriteRequestID(clientID: Array(id.utf8), batchID: BatchID(position), sender: .stream)
  }
}

extension FirestoreService {
  /// Serves `hearth.v1.Commits/Follow`: reports the collections that commits change, until canceled.
  /// - Throws: `permission-denied` if rules exist or are added later and the caller is not an administrator;
  ///   `invalid-argument`; the error that `send` threw.
  package func followCommits(_ request: [UInt8], to send: Send) async throws {
    let name: String
    do throws(WireError) {
      name = try WireReader.read(request) { reader throws(WireError) in try reader.followRequest() }
    } catch { throw RPCStatus.invalid("The request cannot be read: \(error.reason).") }
    let database = try ResourceName.database(name)
    try checkMayFollow(database)
    throw try await backend.followCommits(in: database) { news in
      try checkMayFollow(database)
      try await send([WireWriter.message { $0.commitNews(news) }])
    }
  }

  private func checkMayFollow(_ database: DatabaseID) throws(RPCStatus) {
    try checkTime()
    try access?.checkIsAdmin("Notices of commits", in: database)
  }
}
