// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSync
public import Hearth
import Synchronization

/// A listener for use in tests. It queues its snapshots until expectations read them.
public final class TestListener: Sendable {
  private enum Event: Sendable {
    case snapshot(QuerySnapshot)
    case failed(FirestoreError)
  }

  /// The query.
  public let query: any Hearth.Query
  private let client: TestClient
  private let opening: ClientOpening
  private let probe: ListenerProbe
  private let news = EventQueue<Event>()

  private var stage: TestStage { client.stage }

  init(_ probe: ListenerProbe, of query: any Hearth.Query, _ opening: ClientOpening, _ client: TestClient) {
    (self.probe, self.query, self.opening, self.client) = (probe, query, opening, client)
    let news = news
    opening.follow(probe) { told in
      switch told {
      case .snapshot(let view): news.put(.snapshot(QuerySnapshot(view, of: query)))
      case .failed(let status): news.put(.failed(FirestoreError(status)))
      case .result: break
      }
    }
  }

  /// The latest result with current metadata, even if no expectation has read it yet; `nil` before the first result.
  public var current: QuerySnapshot? { probe.result.map { QuerySnapshot($0, of: query) } }

  /// Ends the listener.
  public func stop() { opening.stop(probe) }

  /// Waits for the next snapshot that meets all of the given expectations. Skips all snapshots before it.
  ///
  ///     try await listener.expect(.added("SF"), .fromCache, .pendingWrites)
  /// - Parameters:
  ///   - wanted: the expectations that the snapshot must meet; if there are none, any snapshot is accepted.
  ///   - limit: the maximum time to wait, in the stage's simulated time.
  /// - Returns: the snapshot.
  /// - Throws: ``StageFailure``, which describes the received snapshots, if none of them matches or if the listener
  ///   ends.
  @discardableResult
  public func expect(
    _ wanted: SnapshotExpectation..., within limit: Duration = TestStage.patience, file: String = #fileID,
    line: Int = #line
  ) async throws -> QuerySnapshot {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let news = news
    let passed = Mutex<[String]>([])
    let found = try await Patience.result(within: limit, by: stage.clock) { () -> Event? in
      while let next = await news.next() {
        guard case .snapshot(let snapshot) = next else { return next }
        if wanted.allSatisfy({ $0.holds(snapshot) }) { return next }
        passed.withLock { $0.append(SnapshotExpectation.account(of: snapshot)) }
      }
      return nil
    }
    let text = wanted.isEmpty ? "any" : wanted.map(\.description).joined(separator: ", ")
    switch found {
    case .snapshot(let snapshot): return snapshot
    case .failed(let error):
      throw failure(.surprise, "expected a snapshot: \(text); \(Self.end(error))", place)
    case nil:
      let came = passed.withLock { $0 }
      let list = came.isEmpty ? "none arrived" : "arrived: " + came.suffix(10).joined(separator: "; ")
      throw failure(.notInTime, "expected a snapshot within \(limit): \(text); \(list)", place)
    }
  }

  /// Waits for a period of time, and expects no snapshot. Fails if a snapshot arrives during this period, or if an
  /// earlier snapshot is still unread.
  /// - Parameter limit: the length of the period, in the stage's simulated time.
  /// - Throws: ``StageFailure``, which contains the snapshot or the error that ended the listener.
  public func expectNothing(
    within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let news = news
    switch try await Patience.result(within: limit, by: stage.clock, of: { await news.next() }) {
    case nil: return
    case .snapshot(let snapshot):
      throw failure(
        .surprise, "expected no snapshot, but one arrived: \(SnapshotExpectation.account(of: snapshot))", place)
    case .failed(let error):
      throw failure(.surprise, "expected no snapshot; \(Self.end(error))", place)
    }
  }

  /// Waits until the listener ends with an error. Skips all snapshots before the error.
  /// - Parameters:
  ///   - code: the expected code of the error; `nil` to accept any code.
  ///   - limit: the maximum time to wait, in the stage's simulated time.
  /// - Returns: the error.
  /// - Throws: ``StageFailure`` if the listener does not end in time, or ends with a different error.
  @discardableResult
  public func expectFailure(
    _ code: FirestoreError.Code? = nil, within limit: Duration = TestStage.patience, file: String = #fileID,
    line: Int = #line
  ) async throws -> FirestoreError {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let news = news
    let error = try await Patience.result(within: limit, by: stage.clock) { () -> FirestoreError? in
      while let next = await news.next() {
        if case .failed(let error) = next { return error }
      }
      return nil
    }
    let text = code.map { " with \($0.name)" } ?? ""
    guard let error else {
      throw failure(.notInTime, "expected the listener to end\(text) within \(limit), but it continues", place)
    }
    if let code, code != error.code {
      throw failure(.surprise, "expected the listener to end\(text); \(Self.end(error))", place)
    }
    return error
  }

