// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSync
import FirestoreTesting
import Testing

/// What random runs found, as short as it got.
@Suite struct FoundBugTests {
  private let eager = ModelClient.Setup(isDurable: false, policy: .eager, maximumLimboResolutions: 100)

  private func fails(_ setups: [ModelClient.Setup], _ trace: [Operation]) async throws -> String? {
    try await ModelRun(setups, trace).failure().map { "step \($0.step): \($0.violation)" }
  }

  private let metadata: ListenerOptions = {
    var options = ListenerOptions()
    options.includeMetadataChanges = true
    return options
  }()

  @Test("Documents in a view's first snapshot are not evicted (S1)")
  func initialDocumentsArePinned() async throws {
    var cached = metadata
    cached.source = .cache

    let failure = try await fails(
      [eager], [.write(0, [set("msgs/m0", [:])]), .listen(0, query: 19, cached), .comeToRest])

    #expect(failure == nil)
  }

  @Test("An acknowledged document that no target lists starts a lookup")
  func acknowledgedButNotListed() async throws {
    let room = key("rooms/r4")
    let merge = Mutation(
      key: room, operation: .patch(["b": .string("é")], FieldMask([FieldPath("b")])), precondition: .none)

    let failure = try await fails(
      [ModelClient.Setup(isDurable: false, policy: .never, maximumLimboResolutions: 1)],
      [
        .backendWrite([set("rooms/r4", ["b": .string(""), "n": .integer(5)])]),
        .listen(0, query: 0, metadata), .open(0, .watch), .send(0, .watch, count: 1), .deliver(0, .watch, count: 50),
        .listen(0, query: 12, metadata), .write(0, [merge]),
        .backendWrite([Mutation(key: room, operation: .delete)]), .open(0, .write), .send(0, .write, count: 1),
        .serve(0), .deliver(0, .write, count: 1), .stopListening(0, 0), .comeToRest,
      ])

    #expect(failure == nil)
  }

  @Test("A pending no-op write does not mark an acknowledged document as pending (S9)")
  func laterWriteDoesNothing() async throws {
    var create = set("rooms/r0", ["a": .integer(2)])
    create.precondition = .exists(false)

    let failure = try await fails(
      [eager],
      [
        .write(0, [set("rooms/r0", ["a": .integer(1)])]), .write(0, [create]), .open(0, .write),
        .send(0, .write, count: 1), .serve(0), .deliver(0, .write, count: 1), .comeToRest,
      ])

    #expect(failure == nil)
  }

  // MARK: Results that start from a target's documents

  @Test("After a user change, a limit query that lost a write shows later documents")
  func pendingWriteWithinTheLimit() async throws {
    let collecting = ModelClient.Setup(
      isDurable: false, policy: .leastRecentlyUsed(thresholdBytes: 0), maximumLimboResolutions: 1)
    func merge(_ value: Int64) -> Mutation {
      Mutation(
        key: key("rooms/r1/msgs/m0"), operation: .patch(["a": .integer(value)], FieldMask([FieldPath("a")])),
        precondition: .exists(true))
    }

    let failure = try await fails(
      [collecting, collecting],
      [
        .backendWrite([set("rooms/r1/msgs/m0", ["n": .integer(0)])]), .write(1, [set("msgs/m1", ["a": .integer(4)])]),
        .backendWrite([set("rooms/r1/msgs/m1", ["a": .integer(1)])]), .listen(0, query: 20, ListenerOptions()),
        .write(0, [set("msgs/m1", ["a": .integer(3)])]), .write(0, [merge(1)]), .comeToRest,
        .backendWrite([set("rooms/r1/msgs/m0", ["a": .integer(3)])]), .write(0, [merge(2)]),
        .deliver(0, .watch, count: 2), .changeUser(0, 2),
      ])

    #expect(failure == nil)
  }

  private let recent = ModelClient.Setup(
    isDurable: false, policy: .leastRecentlyUsed(thresholdBytes: 0), maximumLimboResolutions: 100)

  @Test("Every query plan finds a cached document that has left its target")
  func leftTheTarget() async throws {
    let failure = try await fails(
      [recent],
      [
        .listen(0, query: 2, metadata), .backendWrite([set("rooms/r3", ["a": .integer(3)])]), .comeToRest,
        .clearBackend, .deliver(0, .watch, count: 50),
      ])

    #expect(failure == nil)
  }

