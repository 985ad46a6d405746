// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// Stores the responses to recent batches. A batch that is resent after a lost response gets the stored response and is
/// not applied again.
///
/// Two requests are the same if their clients, batch numbers and contents are equal. A client whose cache was restored
/// to an earlier state reuses batch numbers for other batches, which count as new requests. Stream tokens do not
/// identify a request: a new stream starts without one, and pipelined batches share one. Requests without an id are
/// applied every time. A failed batch stores no response and is evaluated again.
struct AppliedRequests {
  /// The limits on stored responses. A client sends its batches in order, with at most 10 unanswered, so its latest
  /// responses are enough. Limits for all clients together are needed because no message shows that a client will never
  /// return.
  struct Limits {
    /// The number of responses stored for one client.
    var perClient: Int64 = 64
    /// The number of newest responses, of all clients together, that are stored regardless of their age.
    var rows: Int64 = 10_000
    /// The number of newest responses, of all clients together, that may include responses to streams. Older responses
    /// to streams are deleted regardless of their age.
    var streamRows: Int64 = 50_000
    /// The maximum age, in microseconds, of responses to streams that are not among the newest `rows` responses. One
    /// hour is enough: a stream is resumed soon or never.
    var streamAge: Int64 = 3_600_000_000
    /// The maximum age, in microseconds, of responses to caches that are not among the newest `rows` responses. It is
    /// 30 days, because a client may be offline for a long time.
    var cacheAge: Int64 = 2_592_000_000_000
    /// The number of requests between two searches for old responses.
    var slice = 4_096
  }

  /// The key under which the response to a request is stored.
  struct Name {
    let id: WriteRequestID
    /// The MD5 digest of the contents. Collisions are harmless: they only mix up two requests of the same client.
    let digest: [UInt8]

    init(_ id: WriteRequestID, _ mutations: [Mutation]) {
      self.id = id
      var writer = WireWriter()
      for mutation in mutations { writer.field(1) { $0.mutation(mutation, .relative) } }
      let digest = MD5(writer.bytes)
      self.digest = withUnsafeBytes(of: (digest.low.littleEndian, digest.high.littleEndian)) { Array($0) }
    }
  }

  static let schema = """
    CREATE TABLE applied_requests (
      database INTEGER NOT NULL, client BLOB NOT NULL, batch INTEGER NOT NULL, digest BLOB NOT NULL,
      of_stream INTEGER NOT NULL, version INTEGER NOT NULL, results BLOB NOT NULL,
      PRIMARY KEY (database, client, batch, digest)
    ) WITHOUT ROWID;
    """

  private let connection: Connection
  private let database: Int64

  init(_ connection: Connection, _ database: Int64) {
    self.connection = connection
    self.database = database
  }

  func answer(to request: Name) throws(StoreError) -> CommitResponse? {
    try connection.first(
      """
      SELECT version, results FROM applied_requests
        WHERE database = ? AND client = ? AND batch = ? AND digest IN (?, x'')
      """,
      database, request.id.clientID, request.id.batchID.rawValue, request.digest
    ) { row in
      CommitResponse(
        commitTime: SnapshotVersion(microseconds: row.integer(0)),
        results: Self.results(EncodedFields(trusted: row.blob(1)).decoded()))
    }
  }

  func record(_ response: CommitResponse, for request: Name, _ limits: Limits) throws(StoreError) {
    let (client, batch) = (request.id.clientID, request.id.batchID.rawValue)
    try connection.run(
      """
      INSERT INTO applied_requests (database, client, batch, digest, of_stream, version, results)
        VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      database, client, batch, request.digest,
      request.id.sender == .stream ? 1 : 0, response.commitTime.microseconds,
      EncodedFields(Self.fields(response.results)).bytes)
    // Old responses of the client are deleted only once every `perClient` batches.
    guard batch % limits.perClient == 0 else { return }
    try connection.run(
      """
      DELETE FROM applied_requests WHERE database = ?1 AND client = ?2 AND version <
        (SELECT min(version) FROM (SELECT version FROM applied_requests WHERE database = ?1 AND client = ?2
          ORDER BY version DESC LIMIT ?3))
      """, database, client, limits.perClient)
  }

  /// Deletes old responses in all databases, because their clients will probably not return. O(rows).
  /// - Parameter now: the current time in microseconds.
  func prune(at now: Int64, _ limits: Limits) throws(StoreError) {
    guard let kept = try version(atRank: limits.rows) else { return }
    let surplus = try version(atRank: limits.streamRows) ?? .min
    try connection.run(
      """
      DELETE FROM applied_requests WHERE version <= ?1
        AND CASE of_stream WHEN 1 THEN version < ?2 OR version <= ?3 ELSE version < ?4 END
      """, kept, now - limits.streamAge, surplus, now - limits.cacheAge)
  }

  /// The version, in microseconds, of the response at position `rank`, where 0 is the newest; `nil` if there are fewer.
  private func version(atRank rank: Int64) throws(StoreError) -> Int64? {
    try connection.integer("SELECT version FROM applied_requests ORDER BY version DESC LIMIT 1 OFFSET ?", rank)
  }

  /// Converts the results to the fields of a document, so that they can be encoded.
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
