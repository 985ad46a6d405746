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

  @Test("S5: A target's messages take effect only after all its requests are confirmed")
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

  @Test("S2: A document is added if it was not in the target's last snapshot")
  mutating func addedOrModified() throws {
    let targets = holding("rooms/a")
    try confirm(targets)

    try aggregator.receive(.document(doc("rooms/a", at: 2), updated: [target], removed: []), targets: targets)
    try aggregator.receive(.document(doc("rooms/b", at: 2), updated: [target], removed: []), targets: targets)
    let change = aggregator.takeEvent(at: at(2), targets: targets).targetChanges[target]

    #expect(change?.modified == [key("rooms/a")])
    #expect(change?.added == [key("rooms/b")])
  }

  @Test("A document added and removed between two snapshots changes no target")
  mutating func cameAndWent() throws {
    let targets = holding()
    try confirm(targets)

    try aggregator.receive(.document(doc("rooms/a", at: 1), updated: [target], removed: []), targets: targets)
    try aggregator.receive(.documentRemoved(key("rooms/a"), removed: [target]), targets: targets)
    let change = aggregator.takeEvent(at: at(1), targets: targets).targetChanges[target]

    #expect(change?.added == [])
    #expect(change?.removed == [])
  }

  @Test("After a reset, documents that are not sent again are removed")
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

  @Test("After a full read, documents that are not sent again are removed")
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

  @Test("After a resume, documents that are not sent again remain")
  mutating func resumed() throws {
    let targets = holding("rooms/a", "rooms/b")
    try confirm(targets)
    try aggregator.receive(.document(doc("rooms/a", at: 2), updated: [target], removed: []), targets: targets)
    try aggregator.receive(.current([target], nil), targets: targets)

    #expect(aggregator.takeEvent(at: at(2), targets: targets).targetChanges[target]?.removed == [])
  }

  @Test("A token without target ids applies to all targets")
  mutating func tokenForAll() throws {
    let targets = holding()
    try confirm(targets)

    try aggregator.receive(.snapshot(at(5), token("five")), targets: targets)

    let event0 = aggregator.takeEvent(at: at(5), targets: targets)
    #expect(event0.targetChanges[target]?.resumeToken == token("five"))
  }

  /// Two queries of which the backend has said that they are complete.
  private mutating func follow(_ targets: WatchChangeAggregator.Targets) throws {
    for id in [target, other] {
      aggregator.requestHandedOut(id)
      try aggregator.receive(.added([id]), targets: targets)
      try aggregator.receive(.current([id], token("own")), targets: targets)
    }
    let event = aggregator.takeEvent(at: at(1), targets: targets)
    #expect(event.position.isFirst && event.targetChanges.keys.sorted() == [target, other])
  }

  private let other = TargetID(4)
  private let both: WatchChangeAggregator.Targets = { id in
    WatchedTarget(target: query(id == TargetID(2) ? "rooms" : "halls").target, purpose: .listen, syncedKeys: [[]])
  }

  @Test("A snapshot names only targets with messages; the others follow its position")
  mutating func followers() throws {
    try follow(both)

    try aggregator.receive(.document(doc("rooms/a", at: 2), updated: [target], removed: []), targets: both)
    try aggregator.receive(.snapshot(at(2), token("two")), targets: both)
    let event = aggregator.takeEvent(at: at(2), targets: both)
    try aggregator.receive(.snapshot(at(3), nil), targets: both)
    let silent = aggregator.takeEvent(at: at(3), targets: both)

    #expect(event.targetChanges.keys.sorted() == [target] && event.position.token == token("two"))
    #expect(event.targetChanges[target]?.resumeToken == token("two"))
    #expect(!event.position.isFirst && event.position.left.isEmpty)
    #expect(silent.targetChanges.isEmpty && silent.position.token == nil)
  }

  @Test("A target has the last token that applied to it, from a message or a snapshot")
  mutating func lastToken() throws {
    try follow(both)
    try aggregator.receive(.snapshot(at(2), token("two")), targets: both)
    _ = aggregator.takeEvent(at: at(2), targets: both)

    try aggregator.receive(.document(doc("rooms/a", at: 3), updated: [target], removed: []), targets: both)
    let known = aggregator.takeEvent(at: at(3), targets: both).targetChanges[target]
    try aggregator.receive(.token([target], token("mine")), targets: both)
    let own = aggregator.takeEvent(at: at(4), targets: both).targetChanges[target]
    try aggregator.receive(.document(doc("rooms/b", at: 5), updated: [target], removed: []), targets: both)
    let later = aggregator.takeEvent(at: at(5), targets: both).targetChanges[target]

    #expect(known?.resumeToken == token("two") && known?.isCurrent == true)
    #expect(own?.resumeToken == token("mine") && later?.resumeToken == token("mine"))
  }

  @Test("A target with a new request does not follow the position until it is confirmed")
  mutating func leaving() throws {
    try follow(both)

    aggregator.requestHandedOut(other)
    try aggregator.receive(.snapshot(at(2), token("two")), targets: both)
    let event = aggregator.takeEvent(at: at(2), targets: both)
    try aggregator.receive(.added([other]), targets: both)
    try aggregator.receive(.snapshot(at(3), token("three")), targets: both)
    let again = aggregator.takeEvent(at: at(3), targets: both)

    #expect(event.position.left == [other] && event.targetChanges.isEmpty)
    #expect(again.position.left.isEmpty && again.targetChanges.keys.sorted() == [other])
    #expect(again.targetChanges[other]?.resumeToken == token("three"))
    #expect(again.targetChanges[other]?.isCurrent == false)
  }

  @Test("The position of a lookup's target is reported with every snapshot")
  mutating func lookups() throws {
    let known = WatchedTarget(
      target: query("rooms/a").target, purpose: .limboResolution, syncedKeys: [[key("rooms/a")]])
    let targets: WatchChangeAggregator.Targets = { _ in known }
    aggregator.requestHandedOut(TargetID(1))
    try aggregator.receive(.added([TargetID(1)]), targets: targets)

    for version in [Int64(1), 2, 3] {
      try aggregator.receive(.snapshot(at(version), token("\(version)")), targets: targets)
      let event = aggregator.takeEvent(at: at(version), targets: targets)
      #expect(event.targetChanges[TargetID(1)]?.resumeToken == token("\(version)"))
    }
  }

  @Test("A missing document is reported once")
  mutating func missingOnce() throws {
    let known = WatchedTarget(target: query("rooms/a").target, purpose: .listen, syncedKeys: [[]])
    let targets: WatchChangeAggregator.Targets = { $0 == TargetID(2) ? known : nil }
    try confirm(targets)
    try aggregator.receive(.current([target], token("one")), targets: targets)

    let first = aggregator.takeEvent(at: at(1), targets: targets)
    try aggregator.receive(.snapshot(at(2), token("two")), targets: targets)
    let second = aggregator.takeEvent(at: at(2), targets: targets)

    #expect(first.documents.keys.sorted() == [key("rooms/a")])
    #expect(second.documents.isEmpty && second.targetChanges.isEmpty)
  }

  @Test("A document that left its target between snapshots is missing at the next one")
  mutating func missingLater() throws {
    let holding = WatchedTarget(target: query("rooms/a").target, purpose: .listen, syncedKeys: [[key("rooms/a")]])
    let empty = WatchedTarget(target: query("rooms/a").target, purpose: .listen, syncedKeys: [[]])
    let before: WatchChangeAggregator.Targets = { $0 == TargetID(2) ? holding : nil }
    let after: WatchChangeAggregator.Targets = { $0 == TargetID(2) ? empty : nil }
    try confirm(before)
    try aggregator.receive(.current([target], token("one")), targets: before)
    try aggregator.receive(.documentRemoved(key("rooms/a"), removed: [target]), targets: before)
    let removal = aggregator.takeEvent(at: at(1), targets: before)

    try aggregator.receive(.snapshot(at(2), token("two")), targets: after)
    let next = aggregator.takeEvent(at: at(2), targets: after)

    #expect(removal.documents.isEmpty && removal.targetChanges[target]?.removed == [key("rooms/a")])
    #expect(next.documents[key("rooms/a")] == doc("rooms/a", at: 2, nil))
  }

  @Test("A matching existence filter changes nothing")
  mutating func fittingFilter() throws {
    let targets = holding("rooms/a")
    try confirm(targets)

    try aggregator.receive(.filter(target, ExistenceFilter(count: 1)), targets: targets)
    let event = aggregator.takeEvent(at: at(1), targets: targets)

    #expect(event.targetMismatches.isEmpty)
    #expect(event.filteredTargets.isEmpty)
  }

  @Test("A mismatched existence filter without names restarts the target")
  mutating func mismatch() throws {
    let targets = holding("rooms/a", "rooms/b")
    try confirm(targets)

    try aggregator.receive(.filter(target, ExistenceFilter(count: 1)), targets: targets)
    let event = aggregator.takeEvent(at: at(1), targets: targets)

    #expect(event.targetMismatches == [target: .existenceFilterMismatch])
    #expect(event.targetChanges[target]?.removed == [key("rooms/a"), key("rooms/b")])
  }

  @Test("If a document target is current without its document, the document is missing")
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

  @Test("A filter that counts two documents for one name is a protocol error")
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
