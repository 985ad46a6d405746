// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync
import Testing

@testable import Hearth

@Suite("Outage warnings") struct OutageTests {
  private let refused = ConnectionReason.failed(RPCStatus(.unavailable, "connection refused"))
  private let idle = ClientStatus(since: FirestoreModel.Timestamp(seconds: 0))
  private let unknown = ConnectionReason.failed(RPCStatus(.unavailable, "no such host"))

  @Test("An outage is logged with its reason after ten seconds, on changes and at its end")
  func lines() {
    var warning = OutageWarning()
    #expect(warning.note(nil) == nil)
    #expect(warning.note(.connecting) == .wait(1))
    #expect(warning.note(refused) == nil)
    let first = warning.timeIsUp(1) ?? ""
    #expect(first.contains("has not answered for 10 seconds") && first.contains("connection refused"))
    #expect(warning.timeIsUp(1) == nil)
    #expect(warning.note(refused) == nil && warning.note(.connecting) == nil)
    #expect(warning.note(unknown) == .say("the backend still does not answer: \(unknown)"))
    #expect(warning.note(unknown) == nil)
    #expect(warning.note(nil) == .say("the backend answers again, or the client no longer needs it"))
    #expect(warning.note(nil) == nil)
  }

  @Test("A short outage is not logged, and its time does not count toward the next one")
  func short() {
    var warning = OutageWarning()
    #expect(warning.note(refused) == .wait(1))
    #expect(warning.note(nil) == nil)
    #expect(warning.note(refused) == .wait(2))
    #expect(warning.timeIsUp(1) == nil)
    #expect(warning.timeIsUp(2)?.contains("connection refused. Reads use the cache") == true)
    #expect(warning.note(nil) != nil && warning.note(.failed(RPCStatus(.unavailable, "refused."))) == .wait(3))
    let sentence = warning.timeIsUp(3) ?? ""
    #expect(sentence.contains("refused. Reads use the cache") && !sentence.contains(".."), "\(sentence)")
  }

  @Test("The log shows each stream attempt and the next retry time")
  func attempts() {
    func status(_ watch: StreamStatus.State, _ error: RPCStatus? = nil) -> ClientStatus {
      var status = idle
      status.watch = StreamStatus(watch, lastError: error)
      return status
    }
    let gone = RPCStatus(.unavailable, "gone")
    let steps: [ClientStatus] = [
      status(.opening), status(.opening, gone), status(.backoff(until: FirestoreModel.Timestamp(seconds: 60)), gone),
      status(.opening, gone), status(.backoff(until: FirestoreModel.Timestamp(seconds: 90)), gone), status(.open),
    ]
    let lines = zip([idle] + steps, steps).flatMap { ClientLog.events(from: $0, to: $1) }
    #expect(
      lines == [
        "watch stream opens",
        "watch stream failed, \(gone)", "watch stream opens",
        "watch stream failed, \(gone); next attempt at 1970-01-01T00:01:00Z",
        "watch stream opens",
        "watch stream failed, \(gone); next attempt at 1970-01-01T00:01:30Z",
      ])
  }
}
