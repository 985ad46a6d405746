// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRemote

/// The answers to recent batches, so that a batch sent again because its answer was lost is answered, not applied
/// twice.
///
/// The rule: a request is the same if its client id and batch id are. Stream tokens do not tell: a new stream starts
/// without one, and pipelined batches carry the same. A client sends its batches in order and has at most 10
/// unanswered, so its last `kept` answers are enough. Requests without an id are applied as often as they come.
/// A failed batch leaves no answer behind: it is evaluated anew.
struct AppliedRequests {
  private static let kept: Int64 = 64

  private let connection: Connection
  private let database: Int64

  init(_ connection: Connection, _ database: Int64) {
    self.connection = connection
    self.database = database
  }

  func answer(to request: WriteRequestID) throws(BackendError) -> CommitResponse? {
    try connection.first(
      "SELECT version, results FROM applied_requests WHERE database = ? AND client = ? AND batch = ?",
      .integer(database), .bytes(request.clientID), .integer(request.batchID.rawValue)
    ) { row in
      CommitResponse(
        commitTime: SnapshotVersion(microseconds: row.integer(0)),
        results: Self.results(EncodedFields(trusted: row.bytes(1)).decoded()))
    }
  }

  func record(_ response: CommitResponse, for request: WriteRequestID) throws(BackendError) {
    let (client, batch) = (Argument.bytes(request.clientID), request.batchID.rawValue)
    try connection.run(
      "INSERT INTO applied_requests (database, client, batch, version, results) VALUES (?, ?, ?, ?, ?)",
      .integer(database), client, .integer(batch), .integer(response.commitTime.microseconds),
      .bytes(EncodedFields(Self.fields(response.results)).bytes))
    // Every so often is enough.
    guard batch % Self.kept == 0 else { return }
    try connection.run(
      """
      DELETE FROM applied_requests WHERE database = ?1 AND client = ?2 AND batch <
        (SELECT min(batch) FROM (SELECT batch FROM applied_requests WHERE database = ?1 AND client = ?2
          ORDER BY batch DESC LIMIT ?3))
      """, .integer(database), client, .integer(Self.kept))
  }

  /// The results as a document's fields: that has an encoding.
  private static func fields(_ results: [MutationResult]) -> Fields {
    let values = results.map { result in
      Value.map(["version": .integer(result.version.microseconds), "transforms": .array(result.transformResults)])
    }
    return ["results": .array(values)]
  }

  private static func results(_ fields: Fields) -> [MutationResult] {
    guard case .array(let values)? = fields["results"] else { return [] }
    return values.compactMap { value in
      guard case .map(let result) = value, case .integer(let version)? = result["version"],
        case .array(let transforms)? = result["transforms"]
      else { return nil }
      return MutationResult(version: SnapshotVersion(microseconds: version), transformResults: transforms)
    }
  }
}
