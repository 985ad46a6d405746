// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Testing

@Suite struct WatchChangeAggregatorTests {
  private let target = TargetID(2)
  private var aggregator = WatchChangeAggregator(database: database)

  /// Target 2 watches `rooms` and holds these documents.
  private func holding(_ paths: String...) -> WatchChangeAggregator.Targets {
    let known = WatchedTarget(target: query("rooms").target, purpose: .listen, syncedKeys: [Set(paths.map { key($0) })])
    return { $0 == TargetID(2) ? known : nil }
  }

  private mutating func confirm(_ targets: WatchChangeAggregator.Targets) throws {
    aggregator.requestHandedOut(target)
    try aggregator.receive(.added([target]), targets: targets)
  }

  @Test("S5: Until every confirmation has come, nothing about a target counts")
  mutating func owedResponses() throws {
    let targets = holding()
    aggregator.requestHandedOut(target)
    aggregator.requestHandedOut(target)
    aggregator.requestHandedOut(target)

    try aggregator.receive(.added([target]), targets: targets)
    try aggregator.receive(.document(doc("rooms/a", at: 1), updated: [target], removed: []), targets: targets)
    try aggregator.receive(.removed([target], cause: nil), targets: targets)
    let event0 = aggregator.takeEvent(at: at(1), targets: targets)
    #expect(event0.documents.isEmpty)

    try aggregator.receive(.added([target]), targets: targets)
    try aggregator.receive(.document(doc("rooms/a", at: 1), updated: [target], removed: []), targets: targets)
    let event = aggregator.takeEvent(at: at(2), targets: targets)
    #expect(event.targetChanges[target]?.added == [key("rooms/a")])
  }

  @Test("S2: Whether a document is new to a target follows from the keys of the last snapshot")
  mutating func addedOrModified() throws {
    let targets = holding("rooms/a")
    try confirm(targets)

    try aggregator.receive(.document(doc("rooms/a", at: 2), updated: [target], removed: []), targets: targets)
    try aggregator.receive(.document(doc("rooms/b", at: 2), updated: [target], removed: []), targets: targets)
    let change = aggregator.takeEvent(at: at(2), targets: targets).targetChanges[target]

    #expect(change?.modified == [key("rooms/a")])
    #expect(change?.added == [key("rooms/b")])
  }

  @Test("A document that comes and goes between two snapshots changes no target")
  mutating func cameAndWent() throws {
    let targets = holding()
    try confirm(targets)

    try aggregator.receive(.document(doc("rooms/a", at: 1), updated: [target], removed: []), targets: targets)
    try aggregator.receive(.documentRemoved(key("rooms/a"), removed: [target]), targets: targets)
    let change = aggregator.takeEvent(at: at(1), targets: targets).targetChanges[target]

    #expect(change?.added == [])
    #expect(change?.removed == [])
  }

  @Test("A reset removes what is not sent again")
  mutating func reset() throws {
    let targets = holding("rooms/a", "rooms/b")
    try confirm(targets)

    try aggregator.receive(.reset([target], nil), targets: targets)
    try aggregator.receive(.document(doc("rooms/a", at: 2), updated: [target], removed: []), targets: targets)
    let change = aggregator.takeEvent(at: at(2), targets: targets).targetChanges[target]

    #expect(change?.removed == [key("rooms/b")])
    #expect(change?.modified == [key("rooms/a")])
    #expect(change?.isCurrent == false)
  }

  @Test("Of a query that was asked for as a whole, what is not sent again is no longer part")
  mutating func wholeAgain() throws {
    let targets = holding("rooms/a", "rooms/b")
    aggregator.requestHandedOut(target)
    aggregator.requestHandedOut(target, isWhole: true)
    try aggregator.receive(.removed([target], cause: nil), targets: targets)
    try aggregator.receive(.added([target]), targets: targets)
    try aggregator.receive(.document(doc("rooms/a", at: 2), updated: [target], removed: []), targets: targets)
    try aggregator.receive(.current([target], nil), targets: targets)
    let change = aggregator.takeEvent(at: at(2), targets: targets).targetChanges[target]

    #expect(change?.modified == [key("rooms/a")])
    #expect(change?.removed == [key("rooms/b")])
  }

  @Test("A query that goes on where it was keeps what is not sent again")
  mutating func resumed() throws {
    let targets = holding("rooms/a", "rooms/b")
    try confirm(targets)
    try aggregator.receive(.document(doc("rooms/a", at: 2), updated: [target], removed: []), targets: targets)
    try aggregator.receive(.current([target], nil), targets: targets)

    #expect(aggregator.takeEvent(at: at(2), targets: targets).targetChanges[target]?.removed == [])
  }

  @Test("A token for no target in particular is for all of them")
  mutating func tokenForAll() throws {
    let targets = holding()
    try confirm(targets)

    try aggregator.receive(.snapshot(at(5), token("five")), targets: targets)

    let event0 = aggregator.takeEvent(at: at(5), targets: targets)
    #expect(event0.targetChanges[target]?.resumeToken == token("five"))
  }

  @Test("An existence filter that fits changes nothing")
  mutating func fittingFilter() throws {
    let targets = holding("rooms/a")
    try confirm(targets)

    try aggregator.receive(.filter(target, ExistenceFilter(count: 1)), targets: targets)
    let event = aggregator.takeEvent(at: at(1), targets: targets)

    #expect(event.targetMismatches.isEmpty)
    #expect(event.filteredTargets.isEmpty)
  }

  @Test("An existence filter that does not fit and explains nothing starts the target over")
  mutating func mismatch() throws {
    let targets = holding("rooms/a", "rooms/b")
    try confirm(targets)

    try aggregator.receive(.filter(target, ExistenceFilter(count: 1)), targets: targets)
    let event = aggregator.takeEvent(at: at(1), targets: targets)

    #expect(event.targetMismatches == [target: .existenceFilterMismatch])
    #expect(event.targetChanges[target]?.removed == [key("rooms/a"), key("rooms/b")])
  }

  @Test("A document target that is current without its document says that there is none")
  mutating func missingDocument() throws {
    let known = WatchedTarget(target: query("rooms/a").target, purpose: .limboResolution, syncedKeys: [[]])
    let targets: WatchChangeAggregator.Targets = { $0 == TargetID(1) ? known : nil }
    aggregator.requestHandedOut(TargetID(1))
    try aggregator.receive(.added([TargetID(1)]), targets: targets)

    try aggregator.receive(.current([TargetID(1)], nil), targets: targets)
    let event = aggregator.takeEvent(at: at(7), targets: targets)

    #expect(event.documents[key("rooms/a")] == doc("rooms/a", at: 7, nil))
    #expect(event.resolvedLimboDocuments == [key("rooms/a")])
  }

  @Test("A filter that counts two documents for one name breaks the protocol")
  mutating func impossibleCount() throws {
    let known = WatchedTarget(target: query("rooms/a").target, purpose: .listen, syncedKeys: [[]])
    let targets: WatchChangeAggregator.Targets = { $0 == TargetID(2) ? known : nil }
    try confirm(targets)

    var code: StatusCode?
    do throws(RPCStatus) {
      try aggregator.receive(.filter(target, ExistenceFilter(count: 2)), targets: targets)
    } catch {
      code = error.code
    }

    #expect(code == .internal)
  }
}
