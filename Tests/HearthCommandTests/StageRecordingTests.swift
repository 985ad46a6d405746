// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import Foundation
import Testing

@testable import Dashboard
@testable import DashboardHost
@testable import DashboardModel

@Suite("Recordings of one of several clients")
struct StageRecordingTests {
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

  private func text(_ event: ClientEvent) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(event), as: UTF8.self)
  }

  @Test("A conflict and an answer keep no value that is to be left out, and all that is not")
  func redacted() throws {
    for event in [contested, answered] {
      #expect(try text(event).contains("Lee"))
      let hidden = try text(Redaction("mayor").event(event))
      for value in ["Ann", "Lee", "Kim"] { #expect(!hidden.contains(value), "\(hidden)") }
      #expect(try text(Redaction("population").event(event)) == text(event))
    }
  }

  @Test("The users of all clients are left out with all values, and only then")
  func users() {
    let facts = StageFacts(own: "one", clients: [.init(name: "one"), .init(name: "bob", user: "uid-7", unsent: 2)])
    #expect(Redaction("*").facts(facts).clients[1].user?.contains("uid-7") == false)
    #expect(Redaction("*").facts(facts).clients[0] == facts.clients[0])
    #expect(Redaction("mayor").facts(facts) == facts)
  }

  @Test("What is known of the others comes back from a file, also that there is none")
  func decoded() throws {
    let facts = StageFacts(own: "bob", clients: [.init(name: "one", isDurable: true), .init(name: "bob")])
    for told in [facts, nil] {
      let data = try JSONEncoder().encode(Action.staged(told, at: Timestamp(seconds: 7)))
      guard case .staged(let read, let time) = try JSONDecoder().decode(Action.self, from: data) else {
        Issue.record("another action")
        return
      }
      #expect(read == told && time == Timestamp(seconds: 7))
    }
  }
}