  @Test("Every query plan finds a document that moves up into a limit")
  func movedUpIntoTheLimit() async throws {
    func room(_ name: String, _ x: Int64) -> Mutation { set("rooms/\(name)", ["d": .map(["x": .integer(x)])]) }

    let failure = try await fails(
      [recent],
      [
        .backendWrite([room("r4", 0)]), .listen(0, query: 14, metadata), .comeToRest,
        .backendWrite([room("r5", 1), room("r0", 1)]), .comeToRest, .clearBackend, .backendWrite([room("r0", 2)]),
        .deliver(0, .watch, count: 50),
      ])

    #expect(failure == nil)
  }

  @Test("Every query plan finds a document that a canceled write had hidden")
  func hiddenByCancelledWrite() async throws {
    let room = set("rooms/r5", ["a": .integer(4)])

    let failure = try await fails(
      [recent],
      [
        .listen(0, query: 2, metadata), .comeToRest, .write(0, [room]), .backendWrite([room]),
        .deliver(0, .watch, count: 50), .clearBackend, .deliver(0, .watch, count: 50), .cancelWrite(0, 0),
      ])

    #expect(failure == nil)
  }

  @Test("Every query plan finds the documents of an old bundle")
  func oldBundle() async throws {
    let failure = try await fails(
      [recent],
      [
        .backendWrite([set("rooms/r0", ["a": .integer(2)]), set("rooms/r1", ["a": .integer(3)])]),
        .backendWrite([Mutation(key: key("rooms/r0"), operation: .delete)]),
        .backendWrite([Mutation(key: key("rooms/r1"), operation: .delete)]), .listen(0, query: 2, metadata),
        .comeToRest, .loadBundle(0, BundleChoice(name: 0, query: 2, age: 2, namesMissing: false)),
      ])

    #expect(failure == nil)
  }

  // MARK: Overlays

  @Test("A write with a failed precondition does not show its increments (S9)")
  func incrementWithoutEffect() async throws {
    var increment = Mutation(
      key: key("rooms/r0"), operation: .patch([:], FieldMask([])),
      precondition: .updateTime(SnapshotVersion(microseconds: 1)))
    increment.transforms = [FieldTransform(path: FieldPath("n"), operation: .increment(.integer(1)))]

    let failure = try await fails([eager], [.write(0, [set("rooms/r0", ["a": .integer(1)])]), .write(0, [increment])])

    #expect(failure == nil)
  }

  @Test("A pending server timestamp does not reveal the value of a failed patch (S9)")
  func timestampOverPatchWithoutDocument() async throws {
    var (patch, timestamp) = (set("msgs/m0", [:]), set("msgs/m0", ["a": .integer(3)]))
    patch.operation = .patch(["t": .integer(2)], FieldMask([FieldPath("t")]))
    patch.precondition = .exists(true)
    timestamp.transforms = [FieldTransform(path: FieldPath("t"), operation: .serverTimestamp)]
    let writes: [Operation] = [.write(0, [patch]), .write(0, [timestamp])]

    // The document was a write that is taken back, or is deleted by somebody else.
    let cancelled = try await fails([recent], [.write(0, [set("msgs/m0", [:])])] + writes + [.cancelWrite(0, 0)])
    let deleted = try await fails(
      [recent],
      [.backendWrite([set("msgs/m0", [:])]), .listen(0, query: 19, metadata), .comeToRest, .disableNetwork(0)] + writes
        + [
          .backendWrite([Mutation(key: key("msgs/m0"), operation: .delete)]), .enableNetwork(0), .open(0, .watch),
          .send(0, .watch, count: 4), .deliver(0, .watch, count: 50),
        ])

    #expect(cancelled == nil)
    #expect(deleted == nil)
  }

  // MARK: Views

  @Test("A canceled write on top of an acknowledged one is reverted immediately (S1)")
  func cancelledOverAcknowledged() async throws {
    let failure = try await fails(
      [recent],
      [
        .write(0, [set("msgs/m0", ["a": .integer(0)]), set("rooms/r1/msgs/m0", ["a": .integer(2)])]),
        .write(0, [set("rooms/r2/msgs/m0", ["a": .integer(3)])]), .comeToRest,
        .write(0, [set("rooms/r2/msgs/m0", ["a": .integer(1)])]), .listen(0, query: 20, metadata), .cancelWrite(0, 0),
      ])

    #expect(failure == nil)
  }

