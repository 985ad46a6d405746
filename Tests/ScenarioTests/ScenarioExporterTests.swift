// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import CommandOutput
@testable import Scenarios

/// Scenarios that are made of records.
@Suite("Generated scenarios")
struct ScenarioExporterTests {
  /// A draft with a moment each second.
  private func draft(_ events: ScenarioDraft.Event...) -> ScenarioDraft {
    var draft = ScenarioDraft("A test.", in: database)
    for (second, event) in events.enumerated() { draft.add(event, at: Timestamp(seconds: Int64(1_000 + second))) }
    return draft
  }

  private func lines(_ events: ScenarioDraft.Event...) -> [String] {
    var draft = ScenarioDraft("A test.", in: database)
    for event in events { draft.add(event, at: Timestamp(seconds: 1_000)) }
    return ScenarioExporter.write(draft).text.split(separator: "\n").dropFirst().map(String.init)
  }

  private let cities = FirestoreQuery.Query(path: ResourcePath("cities"))

  private func change(
    _ kind: FirestoreQuery.DocumentChange.Kind, _ path: String, _ fields: Fields?, isDeleted: Bool? = nil,
    hasOwnWrite: Bool = false
  ) -> ListenerSnapshot.Change {
    var document = doc(path, at: 1, fields ?? [:])
    if hasOwnWrite { document.pending = .local }
    if kind != .removed { return ListenerSnapshot.Change(kind, document) }
    let now = isDeleted.map { $0 ? Document(key: key(path), version: nil, state: .missing) : document }
    return ListenerSnapshot.Change(kind, document, previous: document, now: now)
  }

  private func snapshot(
    _ changes: [ListenerSnapshot.Change], isFromCache: Bool, isOfServer: Bool
  ) -> ScenarioDraft.Event {
    .snapshot(
      ListenerSnapshot(
        listener: ListenerTag(1), changes: changes, isFromCache: isFromCache, syncStateChanged: false,
        hasPendingWrites: false, count: 1,
        causes: [isOfServer ? .server(SnapshotVersion(Timestamp(seconds: 1))) : .listenerAdded]))
  }

