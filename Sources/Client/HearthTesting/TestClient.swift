// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreSimulation
import FirestoreSync
import FirestoreText
public import Hearth
import Synchronization

/// A client of a ``TestStage``. It provides a `Firestore` for the code under test, with a durable cache and a network
/// that the test can disconnect or disturb.
public final class TestClient: Sendable {
  /// The name, unique within the stage.
  public let name: String
  let stage: TestStage
  private let client: WorldClient
  private let state: Mutex<Opened>

  /// The current `ClientOpening`, and the write outcomes that no expectation has consumed yet.
  struct Opened: Sendable {
    let opening: ClientOpening
    let db: Firestore
    let acknowledgements = EventQueue<WriteOutcome>()
    let rejections = EventQueue<WriteOutcome>()

    init(_ client: WorldClient, named name: String, in world: TestWorld) {
      let opening = client.opening
      let settings = FirestoreSettings()
      if opening.cache.isShared { settings.cacheSettings = PersistentCacheSettings(tabManager: .multiple) }
      let app = FirestoreApp(
        name: name, projectID: world.database.project,
        backend: .datastore(opening.client.datastore, in: opening.surroundings),
        cacheDirectory: world.folder(of: opening.cache), credentials: client.users)
      self.opening = opening
      db = Firestore.firestore(
        app: app, database: world.database.database, settings: settings, opened: opening.client)
      let (acknowledgements, rejections) = (acknowledgements, rejections)
      opening.followAnswers { ($0.rejection == nil ? acknowledgements : rejections).put($0) }
    }
  }

  init(_ name: String, _ client: WorldClient, _ stage: TestStage) {
    (self.name, self.client, self.stage) = (name, client, stage)
    state = Mutex(Opened(client, named: name, in: stage.world))
  }

  var cache: ClientCache { opened.opening.cache }
  var opened: Opened { state.withLock { $0 } }

  /// The client's user. Use it to sign users in and out.
  public var users: UserSession { client.users }

  /// The database for the code under test. Restarting or killing the client replaces this object.
  public var db: Firestore { opened.db }

  func close() async {
    let opened = opened
    await opened.opening.close()
    // Errors are ignored, because the test may already have terminated the client.
    try? await opened.db.terminate()
  }

  // MARK: Network

  /// Whether the test has the network connected. Ignores network changes that the test made through `db`.
  public var isOnline: Bool { client.isOnline }

  /// Disconnects the network. After the call returns, the client sends and receives nothing.
  public func goOffline() async throws {
    _ = try db.client()
    await client.goOffline()
  }

  /// Reconnects the network.
  public func goOnline() async throws {
    _ = try db.client()
    await client.goOnline()
  }

  /// Injects a fault between this client and the backend, in the syntax of scenarios and the dashboard:
  /// `latency 200ms jitter 100ms`, `next write drop-ack`, `loss 10% before`, `down watch`, `flap 5s`, `restart`,
  /// `calm`.
  /// `hearth help testing` lists all of them.
  /// - Throws: ``StageFailure`` if the syntax is invalid, or if the fault does not apply to a client.
  public func fault(_ words: String, file: String = #fileID, line: Int = #line) throws {
    let place = CallPlace(file: file, line: line)
    do throws(TextError) {
      let change = try FaultText.parse(words)
      if let objection = change.objectionOfClients { throw TextError(column: 1, objection) }
      do throws(RPCStatus) { try client.faults.perform(change) } catch { throw TextError(error.message) }
    } catch {
      let column = error.column.map { ", column \($0)" } ?? ""
      throw stage.failure(.misuse, "fault \"\(words)\"\(column): \(error.reason)", place)
    }
  }

  /// Ends all faults, including one-time faults that have not been injected yet.
  public func calm() { client.faults.apply(FaultSettings()) }

  // MARK: Clock

  /// Sets the difference between the client's clock and the stage's time of day. Positive values set the clock ahead;
  /// negative values set it back. The client uses this clock to estimate server timestamps until the server sets them.
  public func setClock(ahead lead: Duration) { client.setClock(ahead: lead) }

  // MARK: Lifecycle

  /// Whether this client runs the streams to the server. If several clients share a cache, only one of them runs the
  /// streams.
  public func hasStreams() async -> Bool { await opened.opening.engine.sharing()?.isPrimary ?? false }

  /// Closes the client and reopens it with the same cache. Its listeners end. The reopened client sends the pending
  /// writes if the network is on.
  public func restart(file: String = #fileID, line: Int = #line) async throws {
    try stage.check(CallPlace(file: file, line: line))
    await client.restart()
    await takeOpening()
  }