  @Test("A document is not pending after a write over an acknowledged write is rejected")
  func rejectedOverAcknowledged() async throws {
    let message = key("rooms/r2/msgs/m1")
    let nothing = Mutation(key: message, operation: .patch([:], FieldMask([])), precondition: .exists(true))

    let failure = try await fails(
      [recent],
      [
        .write(0, [set("rooms/r2/msgs/m1", ["a": .integer(2)])]), .comeToRest, .write(0, [nothing]),
        .listen(0, query: 21, metadata), .clearBackend, .comeToRest,
      ])

    #expect(failure == nil)
  }

  @Test("A document evicted when its write is canceled is no longer shown (S1)")
  func collectedWithItsWrite() async throws {
    var cached = metadata
    cached.source = .cache

    let failure = try await fails(
      [eager],
      [
        .backendWrite([set("rooms/r2/msgs/m0", ["a": .integer(1)])]), .listen(0, query: 20, metadata), .comeToRest,
        .write(0, [Mutation(key: key("rooms/r2/msgs/m0"), operation: .delete)]), .listen(0, query: 17, cached),
        .stopListening(0, 0), .cancelWrite(0, 0),
      ])

    #expect(failure == nil)
  }

  // MARK: Limbo

  @Test("A view with only cache listeners is not current and starts no lookups")
  func unwatchedView() async throws {
    var cached = metadata
    cached.source = .cache

    let failure = try await fails(
      [recent],
      [
        .listen(0, query: 1, metadata), .listen(0, query: 1, cached), .comeToRest, .stopListening(0, 0),
        .listen(0, query: 0, metadata), .backendWrite([set("rooms/r1", ["a": .integer(1)])]), .comeToRest,
      ])

    #expect(failure == nil)
  }

  @Test("A lookup ends with its view even if another view has the same target")
  func mirroredViewInLimbo() async throws {
    let failure = try await fails(
      [recent],
      [
        .backendWrite([set("rooms/r2", ["a": .integer(2)])]), .listen(0, query: 3, metadata), .comeToRest,
        .clearBackend, .deliver(0, .watch, count: 50), .listen(0, query: 4, metadata), .stopListening(0, 0),
        .comeToRest,
      ])

    #expect(failure == nil)
  }

  @Test("While a user change waits for the store, responses do not affect the new queue")
  func answerBehindUserChange() async throws {
    let failure = try await fails(
      [eager],
      [
        .write(0, [set("rooms/r0", ["a": .integer(1)])]), .write(0, [set("rooms/r1", ["a": .integer(1)])]),
        .open(0, .write), .send(0, .write, count: 1), .serve(0), .failStore(0, .acknowledgeBatch),
        .deliver(0, .write, count: 1), .changeUser(0, 1), .healStore(0), .fire(0, .storeRetry),
        .open(0, .write), .send(0, .write, count: 1), .serve(0), .failStore(0, .acknowledgeBatch),
        .deliver(0, .write, count: 1), .healStore(0), .fire(0, .storeRetry), .fire(0, .storeRetry),
        .fire(0, .storeRetry), .comeToRest,
      ])

    #expect(failure == nil)
  }

  @Test(
    "A target that the backend ended while being removed is listened to again", arguments: 0...3
  )
  func endedWhileTakenBack(_ order: Int) async throws {
    let (listen, stop) = (Operation.listen(0, query: 16, metadata), Operation.stopListening(0, 0))
    let (end, say) = (Operation.refuseTarget(0, 0), Operation.send(0, .watch, count: 1))
    let hear = Operation.deliver(0, .watch, count: 50)
    let crossing: [Operation] =
      switch order {
      case 0: [hear, end, stop, hear, listen]
      case 1: [hear, end, stop, listen, hear]
      case 2: [end, stop, say, hear, listen]
      default: [end, stop, say, listen, say, hear]
      }

    // A collected target would get another number.
    let setup = ModelClient.Setup(isDurable: false, policy: .never, maximumLimboResolutions: 100)
    let failure = try await fails([setup], [listen, .open(0, .watch), say] + crossing + [.comeToRest])

    #expect(failure == nil)
  }
}