  private static func end(_ error: FirestoreError) -> String {
    "the listener ended with \(error.code.name): \(error.message)"
  }

  private func failure(_ kind: StageFailure.Kind, _ reason: String, _ place: CallPlace) -> StageFailure {
    let end = reason.hasSuffix(".") ? "" : "."
    return stage.failure(kind, "\(client.name), listener of \(probe.query.path.text): \(reason)\(end)", place)
  }
}

/// An expectation about a snapshot of a ``TestListener``.
public struct SnapshotExpectation: Sendable, CustomStringConvertible {
  /// A short description of the expectation, for failure messages.
  public let description: String
  let holds: @Sendable (QuerySnapshot) -> Bool

  private init(_ description: String, _ holds: @escaping @Sendable (QuerySnapshot) -> Bool) {
    (self.description, self.holds) = (description, holds)
  }

  // MARK: Origin

  /// The result is in sync with the server: `metadata.isFromCache` is `false`.
  public static let synced = SnapshotExpectation("synced") { !$0.metadata.isFromCache }
  /// The result is from the cache.
  public static let fromCache = SnapshotExpectation("from the cache") { $0.metadata.isFromCache }
  /// The result shows unacknowledged writes.
  public static let pendingWrites = SnapshotExpectation("with pending writes") { $0.metadata.hasPendingWrites }
  /// The result shows no unacknowledged writes.
  public static let noPendingWrites = SnapshotExpectation("without pending writes") { !$0.metadata.hasPendingWrites }

  // MARK: Documents

  /// The result contains no documents.
  public static let empty = count(0)

  /// The result contains this number of documents.
  public static func count(_ count: Int) -> SnapshotExpectation {
    SnapshotExpectation("\(count) document\(count == 1 ? "" : "s")") { $0.count == count }
  }

  /// The result contains exactly these documents, in this order.
  public static func documents(_ ids: String...) -> SnapshotExpectation {
    SnapshotExpectation("documents \(ids.joined(separator: ", "))") { $0.documents.map(\.documentID) == ids }
  }

  /// A field of a document in the result has the given value.
  /// - Parameters:
  ///   - field: the path of the field.
  ///   - value: the expected value. The actual value is converted to the same type, as with `get(_:) as? Value`.
  ///   - id: the document's id.
  public static func field<Value: Equatable & Sendable>(
    _ field: String, _ value: Value, of id: String
  ) -> SnapshotExpectation {
    SnapshotExpectation("\(field) of \(id) is \(value)") { snapshot in
      guard let document = snapshot.documents.first(where: { $0.documentID == id }) else { return false }
      return document.get(field) as? Value == value
    }
  }

  // MARK: Changes

  /// The snapshot adds the document.
  public static func added(_ id: String) -> SnapshotExpectation { change(.added, id) }
  /// The snapshot modifies the document or its metadata.
  public static func modified(_ id: String) -> SnapshotExpectation { change(.modified, id) }
  /// The snapshot removes the document.
  public static func removed(_ id: String) -> SnapshotExpectation { change(.removed, id) }

  private static func change(_ type: DocumentChangeType, _ id: String) -> SnapshotExpectation {
    SnapshotExpectation("\(type) \(id)") { snapshot in
      snapshot.documentChanges(includeMetadataChanges: true).contains {
        $0.type == type && $0.document.documentID == id
      }
    }
  }

  /// A custom expectation.
  /// - Parameters:
  ///   - description: describes the expectation in failure messages.
  ///   - holds: returns whether a snapshot meets the expectation.
  public static func that(
    _ description: String, _ holds: @escaping @Sendable (QuerySnapshot) -> Bool
  ) -> SnapshotExpectation {
    SnapshotExpectation(description, holds)
  }

  // MARK: Descriptions

  /// A description of a snapshot for failure messages: its first documents, its changes, and whether it is from the
  /// cache. Contains no field values.
  static func account(of snapshot: QuerySnapshot) -> String {
    let ids = snapshot.documents.prefix(5).map(\.documentID)
    let more = snapshot.count > 5 ? ", …" : ""
    let list = ids.isEmpty ? "" : " (\(ids.joined(separator: ", "))\(more))"
    let changes = snapshot.documentChanges(includeMetadataChanges: true).prefix(5).map { change in
      "\(change.type) \(change.document.documentID)"
    }
    let origin = snapshot.metadata.isFromCache ? "from the cache" : "synced"
    let pending = snapshot.metadata.hasPendingWrites ? ["with pending writes"] : []
    return (["\(snapshot.count) document\(snapshot.count == 1 ? "" : "s")\(list)"] + changes + [origin] + pending)
      .joined(separator: ", ")
  }
}
