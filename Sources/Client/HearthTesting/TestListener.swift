// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSync
public import Hearth
import Synchronization

/// A listener of a test. Its snapshots wait until an expectation reads them.
public final class TestListener: Sendable {
  private enum News: Sendable {
    case snapshot(QuerySnapshot)
    case failed(FirestoreError)
  }

  /// The query.
  public let query: any Hearth.Query
  private let client: TestClient
  private let opening: ClientOpening
  private let probe: ListenerProbe
  private let news = EventQueue<News>()

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

  /// The newest result, whether or not an expectation has read it, with metadata that is current; `nil` before the first.
  public var current: QuerySnapshot? { probe.result.map { QuerySnapshot($0, of: query) } }

  /// Ends the listener.
  public func stop() { opening.stop(probe) }

  /// Waits for the next snapshot that meets all expectations. Those before it are passed over.
  ///
  ///     try await listener.expect(.added("SF"), .fromCache, .pendingWrites)
  /// - Parameters:
  ///   - wanted: what the snapshot is to be; nothing for any snapshot.
  ///   - limit: the longest time of the stage.
  /// - Returns: the snapshot.
  /// - Throws: ``StageFailure`` with what came instead, if none does, or if the listener ends.
  @discardableResult
  public func expect(
    _ wanted: SnapshotExpectation..., within limit: Duration = TestStage.patience, file: String = #fileID,
    line: Int = #line
  ) async throws -> QuerySnapshot {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let news = news
    let passed = Mutex<[String]>([])
    let found = try await Patience.result(within: limit, by: stage.clock) { () -> News? in
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
      let list = came.isEmpty ? "none came" : "came: " + came.suffix(10).joined(separator: "; ")
      throw failure(.notInTime, "expected a snapshot within \(limit): \(text); \(list)", place)
    }
  }

  /// Waits so long, in which no snapshot may come, and none may wait to be read.
  /// - Parameter limit: the time of the stage.
  /// - Throws: ``StageFailure`` with the snapshot that came, or the error with which the listener ended.
  public func expectNothing(
    within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let news = news
    switch try await Patience.result(within: limit, by: stage.clock, of: { await news.next() }) {
    case nil: return
    case .snapshot(let snapshot):
      throw failure(.surprise, "expected nothing; a snapshot came: \(SnapshotExpectation.account(of: snapshot))", place)
    case .failed(let error):
      throw failure(.surprise, "expected nothing; \(Self.end(error))", place)
    }
  }

  /// Waits until the listener ends with an error. Snapshots before it are passed over.
  /// - Parameters:
  ///   - code: the code of the error; `nil` for any.
  ///   - limit: the longest time of the stage.
  /// - Returns: the error.
  /// - Throws: ``StageFailure`` if the listener does not end, or with another error.
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
      throw failure(.notInTime, "expected the listener to end\(text) within \(limit); it goes on", place)
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
