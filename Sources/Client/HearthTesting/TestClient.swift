// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreSimulation
import FirestoreSync
import FirestoreText
public import Hearth
import Synchronization

/// A client of a ``TestStage``: a `Firestore` for the code that is tested, with a durable cache and a network that can be
/// broken.
public final class TestClient: Sendable {
  /// The name, which no other client of the stage has.
  public let name: String
  /// The user of the client, whom a test signs in and out.
  public let users = UserSession()
  let stage: TestStage
  private let faults: FaultInjector
  private let state: Mutex<State>

  private struct State: Sendable {
    var opening: ClientOpening
    var cache: OpenedCache
    var isOnline = true
  }

  /// The time by which the clock is ahead.
  private let clock: TestClock

  init(_ name: String, user: String?, on cache: OpenedCache, _ stage: TestStage) throws(FirestoreError) {
    (self.name, self.stage) = (name, stage)
    faults = stage.world.faults(of: name)
    if let user { users.signIn(userID: user) { _ in user } }
    let clock = TestClock()
    self.clock = clock
    state = Mutex(
      State(
        opening: try ClientOpening(
          name, on: cache, isOnline: true, users, faults, clock: { clock.lead }, in: stage.world),
        cache: cache))
  }

  var cache: OpenedCache { state.withLock(\.cache) }

  /// The database, for the code that is tested. A client that was restarted or killed has another one.
  public var db: Firestore { opening.db }

  var opening: ClientOpening { state.withLock(\.opening) }

  var agreeing: AgreeingClient? {
    let (opening, isOnline) = state.withLock { ($0.opening, $0.isOnline) }
    return AgreeingClient(name, opening.engine, isOnline: isOnline, opening.listeners)
  }

  func close() async { await opening.close() }

  // MARK: Network

  /// Whether the network is on, as far as the test has not switched it by `db`.
  public var isOnline: Bool { state.withLock(\.isOnline) }

  /// Pulls the plug: when the call returns, nothing is sent or received any more.
  public func goOffline() async throws {
    try await db.disableNetwork()
    state.withLock { $0.isOnline = false }
  }

  /// Puts the plug back.
  public func goOnline() async throws {
    try await db.enableNetwork()
    state.withLock { $0.isOnline = true }
  }

  /// Makes a fault between this client and the backend, in the words that scenarios and the dashboard have:
  /// `latency 200ms jitter 100ms`, `next write drop-ack`, `loss 10% before`, `down watch`, `flap 5s`, `restart`, `calm`.
  /// `hearth help testing` has all of them.
  /// - Throws: ``StageFailure`` for other words, and for those that mean nothing to a client.
  public func fault(_ words: String, file: String = #fileID, line: Int = #line) throws {
    let place = CallPlace(file: file, line: line)
    do throws(TextError) {
      let change = try FaultText.parse(words)
      if let objection = change.objectionOfClients { throw TextError(column: 1, objection) }
      do throws(RPCStatus) { try faults.perform(change) } catch { throw TextError(error.message) }
    } catch {
      let column = error.column.map { ", column \($0)" } ?? ""
      throw stage.failure(.misuse, "fault \"\(words)\"\(column): \(error.reason)", place)
    }
  }

  /// Ends all faults, and withdraws those that wait for a call.
  public func calm() { faults.apply(FaultSettings()) }

  // MARK: Clock

  /// Sets the client's clock: by how much it is ahead of the stage's time of day, or behind it if negative. Server timestamps
  /// are estimated by it until the server has set them.
  public func setClock(ahead lead: Duration) { clock.lead = lead }

  // MARK: Lives

  /// Whether this client has the streams: of clients that share a cache one has them, for all.
  public func hasStreams() async -> Bool { await opening.engine.sharing()?.isPrimary ?? false }

  /// Closes the client and opens it again on its cache. Its listeners end; writes that wait are sent by the new one, if the
  /// network is on.
  public func restart(file: String = #fileID, line: Int = #line) async throws {
    try await reopen(isKilled: false, CallPlace(file: file, line: line))
  }

  /// Gives the client up as it is, and opens it again on the files as they are now, as after `kill -9`.
  public func kill(file: String = #fileID, line: Int = #line) async throws {
    try await reopen(isKilled: true, CallPlace(file: file, line: line))
  }

  private func reopen(isKilled: Bool, _ place: CallPlace) async throws {
    try stage.check(place)
    let (before, old, isOnline) = state.withLock { ($0.opening, $0.cache, $0.isOnline) }
    var cache = old
    // A cache that others use stays where it is.
    if isKilled, cache.company == nil {
      do throws(RPCStatus) { try stage.world.caches.copy(name, life: cache.life) } catch {
        throw stage.failure(.misuse, "\(name) cannot be killed: \(error.message)", place)
      }
      cache.life += 1
    }
    await before.close(isKilled: isKilled && cache.company != nil)
    let clock = clock
    let next = try ClientOpening(
      name, on: cache, isOnline: isOnline, users, faults, clock: { clock.lead }, in: stage.world)
    state.withLock { state in (state.opening, state.cache) = (next, cache) }
  }

  // MARK: Listening

