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