  @Test("In a generated scenario, simultaneous events are expected in order of arrival")
  func orders() async throws {
    let expectations = [
      "expect synced on cities", "expect acknowledged cities/SF", "expect metadata cities/SF on cities",
    ]
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let begin = [
        "listen cities as cities with metadata", "expect synced on cities", "offline", #"set cities/SF {"n": 1}"#,
        "expect added cities/SF on cities", "online",
      ]
      let text = (begin + order.map { expectations[$0] }).joined(separator: "\n")
      let checked = try await ScenarioDraftCheck.check(text, in: database)
      #expect(checked.unmet.isEmpty && checked.failure == nil, "\(order): \(checked)")
      #expect(checked.text.split(separator: "\n").sorted() == text.split(separator: "\n").sorted())
    }
  }

  @Test("A recorded session becomes steps and met expectations, with the times between")
  func whole() async throws {
    let set = Mutation(key: key("cities/SF"), operation: .set(["n": .integer(1)]))
    let draft = draft(
      .listen(tag: 1, name: "all cities", cities, ListenerOptions(includeMetadataChanges: true)),
      snapshot(
        [change(.added, "cities/LA", ["n": .integer(7)])], isFromCache: false, isOfServer: true),
      .network(isOn: false), .write(1, [set]),
      snapshot(
        [change(.added, "cities/SF", ["n": .integer(1)], hasOwnWrite: true)], isFromCache: true,
        isOfServer: false),
      .fault(.event(.write(.dropAcknowledgement))), .network(isOn: true), .answer(1, nil),
      snapshot(
        [change(.metadata, "cities/SF", ["n": .integer(1)])], isFromCache: false, isOfServer: true),
      snapshot(
        [change(.modified, "cities/LA", ["n": .integer(8)])], isFromCache: false, isOfServer: true),
      snapshot(
        [change(.removed, "cities/LA", nil, isDeleted: true)], isFromCache: false, isOfServer: true),
      .stop(tag: 1))
    let written = ScenarioExporter.write(draft)
    #expect(written.gaps.isEmpty)
    #expect(
      written.text == """
        # A test.
        server: set cities/LA {"n": 7}
        listen cities as all-cities with metadata
        expect added cities/LA on all-cities
        expect synced on all-cities
        wait 2s
        offline
        wait 1s
        set cities/SF {"n": 1}
        expect added cities/SF on all-cities
        expect cached on all-cities
        wait 2s
        fault next write drop-ack
        wait 1s
        online
        expect acknowledged cities/SF
        expect metadata cities/SF on all-cities
        expect synced on all-cities
        wait 3s
        server: set cities/LA {"n": 8}
        expect modified cities/LA on all-cities
        wait 1s
        server: delete cities/LA
        expect removed cities/LA on all-cities
        wait 1s
        stop all-cities

        """)
    let checked = try await ScenarioDraftCheck.check(written.text, in: database)
    #expect(checked.unmet.isEmpty && checked.failure == nil && checked.text == written.text, "\(checked)")
  }

  @Test(
    "Each type of write becomes the equivalent step",
    arguments: [
      (.init(key: key("a/b"), operation: .set(["n": .integer(1)])), #"set a/b {"n": 1}"#),
      (.init(key: key("a/b"), operation: .set([:]), precondition: .exists(false)), "create a/b {}"),
      (.init(key: key("a/b"), operation: .delete), "delete a/b"),
      (
        .init(key: key("a/b"), operation: .patch(["n": .integer(1)], FieldMask([FieldPath("n")]))),
        #"merge a/b {"n": 1}"#
      ),
      (
        .init(
          key: key("a/b"), operation: .patch(["n": .string("x y")], FieldMask([FieldPath("n")])),
          precondition: .exists(true), transforms: [FieldTransform(path: FieldPath("t"), operation: .serverTimestamp)]),
        #"update a/b n="x y" t={"$serverTimestamp": true}"#
      ),
      (
        .init(
          key: key("a/b"), operation: .set(["n": .integer(1)]),
          transforms: [FieldTransform(path: FieldPath("m"), operation: .increment(.integer(2)))]),
        #"set a/b {"n": 1, "m": {"$increment": 2}}"#
      ),
      (.init(key: key("a/b"), operation: .set([:]), precondition: .exists(true)), nil),
      (.init(key: key("a/b"), operation: .patch([:], FieldMask([FieldPath("n")])), precondition: .exists(true)), nil),
    ] as [(Mutation, String?)])
  func writes(_ mutation: Mutation, _ step: String?) {
    #expect(StepText(database: database).step(mutation) == step)
  }

  @Test("An event without a step becomes a comment and is listed as omitted")
  func gaps() {
    var bounded = cities
    bounded.start = Bound(values: [.integer(1)], isInclusive: true)
    bounded.explicitOrderBy = [OrderBy(FieldPath("n"), .ascending)]
    let removal = Mutation(key: key("a/b"), operation: .patch([:], FieldMask([FieldPath("n")])))
    let lines = lines(
      .listen(tag: 1, name: "x", bounded, ListenerOptions()), .write(1, [removal]), .answer(1, nil),
      .gap("a\nline"))
    #expect(
      lines == [
        "# not recorded: a listener of cities with a query that no step can express; its events are left out",
        "# not recorded: a write of a/b that no step can express: it removes fields, or has a condition",
        "# not recorded: a line",
      ])
  }

  @Test("A rejection becomes a fault in the scenario, unless the server's data causes it")
  func refusals() {
    let set = Mutation(key: key("a/b"), operation: .set([:]))
    #expect(
      lines(.write(1, [set]), .answer(1, .permissionDenied)) == [
        "fault next write permission-denied", "set a/b {}", "expect rejected a/b with permission-denied",
      ])
    let update = Mutation(
      key: key("a/b"), operation: .patch(["n": .integer(1)], FieldMask([FieldPath("n")])), precondition: .exists(true))
    #expect(
      lines(.write(1, [update]), .answer(1, .notFound)) == ["update a/b n=1", "expect rejected a/b with not-found"])
    #expect(
      lines(.seen(key("a/b"), ["m": .integer(2)]), .write(1, [update]), .answer(1, nil)) == [
        #"server: set a/b {"m": 2}"#, "update a/b n=1", "expect acknowledged a/b",
      ])
    #expect(
      lines(.listen(tag: 1, name: "", cities, ListenerOptions()), .listenerFailed(tag: 1, .permissionDenied)) == [
        "fault next listen permission-denied", "listen cities as listener",
        "expect failed on listener with permission-denied",
      ])
  }

  @Test("An exported scenario reports writes pending at its end and sends them")
  func ends() async throws {
    let set = Mutation(key: key("a/b"), operation: .set([:]))
    let lines = lines(.network(isOn: false), .write(1, [set]))
    #expect(
      lines == [
        "offline", "set a/b {}", "# The record ends here, with 1 pending write.", "expect pending 1", "online",
        "calm",
      ])
    let checked = try await ScenarioDraftCheck.check(lines.joined(separator: "\n"), in: database)
    #expect(checked.failure == nil && checked.unmet.isEmpty)
  }

  @Test("An expectation that is not met becomes a comment, or moves to where it is met")
  func check() async throws {
    let text = """
      listen a
      expect synced
      set a/b {}
      expect acknowledged a/b
      expect added a/b
      expect added a/c within 1s
      """
    let checked = try await ScenarioDraftCheck.check(text, in: database)
    #expect(checked.unmet == ["expect added a/c within 1s"] && checked.failure == nil)
    #expect(
      checked.text.split(separator: "\n").map(String.init) == [
        "listen a", "expect synced", "set a/b {}", "# not met when played: expect added a/c within 1s",
        "expect added a/b", "expect acknowledged a/b",
      ])
  }
}
