// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreTesting
import Foundation
import Testing

@testable import Dashboard
@testable import DashboardHost
@testable import DashboardModel

@Suite("Recordings with several clients")
struct ClientSetRecordingTests {
  private let contested = ClientEvent.contested(
    ClientConflict(
      key: key("cities/SF"), other: "bob", batch: BatchID(3), isLater: true,
      outcome: .replaced(
        [WriteConflict.Field(path: FieldPath("mayor"), base: "Ann", mine: "Lee", theirs: "Kim")],
        after: .seconds(2))))
  private let answered = ClientEvent.answered(
    AnsweredWrite(
      batch: BatchID(3), mutations: [Mutation(key: key("cities/SF"), operation: .set(["mayor": "Lee"]))],
      commitTime: nil, refusal: .notFound, existed: [key("cities/SF"): true]))

  private func text(_ event: ClientEvent, hiding names: String? = nil) -> String {
    event.json(JSONContext(redaction: names.map { Redaction($0) })).lineText
  }

  @Test("Redacting a field hides only its values in conflicts and acknowledgements")
  func redacted() {
    for event in [contested, answered] {
      #expect(text(event).contains("Lee"))
      let hidden = text(event, hiding: "mayor")
      for value in ["Ann", "Lee", "Kim"] { #expect(!hidden.contains(value), "\(hidden)") }
      #expect(text(event, hiding: "population") == text(event))
    }
  }

  @Test("Any redaction hides the user in rule decisions")
  func deciding() {
    let decision = RuleDecision(
      number: 1, time: Timestamp(seconds: 1), method: "get", path: ResourcePath("cities/SF"), user: "uid-7",
      isAllowed: true, line: 3)
    let event = ClientEvent.decisions(.success([decision]))
    #expect(text(event).contains("uid-7"))
    #expect(!text(event, hiding: "mayor").contains("uid-7"))
  }

  @Test("The clients' users are hidden only if all values are redacted")
  func users() throws {
    let facts = ClientSetFacts(own: "one", clients: [.init(name: "one"), .init(name: "bob", user: "uid-7", unsent: 2)])
    #expect(try Redaction("*").redacted(facts).clients[1].user?.contains("uid-7") == false)
    #expect(try Redaction("*").redacted(facts).clients[0] == facts.clients[0])
    #expect(try Redaction("mayor").redacted(facts) == facts)
  }

  @Test("A recorded list of clients is read back unchanged, even if there is no list")
  func decoded() throws {
    let facts = ClientSetFacts(own: "bob", clients: [.init(name: "one", isDurable: true), .init(name: "bob")])
    for told in [facts, nil] {
      let data = RecordingLine.data(Action.clientSet(told, at: Timestamp(seconds: 7)))
      guard case .clientSet(let read, let time) = try RecordingLine.value(Action.self, of: data) else {
        Issue.record("another action")
        return
      }
      #expect(read == told && time == Timestamp(seconds: 7))
    }
  }
}
