// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreSync
import Foundation

/// The first difference between a run and its expectations.
package struct SpecMismatch: Error, Hashable, Sendable, CustomStringConvertible {
  /// Counted from 1.
  package var step: Int
  package var action: String
  package var subject: String
  package var expected: String
  package var got: String

  package var description: String {
    "step \(step) \(action): \(subject)\n    expected: \(expected)\n    got:      \(got)"
  }
}

/// One test on one storage.
package struct SpecRun {
  private let test: SpecTest
  private let storage: LocalStoreConfiguration

  /// One client, until it is shut down, with the expectations that hold until a step replaces them.
  private final class Seat {
    var client: SpecClient?
    var activeTargets: [TargetID: SpecTarget] = [:]
    var activeLimboDocuments: Set<DocumentKey> = []
    var enqueuedLimboDocuments: Set<DocumentKey> = []

    init(_ client: consuming SpecClient) { self.client = consume client }
  }

  private var seats: [Int: Seat] = [:]
  /// Writes that the backend has to answer, oldest first.
  private var outstanding: [Mutation] = []

  private init(_ test: SpecTest, _ storage: LocalStoreConfiguration) {
    self.test = test
    self.storage = storage
  }

  /// - Returns: the first mismatch; `nil` if there is none.
  package static func failure(of test: SpecTest, on storage: SpecStorage) -> SpecMismatch? {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-spec-\(UUID().uuidString)")
    defer { if storage == .durable { try? FileManager.default.removeItem(at: directory) } }
    let usesEager = storage == .memory && test.usesEagerCollection
    let configuration = LocalStoreConfiguration(
      location: storage == .memory ? .memory : .directory(directory.path),
      policy: usesEager ? .eager : .leastRecentlyUsed(thresholdBytes: 100 << 20), database: specDatabase,
      isShared: test.hasSeveralClients)
    var run = SpecRun(test, configuration)
    do throws(SpecMismatch) { try run.perform() } catch { return error }
    return nil
  }

  private mutating func perform() throws(SpecMismatch) {
    for (index, step) in test.steps.enumerated() {
      let seat = try seat(of: step, index + 1)
      do throws(SpecClient.Failure) { try perform(step.action, in: seat) } catch {
        throw SpecMismatch(
          step: index + 1, action: step.name, subject: "action", expected: "it can be done", got: error.reason)
      }
      settle()
      try check(step, index + 1, seat)
      seat.client?.forgetWhatHappened()
    }
    for seat in seats.values { seat.client.take()?.close() }
  }

  /// The client that performs the step; made at its first step.
  private mutating func seat(of step: SpecStep, _ number: Int) throws(SpecMismatch) -> Seat {
    if let seat = seats[step.client] { return seat }
    do throws(StoreError) {
      let seat = Seat(try SpecClient(storage: storage, maximumLimboResolutions: test.maximumLimboResolutions))
      seats[step.client] = seat
      return seat
    } catch {
      throw SpecMismatch(step: number, action: step.name, subject: "store", expected: "it opens", got: error.message)
    }
  }

  /// Has all clients handle each other's messages until there are no more.
  private func settle() {
    guard test.hasSeveralClients else { return }
    var hasHeard = false
    repeat {
      hasHeard = false
      for (_, seat) in seats.sorted(by: { $0.key < $1.key }) {
        if seat.client?.hear() == true { hasHeard = true }
        if seat.client?.isShutDown == true { seat.client.take()?.close() }
      }
    } while hasHeard
  }

  private mutating func perform(_ action: SpecAction, in seat: Seat) throws(SpecClient.Failure) {
    switch action {
    case .drain: break
    case .clearStore: try clear()
    case .shutDown: seat.client.take()?.close()
    case .restart:
      guard let client = seat.client.take() else { throw .shutDown }
      do throws(StoreError) { seat.client = try client.restarted() } catch {
        throw SpecClient.Failure(reason: error.message)
      }
    default:
      guard var client = seat.client.take() else { throw .shutDown }
      let result: Result<Void, SpecClient.Failure>
      do throws(SpecClient.Failure) {
        try perform(action, on: &client)
        result = .success(())
      } catch {
        result = .failure(error)
      }
      seat.client = consume client
      try result.get()
    }
  }

  private func clear() throws(SpecClient.Failure) {
    guard case .directory(let path) = storage.location else { return }
    do throws(StoreError) {
      try LocalStore.announceErasure(of: path)
      settle()
      try LocalStore.erase(path)
    } catch {
      throw SpecClient.Failure(reason: error.message)
    }
  }

  private mutating func perform(_ action: SpecAction, on client: inout SpecClient) throws(SpecClient.Failure) {
    switch action {
    case .listen(let query, let id, let cacheOnly): try client.listen(to: query, id, cacheOnly: cacheOnly)
    case .unlisten(let query): try client.unlisten(query)
    case .write(let mutation): if client.write(mutation) { outstanding.append(mutation) }
    case .addSnapshotsInSyncObserver: client.addSnapshotsInSyncObserver()
    case .removeSnapshotsInSyncObserver: client.removeSnapshotsInSyncObserver()
    case .waitForPendingWrites: client.waitForPendingWrites()
    case .loadBundle(let text): client.loadBundle(text)
    case .changeUser(let user): client.changeUser(to: user)
    case .watch(let changes, let ending): try client.receive(changes, ending: ending)
    case .closeWatchStream(let status, let runs): try client.closeWatchStream(status, runsBackoff: runs)
    case .acknowledgeWrite(let version, let keeps):
      let mutations = try answer(keeps, &client)
      client.acknowledge(mutations.count, at: version)
    case .failWrite(let status, let keeps):
      _ = try answer(keeps, &client)
      client.closeWriteStream(status)
    case .setNetwork(let enabled): client.setNetwork(enabled: enabled)
    case .runTimer(let name): client.runTimers(upTo: name)
    case .collectGarbage(let threshold): client.collectGarbage(threshold: threshold)
    case .failStore(let actions): client.core.store.faults = actions
    case .setIndexes(let indexes): try client.setIndexes(indexes)
    case .setVisibility(let isVisible): client.transition { core in core.setVisibility(isVisible) }
    case .becomePrimary: client.becomePrimary()
    case .drain, .shutDown, .clearStore, .restart: break  // Done by the caller, which holds the client.
    }
  }

  /// The batch that the backend is about to answer, which must be the oldest outstanding write.
  private mutating func answer(_ keeps: Bool, _ client: inout SpecClient) throws(SpecClient.Failure) -> [Mutation] {
    let sent = try client.answerOldestWrite()
    guard let expected = outstanding.first, sent == [expected] else {
      throw SpecClient.Failure(reason: "the client sent \(sent.map(\.key)), not the oldest outstanding write")
    }
    if !keeps { outstanding.removeFirst() }
    return sent
  }

  // MARK: Checks

  private func check(_ step: SpecStep, _ number: Int, _ seat: Seat) throws(SpecMismatch) {
    let expected = step.expectations
    seat.activeTargets = expected.activeTargets ?? seat.activeTargets
    seat.activeLimboDocuments = expected.activeLimboDocuments ?? seat.activeLimboDocuments
    seat.enqueuedLimboDocuments = expected.enqueuedLimboDocuments ?? seat.enqueuedLimboDocuments
    let isShutDown = seat.client == nil
    if let shutDown = expected.isShutDown, shutDown != isShutDown {
      throw SpecMismatch(
        step: number, action: step.name, subject: "shut down", expected: "\(shutDown)", got: "\(isShutDown)")
    }
    guard let client = seat.client.take() else { return }
    let result: Result<Void, SpecMismatch>
    do throws(SpecMismatch) {
      try check(step, number, client, seat)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    seat.client = consume client
    try result.get()
  }

  private func check(
    _ step: SpecStep, _ number: Int, _ client: borrowing SpecClient, _ seat: Seat
  ) throws(SpecMismatch) {
    let expected = step.expectations

    func compare<T: Equatable>(_ subject: String, _ expected: T, _ got: T, _ text: (T) -> String) throws(SpecMismatch) {
      guard expected != got else { return }
      throw SpecMismatch(
        step: number, action: step.name, subject: subject, expected: text(expected), got: text(got))
    }
    func list(_ keys: [DocumentKey]) -> String { "[\(keys.map(\.description).joined(separator: ", "))]" }

    try compare("events", sorted(expected.events), sorted(client.events)) {
      $0.isEmpty ? "none" : $0.map(\.description).joined(separator: "\n              ")
    }
    try compare("acknowledged writes", expected.acknowledged, client.acknowledged.sorted(), list)
    try compare("rejected writes", expected.rejected, client.rejected.sorted(), list)
    try compare(
      "active limbo documents", seat.activeLimboDocuments.sorted(), client.core.limbo.active.keys.sorted(), list)
    try compare(
      "enqueued limbo documents", seat.enqueuedLimboDocuments.sorted(), client.core.limbo.enqueued.sorted(), list)
    let wanted = client.isNetworkEnabled && client.core.isPrimary ? seat.activeTargets : [:]
    try compare("active targets", wanted, comparable(client.backend.activeTargets, to: wanted), text(of:))
    if let count = expected.outstandingWrites {
      try compare("outstanding writes", count, client.core.outstandingWrites, \.description)
    }
    if let count = expected.writeStreamRequests {
      try compare("write stream requests", count, client.backend.writeRequests, \.description)
    }
    if let count = expected.watchStreamRequests {
      try compare("watch stream requests", count, client.backend.watchRequests, \.description)
    }
    try compare(
      "snapshots-in-sync calls", expected.snapshotsInSyncCalls, client.snapshotsInSyncCalls, \.description)
    try compare("pending-writes calls", expected.pendingWritesCalls, client.pendingWritesCalls, \.description)
    let isPrimary = expected.isPrimary ?? (test.hasSeveralClients ? client.core.isPrimary : true)
    try compare("primary", isPrimary, client.core.isPrimary, \.description)
    if let count = expected.activeClients {
      try compare("clients", count, client.core.store.clientCount, \.description)
    }
    if let indexes = expected.indexes {
      // Indexes that cannot be read count as none and fail the comparison.
      let found = ((try? client.core.store.indexes()) ?? []).map(\.definition)
      try compare("indexes", indexes, found) { $0.map(\.description).joined(separator: ", ") }
    }
  }

  /// Sorts events by query, keeping the order of each query's own events; the order among queries is not checked.
  private func sorted(_ events: [SpecEvent]) -> [SpecEvent] {
    events.enumerated().sorted {
      ($0.element.query.canonicalID, $0.offset) < ($1.element.query.canonicalID, $1.offset)
    }.map(\.element)
  }

  /// The received targets, without the expected counts that the data does not name.
  private func comparable(
    _ got: [TargetID: SpecTarget], to expected: [TargetID: SpecTarget]
  ) -> [TargetID: SpecTarget] {
    var got = got
    for id in got.keys where expected[id]?.expectedCount == nil { got[id]?.expectedCount = nil }
    return got
  }

  private func text(of targets: [TargetID: SpecTarget]) -> String {
    targets.isEmpty
      ? "none" : targets.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: "\n              ")
  }
}

extension SpecClient.Failure {
  fileprivate static let shutDown = SpecClient.Failure(reason: "the client is shut down")
}

extension SpecClient {
  /// A bundle that cannot be loaded is no failure of a test.
  mutating func loadBundle(_ text: String) {
    guard let bundle = try? BundleReader.read(Array(text.utf8), database: specDatabase) else { return }
    transition { core in _ = try? core.load(bundle) }
  }

  mutating func setIndexes(_ indexes: [FieldIndex]) throws(Failure) {
    do throws(StoreError) { try core.store.setIndexes(indexes) } catch { throw Failure(reason: error.message) }
    transition { _ in }
  }

  mutating func collectGarbage(threshold: Int64) {
    guard usesLRU else { return }
    // Steps that follow see whether anything was collected.
    _ = try? core.store.collectGarbage(thresholdBytes: threshold, percentile: 100, maximumSequenceNumbers: 1000)
  }
}