  /// Abandons the client without closing it, as after `kill -9`, and reopens it with a copy of its current files.
  public func kill(file: String = #fileID, line: Int = #line) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    do throws(RPCStatus) { try await client.kill() } catch {
      throw stage.failure(.misuse, "\(name) cannot be killed: \(error.message)", place)
    }
    await takeOpening()
  }

  /// Replaces the current `ClientOpening` with the client's new one, and closes the previous one.
  private func takeOpening() async {
    let before = opened
    let next = Opened(client, named: name, in: stage.world)
    state.withLock { $0 = next }
    // Errors are ignored, because the test may already have terminated the client.
    try? await before.db.terminate()
  }

  // MARK: Listening

  /// Listens to a query, in addition to the listeners of the code under test.
  /// - Parameters:
  ///   - query: a query of `db`.
  ///   - includeMetadataChanges: whether a change that concerns only metadata causes a snapshot.
  ///   - source: the source of the listener's data.
  /// - Throws: `FirestoreError` if Firestore rejects the query; ``StageFailure`` if the query belongs to another
  ///   client.
  public func listen(
    to query: any Query, includeMetadataChanges: Bool = true, source: ListenSource = .default, file: String = #fileID,
    line: Int = #line
  ) async throws -> TestListener {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let opened = opened
    guard query.firestore === opened.db else {
      throw stage.failure(
        .misuse,
        "the query belongs to another client, or to \(name) before it was reopened. Create it with \(name).db.", place)
    }
    let probe = ListenerProbe(
      to: try query.validated(),
      ListenerOptions(includeMetadataChanges: includeMetadataChanges, source: source == .cache ? .cache : .default),
      named: nil, of: opened.opening.engine)
    return TestListener(probe, of: query, opened.opening, self)
  }

  /// Listens to a document. Uses a query on the document's collection that returns only this document.
  /// - Parameters:
  ///   - document: a document of `db`.
  ///   - includeMetadataChanges: whether a change that concerns only metadata causes a snapshot.
  public func listen(
    to document: DocumentReference, includeMetadataChanges: Bool = true, file: String = #fileID, line: Int = #line
  ) async throws -> TestListener {
    try await listen(
      to: document.parent.whereField(FieldPath.documentID(), isEqualTo: document.documentID),
      includeMetadataChanges: includeMetadataChanges, file: file, line: line)
  }
}

extension TestClient {
  /// Waits until the client has exactly `count` pending writes.
  /// - Parameter limit: the maximum time to wait, in the stage's simulated time.
  /// - Throws: ``StageFailure``, which contains the actual count.
  public func expectPending(
    _ count: Int, within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let engine = opened.opening.engine
    if try await stage.isInTime(limit, { await engine.statusNow()?.waitingWrites == count }) { return }
    let there = await engine.statusNow().map { "there are \($0.waitingWrites)" } ?? "the client is closed"
    throw stage.failure(.notInTime, "\(name): expected \(count) pending writes within \(limit); \(there).", place)
  }

  /// Waits until the client's connection has the given state: online, offline or unknown.
  /// - Parameter limit: the maximum time to wait, in the stage's simulated time.
  /// - Throws: ``StageFailure``, which contains the actual state.
  public func expectConnection(
    _ phase: Hearth.OnlineState.Phase, within limit: Duration = TestStage.patience, file: String = #fileID,
    line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let engine = opened.opening.engine
    let wanted = phase.rawValue
    if try await stage.isInTime(limit, { await engine.statusNow()?.onlineState.rawValue == wanted }) { return }
    let there = await engine.statusNow()?.onlineState.rawValue ?? "the client is closed"
    throw stage.failure(
      .notInTime, "\(name): expected the connection to be \(phase.rawValue) within \(limit); \(there).", place)
  }

  /// Waits for the next rejected write. Each call consumes one rejection.
  /// - Parameters:
  ///   - code: the expected code of the rejection; `nil` to accept any code.
  ///   - path: the path of a document in the write; `nil` to accept any write.
  ///   - limit: the maximum time to wait, in the stage's simulated time.
  /// - Returns: the backend's error.
  /// - Throws: ``StageFailure`` if no rejection arrives in time, or if the next rejection does not match.
  @discardableResult
  public func expectRejected(
    _ code: FirestoreError.Code? = nil, _ path: String? = nil, within limit: Duration = TestStage.patience,
    file: String = #fileID, line: Int = #line
  ) async throws -> FirestoreError {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let rejections = opened.rejections
    let pattern = EventPattern(
      .rejected, path: path.map { ResourcePath($0) }, with: code.flatMap { StatusCode(rawValue: $0.rawValue) })
    let wanted =
      (["a rejected write"] + [path.map { "of \($0)" }, code.map { "with \($0.name)" }].compactMap(\.self))
      .joined(separator: " ")
    let answer = try await Patience.result(within: limit, by: stage.clock) { await rejections.next() }
    guard let answer, let rejection = answer.rejection else {
      throw stage.failure(.notInTime, "\(name): expected \(wanted) within \(limit), but no write was rejected.", place)
    }
    let (event, error) = (ObservedEvent(answer), FirestoreError(rejection))
    if pattern.matches(event) { return error }
    let paths = event.paths.map(\.text).joined(separator: ", ")
    throw stage.failure(
      .surprise, "\(name): expected \(wanted); the write of \(paths) was rejected with \(error.code.name).", place)
  }

  /// Waits for an acknowledged write. Each call consumes all acknowledgements up to and including the first that
  /// matches.
  /// - Parameters:
  ///   - path: the path of a document in the write; `nil` to accept any write. Only the first 20 documents of a write
  ///     are known.
  ///   - limit: the maximum time to wait, in the stage's simulated time.
  /// - Throws: ``StageFailure`` if no matching acknowledgement arrives in time.
  public func expectAcknowledged(
    _ path: String? = nil, within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let acknowledgements = opened.acknowledgements
    let pattern = EventPattern(.acknowledged, path: path.map { ResourcePath($0) })
    let answer = try await Patience.result(within: limit, by: stage.clock) { () -> WriteOutcome? in
      while let answer = await acknowledgements.next() {
        if pattern.matches(ObservedEvent(answer)) { return answer }
      }
      return nil
    }
    if answer == nil {
      let wanted = path.map { " of \($0)" } ?? ""
      throw stage.failure(
        .notInTime, "\(name): expected a write\(wanted) to be acknowledged within \(limit), but none was.", place)
    }
  }
}
