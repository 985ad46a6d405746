// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreRemote
import FirestoreSync
import Testing

/// What random runs found, as short as it got.
@Suite struct FoundBugTests {
  private let eager = ModelClient.Setup(isDurable: false, policy: .eager, maximumLimboLookups: 100)

  private func set(_ path: String, _ fields: Fields) -> Mutation {
    Mutation(key: DocumentKey(unchecked: ResourcePath(path)), operation: .set(fields))
  }

  private func fails(_ setups: [ModelClient.Setup], _ trace: [Operation]) async throws -> String? {
    try await ModelRun(setups, trace).failure().map { "step \($0.step): \($0.violation)" }
  }

  private let metadata: ListenerOptions = {
    var options = ListenerOptions()
    options.includeMetadataChanges = true
    return options
  }()

  @Test("What a view shows from the start is not collected under it (S1)")
  func initialDocumentsArePinned() async throws {
    var cached = metadata
    cached.source = .cache

    let failure = try await fails(
      [eager], [.write(0, [set("msgs/m0", [:])]), .listen(0, query: 19, cached), .comeToRest])

    #expect(failure == nil)
  }

  @Test("A document whose write was acknowledged, but which no target lists, is looked up")
  func acknowledgedButNotListed() async throws {
    let room = DocumentKey(unchecked: ResourcePath("rooms/r4"))
    let merge = Mutation(
      key: room, operation: .patch(["b": .string("é")], FieldMask([FieldPath("b")])), precondition: .none)

    let failure = try await fails(
      [ModelClient.Setup(isDurable: false, policy: .never, maximumLimboLookups: 1)],
      [
        .backendWrite([set("rooms/r4", ["b": .string(""), "n": .integer(5)])]),
        .listen(0, query: 0, metadata), .open(0, .watch), .send(0, .watch, count: 1), .deliver(0, .watch, count: 50),
        .listen(0, query: 12, metadata), .write(0, [merge]),
        .backendWrite([Mutation(key: room, operation: .delete)]), .open(0, .write), .send(0, .write, count: 1),
        .serve(0), .deliver(0, .write, count: 1), .stopListening(0, 0), .comeToRest,
      ])

    #expect(failure == nil)
  }

  @Test("An acknowledged document is not pending for a later write that does nothing (S9)")
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
}
