// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The content of a `CommitRequest`, or of a `BatchWriteRequest`, which has no transaction.
package struct CommitMessage: Sendable {
  package var database = ""
  package var writes: [WriteMessage] = []
  package var transaction: [UInt8] = []
  /// The id of the commit; `nil` if the sender does not repeat it. A sender that gets no response repeats the commit
  /// with the same id.
  package var requestID: WriteRequestID?
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.CommitRequest`.
  /// - Parameter request: identifies the commit, so that an embedded backend applies it only once even if it arrives
  ///   again.
  package mutating func commitRequest(
    _ mutations: [Mutation], in database: DatabaseID, request: WriteRequestID? = nil
  ) {
    let names = DocumentNames(database)
    field(1, string: database.name)
    for mutation in mutations { field(2) { $0.mutation(mutation, names) } }
    if let request { field(WriteRequestID.commitField, string: request.label) }
  }

  /// Writes the content of a `google.firestore.v1.CommitResponse`.
  /// - Parameter mutations: the mutations that were committed.
  package mutating func commitResponse(_ response: CommitResponse, to mutations: [Mutation]) {
    for (mutation, result) in zip(mutations, response.results) { writeResult(1, result, of: mutation) }
    field(2, timestamp: response.commitTime.timestamp)
  }

  /// Writes the content of a `google.firestore.v1.BatchWriteResponse`.
  /// - Parameter mutations: the mutations, each of which was written independently.
  package mutating func batchWriteResponse(_ results: [Result<MutationResult, RPCStatus>], to mutations: [Mutation]) {
    for (mutation, result) in zip(mutations, results) {
      switch result {
      case .success(let result): writeResult(1, result, of: mutation)
      case .failure: field(1) { _ in }
      }
    }
    for result in results {
      switch result {
      case .success: field(2) { _ in }
      case .failure(let status): self.status(2, status)
      }
    }
  }
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.CommitRequest` or `BatchWriteRequest`.
  package mutating func commitRequest() throws(WireError) -> CommitMessage {
    var request = CommitMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.database = try string()
      case (2, .lengthDelimited): request.writes.append(try writeMessage())
      case (3, .lengthDelimited): request.transaction = try byteArray()
      case (WriteRequestID.commitField, .lengthDelimited):
        request.requestID = WriteRequestID(label: try string(), sender: .stream)
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// Reads the content of a `google.firestore.v1.CommitResponse`. If the backend omits a version, as it does for a
  /// delete, the commit time is used.
  package mutating func commitResponse() throws(WireError) -> CommitResponse {
    var received = ReceivedCommit()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): try received.append(try message())
      case (2, .lengthDelimited): received.commitTime = SnapshotVersion(try timestamp())
      default: try skip(tag.type)
      }
    }
    guard let response = received.response else { throw WireError("a commit has no time") }
    return response
  }
}

extension WireWriter {
  /// Writes a field that contains a `google.firestore.v1.WriteResult`. The result of a delete has no version (PROTOCOL
  /// §3.2).
  package mutating func writeResult(_ number: Int, _ result: MutationResult, of mutation: Mutation) {
    field(number) { writer in
      if mutation.operation != .delete { writer.field(1, timestamp: result.version.timestamp) }
      for value in result.transformResults { writer.field(2) { $0.value(value) } }
    }
  }
}

/// The parts of a commit response that have been read so far. Results may precede the commit time, which replaces their
/// missing versions.
struct ReceivedCommit {
  private var results: [(version: SnapshotVersion?, transformResults: [Value])] = []
  var commitTime: SnapshotVersion?

  /// Adds the next result, which is read from the content of a `google.firestore.v1.WriteResult`.
  mutating func append(_ reader: WireReader) throws(WireError) {
    var reader = reader
    var version: SnapshotVersion?
    var transformResults: [Value] = []
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): version = SnapshotVersion(try reader.timestamp())
      case (2, .lengthDelimited):
        var inner = try reader.message()
        transformResults.append(try inner.value())
      default: try reader.skip(tag.type)
      }
    }
    results.append((version, transformResults))
  }

  /// The whole response; `nil` if it has no commit time, because it then belongs to no commit.
  var response: CommitResponse? {
    commitTime.map { time in
      CommitResponse(
        commitTime: time,
        results: results.map { MutationResult(version: $0.version ?? time, transformResults: $0.transformResults) })
    }
  }
}

/// Determines the version that a request reads (`consistency_selector`).
package enum ConsistencySelector: Sendable {
  case latest
  case transaction([UInt8])
  case newTransaction(TransactionOptions)
  case readTime(Timestamp)
}

package enum TransactionOptions: Sendable {
  /// A read-only transaction.
  /// - Parameter readTime: the read time; `nil` for the transaction's start time.
  case readOnly(readTime: Timestamp?)
  /// A read-write transaction.
  /// - Parameters:
  ///   - retrying: the id of the earlier attempt that this transaction retries; `nil` for a first attempt.
  ///   - concurrency: determines how conflicts with other writers are handled; `nil` for the server's default.
  case readWrite(retrying: [UInt8]?, concurrency: ConcurrencyMode? = nil)
}

/// Determines how conflicts between a read-write transaction and other writers are handled.
package enum ConcurrencyMode: Int, Sendable {
  /// Other writers may change documents that the transaction has read. If they do, the transaction's commit fails.
  case optimistic = 1
  /// The transaction locks the documents that it has read. Other writers wait until the transaction ends.
  case pessimistic = 2
}

extension WireReader {
  /// Reads a field that contains a `google.firestore.v1.TransactionOptions`.
  mutating func transactionOptions() throws(WireError) -> TransactionOptions {
    var (options, reader) = (TransactionOptions.readWrite(retrying: nil), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited): options = .readOnly(readTime: try reader.readTime())
      case (3, .lengthDelimited): options = try reader.readWriteOptions()
      default: try reader.skip(tag.type)
      }
    }
    return options
  }

  private mutating func readTime() throws(WireError) -> Timestamp? {
    var time: Timestamp?
    try message(with: 2, .lengthDelimited) { reader throws(WireError) in time = try reader.timestamp() }
    return time
  }

  private mutating func readWriteOptions() throws(WireError) -> TransactionOptions {
    var (id, concurrency, reader) = ([UInt8](), ConcurrencyMode?.none, try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): id = try reader.byteArray()
      case (2, .varint): concurrency = ConcurrencyMode(rawValue: Int(truncatingIfNeeded: try reader.integer()))
      default: try reader.skip(tag.type)
      }
    }
    return .readWrite(retrying: id.isEmpty ? nil : id, concurrency: concurrency)
  }
}

// The messages that begin a transaction or end it without a commit.

extension WireReader {
  /// Reads the content of a `google.firestore.v1.BeginTransactionRequest`.
  package mutating func beginTransactionRequest() throws(WireError) -> (database: String, TransactionOptions) {
    var (database, options) = ("", TransactionOptions.readWrite(retrying: nil))
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): database = try string()
      case (2, .lengthDelimited): options = try transactionOptions()
      default: try skip(tag.type)
      }
    }
    return (database, options)
  }

  /// Reads the content of a `google.firestore.v1.RollbackRequest`.
  package mutating func rollbackRequest() throws(WireError) -> (database: String, transaction: [UInt8]) {
    var (database, id) = ("", [UInt8]())
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): database = try string()
      case (2, .lengthDelimited): id = try byteArray()
      default: try skip(tag.type)
      }
    }
    return (database, id)
  }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.BeginTransactionResponse`.
  package mutating func beginTransactionResponse(_ transaction: [UInt8]) { field(1, bytes: transaction) }
}
