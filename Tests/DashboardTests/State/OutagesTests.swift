// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Outage state")
struct OutagesTests {
  private static let online = ClientStatus(onlineState: .online, since: at(0))
  private static let offline = ClientStatus(onlineState: .offline, isNetworkEnabled: false, since: at(0))

  @Test("An ended outage is reported once with its start")
  func end() {
    var outages = Outages()
    let before = [
      outages.note(Self.online, after: Self.online, at: at(0)),
      outages.note(Self.offline, after: Self.online, at: at(2)),
      outages.note(Self.offline, after: Self.offline, at: at(3)),
    ]
    #expect(before == [nil, nil, nil])
    #expect(outages.start == at(2))
    let ended = [
      outages.note(Self.online, after: Self.offline, at: at(5)),
      outages.note(Self.online, after: Self.online, at: at(6)),
    ]
    #expect(ended == [OnlineHistory.Outage(start: at(2), end: at(5)), nil])
    #expect(outages.start == nil)
    #expect(outages.recentCount(at: at(6)) == 1)
  }

  @Test("A scheduled reconnect runs once, but not if you went online earlier")
  func networkReturn() {
    var outages = Outages()
    outages.scheduleReturn(at: at(30))
    // The client says that it is online before it hears that it is to be offline.
    _ = outages.note(Self.online, after: Self.online, at: at(0))
    let due = [outages.takeReturn(at: at(29)), outages.takeReturn(at: at(30)), outages.takeReturn(at: at(31))]
    #expect(due == [false, true, false])

    outages.scheduleReturn(at: at(60))
    _ = outages.note(Self.offline, after: Self.online, at: at(40))
    _ = outages.note(Self.online, after: Self.offline, at: at(50))
    #expect(outages.networkReturn == nil)
    let isDue = outages.takeReturn(at: at(60))
    #expect(!isDue)
  }

  @Test("Write responses are found by batch; all are dropped if their number is too large")
  func answers() {
    var outages = Outages()
    for batch in 0...256 { outages.noteAnswer(to: BatchID(Int64(batch)), after: .milliseconds(9), at: at(1)) }
    #expect(outages.answer(to: BatchID(0))?.after == .milliseconds(9))
    outages.noteAnswer(to: BatchID(500), after: .milliseconds(5), at: at(2))
    #expect(outages.answer(to: BatchID(0)) == nil)
    #expect(outages.answer(to: BatchID(500))?.at == at(2))
    outages.noteAnswer(to: BatchID(501), after: nil, at: at(2))
    #expect(outages.answer(to: BatchID(501)) == nil)
  }

  @Test("Events shortly before the reconnect are part of its summary")
  func early() {
    var reconnection = Reconnection(from: at(0))
    reconnection.noteAcknowledged(BatchID(1), at: at(75), after: .seconds(80))
    reconnection.noteSnapshot(of: ListenerTag(1), [(key("cities/SF"), .modified)], isFromCache: false)
    reconnection.cameBack(at: at(75.1), waiting: 0, newest: nil, behind: [], listeners: 1)
    #expect(
      reconnection.text(clock: "12:05:15", bullet: ".")
        == "online 12:05:15 after 1:15 . 1 write answered, made up to 80 s before . 1 document changed by others")
    #expect(reconnection.isSettled && reconnection.isWorthACard)
  }

  @Test("The outage card closes on time, and its feed row waits for the write responses")
  func card() {
    var outages = Outages()
    outages.begin(Reconnection(from: at(0)))
    #expect(outages.card?.start == nil && outages.nextChange == nil)
    outages.end(OnlineHistory.Outage(start: at(0), end: at(5))) {
      $0.cameBack(at: at(5), waiting: 1, newest: BatchID(3), behind: [], listeners: 0)
    }
    #expect(outages.card?.start == at(0) && outages.nextChange == at(15))
    #expect(outages.untold(at: at(6))?.start == nil)
    _ = outages.changeLast { $0.noteAcknowledged(BatchID(3), at: at(7)) }
    #expect(outages.untold(at: at(7))?.acknowledged == 1)
    _ = outages.changeLast { $0.tell(in: 9) }
    outages.age(to: at(14.9))
    #expect(outages.card?.start == at(0))
    outages.age(to: at(15))
    #expect(outages.card?.start == nil && outages.nextChange == nil && outages.untold(at: at(15))?.row == nil)
  }

  @Test("Only the newest outage summary changes, and each summary is found by its row")
  func accounts() {
    var outages = Outages()
    let none = outages.changeLast { $0.noteCancelled(BatchID(1)) }
    #expect(none?.row == nil)
    for row in 1...33 {
      outages.begin(
        Reconnection(row: row, from: at(0), to: at(1), waited: row, newest: BatchID(100), listeners: []))
    }
    let changed = outages.changeLast { $0.noteCancelled(BatchID(100)) }
    #expect(changed?.waited == 32)
    func waited(in row: Int) -> Int? {
      var told = FeedRow(time: at(1), kind: .divider, summary: "")
      told.id = row
      return outages.reconnection(of: told)?.waited
    }
    #expect(waited(in: 33) == 32)
    #expect(waited(in: 32) == 32)
    #expect(waited(in: 1) == nil, "so many are kept")
  }
}
