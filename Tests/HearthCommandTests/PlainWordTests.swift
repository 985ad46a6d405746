// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import CommandOutput
@testable import DashboardHost
@testable import HearthCommand

@Suite("Commands to a dashboard without a screen")
struct PlainWordTests {
  private let parser = PlainWordParser(database: database)

  @Test("Scenario steps and session commands are accepted, and blank lines ignored")
  func words() throws {
    guard case .request(.request(.setNetwork(enabled: false)))? = try parser.word("offline") else {
      Issue.record("offline")
      return
    }
    guard case .request(.request(.write(let mutations)))? = try parser.word("update cities/SF population=3"),
      let mutation = mutations.first
    else {
      Issue.record("update")
      return
    }
    #expect(mutation.key == key("cities/SF") && mutation.precondition == .exists(true))
    guard case .request(.drop(BatchID(3)))? = try parser.word("drop #3"),
      case .stop("my list")? = try parser.word("stop my list")
    else {
      Issue.record("drop, stop")
      return
    }
    guard case .expect(let pattern, .seconds(2))? = try parser.word("expect added cities/SF within 2s") else {
      Issue.record("expect")
      return
    }
    #expect(pattern == EventPattern(.added, path: ResourcePath("cities/SF")))
    #expect(try parser.word("  ") == nil && parser.word("# no word") == nil)
  }

  @Test("Each part of the dashboard can be printed by a command, optionally as JSON")
  func parts() throws {
    for subject in PlainSubject.allCases {
      for (line, wantsJSON) in [(subject.rawValue, false), ("\(subject.rawValue)  --json", true)] {
        guard case .tell(subject, wantsJSON)? = try parser.word(line) else {
          Issue.record("\(line)")
          continue
        }
      }
    }
    guard case .followRequests(asJSON: true)? = try parser.word("follow requests --json"),
      case .followRequests(asJSON: false)? = try parser.word("follow requests")
    else {
      Issue.record("follow requests")
      return
    }
    for wrong in ["queue --yaml", "follow queue", "follow requests --yaml"] {
      #expect(throws: CommandFailure.self) { _ = try parser.word(wrong) }
    }
    for (line, path, wantsJSON) in [
      ("document cities/SF", "cities/SF", false), ("document cities/SF  --json", "cities/SF", true),
      ("document cities/San Jose --json", "cities/San Jose", true),
    ] {
      guard case .document(key(path), wantsJSON)? = try parser.word(line) else {
        Issue.record("\(line)")
        continue
      }
    }
    guard case .request(.request(.setWriteAside(BatchID(3))))? = try parser.word("aside 3"),
      case .request(.request(.resend(BatchID(3), as: nil)))? = try parser.word("again #3")
    else {
      Issue.record("aside, again")
      return
    }
  }

  @Test(
    "An invalid command gets a one-sentence error that refers to the help",
    arguments: [
      ("dance", "help"), ("drop x", "queue"), ("set cities {}", "cities"), ("expect rain", "rain"),
      ("document", "needs a path"), ("document --json", "needs a path"), ("document cities", "cities"),
    ])
  func wrong(_ line: String, _ named: String) {
    let failure = #expect(throws: CommandFailure.self) { _ = try parser.word(line) }
    #expect(failure?.message.contains(named) == true, "\(failure?.message ?? "")")
    #expect(failure?.message.contains("words, line") == false, "\(failure?.message ?? "")")
  }

  @Test("Writing commands are marked so that a read-only session rejects them")
  func writing() throws {
    for line in ["set a/b {}", "delete a/b", "undo", "redo", "drop 1", "aside 1", "again 1"] {
      #expect(try parser.word(line)?.writes == true, "\(line)")
    }
    for line in ["offline", "queue", "document a/b", "listen a", "expect nothing", "retry", "quit"] {
      #expect(try parser.word(line)?.writes == false, "\(line)")
    }
  }

  private func snapshot(_ changes: [ListenerSnapshot.Change], syncs: Bool = false) -> ClientEvent {
    .snapshot(
      ListenerSnapshot(
        listener: ListenerTag(1), changes: changes, isFromCache: !syncs, syncStateChanged: syncs,
        hasPendingWrites: false, count: changes.count, causes: []))
  }

  private func note(_ event: ClientEvent, of documents: [DocumentKey]? = nil, in events: inout PlainEvents) {
    events.note(event.observed({ _ in "rows" }) { _ in documents })
  }

  private func takes(_ events: inout PlainEvents, _ pattern: EventPattern) -> Bool {
    events.take(pattern)
  }

  private func takesSurprise(_ events: inout PlainEvents) -> ObservedEvent? { events.takeSurprise() }

  @Test("An expectation consumes events up to its first match; no event is used twice")
  func expectations() {
    var events = PlainEvents()
    let (a, b) = (doc("c/a", at: 1), doc("c/b", at: 1))
    note(snapshot([.init(.added, a), .init(.modified, b)], syncs: true), in: &events)
    note(.writeAcknowledged(BatchID(1), after: nil), of: [a.key, b.key], in: &events)
    #expect(!takes(&events, EventPattern(.rejected)))
    #expect(takes(&events, EventPattern(.modified, path: b.key.path)))
    #expect(!takes(&events, EventPattern(.added)), "What came before is passed over")
    #expect(takes(&events, EventPattern(.synced)))
    #expect(takes(&events, EventPattern(.acknowledged, path: b.key.path)))
    #expect(events.unread.isEmpty)
  }

  @Test("'expect nothing' fails for a change, but not for a listener that becomes synced")
  func surprises() {
    var events = PlainEvents()
    note(snapshot([], syncs: true), in: &events)
    #expect(takesSurprise(&events) == nil && events.unread.isEmpty)
    note(snapshot([.init(.removed, doc("c/a", at: 1))]), in: &events)
    #expect(takesSurprise(&events)?.description == "removed c/a on rows")
  }

  @Test("If many events are unread, only the newest are kept for expectations")
  func bound() {
    var events = PlainEvents()
    for number in 0..<PlainEvents.limit + 5 {
      note(snapshot([.init(.added, doc("c/d\(number)", at: 1))]), in: &events)
    }
    #expect(events.unread.count == PlainEvents.limit)
    #expect(!takes(&events, EventPattern(.added, path: ResourcePath("c/d4"))))
  }
}