  /// Listens to a query, beside the listeners of the code that is tested.
  /// - Parameters:
  ///   - query: a query of `db`.
  ///   - includeMetadataChanges: whether a change of nothing but metadata is a snapshot.
  ///   - source: the source of the data.
  /// - Throws: `FirestoreError` for a query that Firestore refuses; ``StageFailure`` for one of another client.
  public func listen(
    to query: any Query, includeMetadataChanges: Bool = true, source: ListenSource = .default, file: String = #fileID,
    line: Int = #line
  ) async throws -> TestListener {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let opening = opening
    guard query.firestore === opening.db else {
      throw stage.failure(
        .misuse, "the query is of another client, or of \(name) before it was opened again; make it with \(name).db.",
        place)
    }
    let probe = ListenerProbe(
      to: try query.validated(),
      ListenerOptions(includeMetadataChanges: includeMetadataChanges, source: source == .cache ? .cache : .default),
      named: nil, of: opening.engine)
    return TestListener(probe, of: query, opening, self)
  }

  /// Listens to a document, as the query of its collection that has no other result.
  /// - Parameters:
  ///   - document: a document of `db`.
  ///   - includeMetadataChanges: whether a change of nothing but metadata is a snapshot.
  public func listen(
    to document: DocumentReference, includeMetadataChanges: Bool = true, file: String = #fileID, line: Int = #line
  ) async throws -> TestListener {
    try await listen(
      to: document.parent.whereField(FieldPath.documentID(), isEqualTo: document.documentID),
      includeMetadataChanges: includeMetadataChanges, file: file, line: line)
  }
}

extension TestClient {
  /// Waits until so many writes wait for an answer.
  /// - Parameter limit: the longest time of the stage.
  /// - Throws: ``StageFailure`` with the number that waits instead.
  public func expectPending(
    _ count: Int, within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let engine = opening.engine
    if try await stage.isInTime(limit, { await engine.statusNow()?.waitingWrites == count }) { return }
    let there = await engine.statusNow().map { "\($0.waitingWrites) wait" } ?? "the client is closed"
    throw stage.failure(.notInTime, "\(name): expected \(count) waiting writes within \(limit); \(there).", place)
  }

  /// Waits until the client takes itself for online, offline or neither.
  /// - Parameter limit: the longest time of the stage.
  /// - Throws: ``StageFailure`` with the phase that holds instead.
  public func expectConnection(
    _ phase: Hearth.OnlineState.Phase, within limit: Duration = TestStage.patience, file: String = #fileID,
    line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let engine = opening.engine
    let wanted = phase.rawValue
    if try await stage.isInTime(limit, { await engine.statusNow()?.onlineState.rawValue == wanted }) { return }
    let there = await engine.statusNow()?.onlineState.rawValue ?? "the client is closed"
    throw stage.failure(
      .notInTime, "\(name): expected the connection to be \(phase.rawValue) within \(limit); \(there).", place)
  }

  /// Waits for the next rejection of a write that no call before has read.
  /// - Parameters:
  ///   - code: the code of the rejection; `nil` for any.
  ///   - path: a document of the write; `nil` for any.
  ///   - limit: the longest time of the stage.
  /// - Returns: the backend's error.
  /// - Throws: ``StageFailure`` if none comes, or if the next one is another.
  @discardableResult
  public func expectRejected(
    _ code: FirestoreError.Code? = nil, _ path: String? = nil, within limit: Duration = TestStage.patience,
    file: String = #fileID, line: Int = #line
  ) async throws -> FirestoreError {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let rejections = opening.rejections
    let wanted =
      (["a rejected write"] + [path.map { "of \($0)" }, code.map { "with \($0.name)" }].compactMap(\.self))
      .joined(separator: " ")
    let answer = try await Patience.result(within: limit, by: stage.clock) { await rejections.next() }
    guard let answer, let error = answer.error else {
      throw stage.failure(.notInTime, "\(name): expected \(wanted) within \(limit); none was rejected.", place)
    }
    if let code, code != error.code {
      throw stage.failure(.surprise, "\(name): expected \(wanted); \(Self.text(answer)).", place)
    }
    if let path, !answer.paths.contains(path) {
      throw stage.failure(.surprise, "\(name): expected \(wanted); \(Self.text(answer)).", place)
    }
    return error
  }

  private static func text(_ answer: ClientOpening.Answer) -> String {
    "the write of \(answer.paths.joined(separator: ", ")) was rejected with \(answer.error?.code.name ?? "nothing")"
  }

  /// Waits for the acknowledgement of a write that no call before has read. Acknowledgements of other documents are passed
  /// over.
  /// - Parameters:
  ///   - path: a document of the write; `nil` for any. Of a write with more than 20 documents the first 20 are known.
  ///   - limit: the longest time of the stage.
  /// - Throws: ``StageFailure`` if none comes.
  public func expectAcknowledged(
    _ path: String? = nil, within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let acknowledgements = opening.acknowledgements
    let answer = try await Patience.result(within: limit, by: stage.clock) { () -> ClientOpening.Answer? in
      while let answer = await acknowledgements.next() {
        if path.map({ answer.paths.contains($0) }) ?? true { return answer }
      }
      return nil
    }
    if answer == nil {
      let wanted = path.map { " of \($0)" } ?? ""
      throw stage.failure(
        .notInTime, "\(name): expected a write\(wanted) to be acknowledged within \(limit); none was.", place)
    }
  }
}
