// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

/// The way of a write as lanes: what is told, and where on the axis.
@Suite("Write timeline lanes")
struct WriteLanesTests {
  private func row(_ state: PendingWrite.State, tries: Int = 0, error: RPCStatus? = nil) -> QueueRow {
    QueueRow(pendingWrite(1, .update, "orders/o1", at: at(0), state, tries: tries, error: error))
  }

  private func lanes(
    _ journey: WriteJourney, outages: [OnlineHistory.Outage] = [], results: [WriteLanes.Sight] = [], now: Double = 100
  ) -> WriteLanes {
    WriteLanes(
      journey, echoes: [.init("orders", at: at(0.003))], outages: outages, results: results, now: at(now))
  }

  @Test("A write's timeline shows when it was created, sent, acknowledged and received")
  func direct() {
    var journey = WriteJourney(row(.queued))
    journey.note(row(.inFlight, tries: 1), at: at(0.004))
    journey.acknowledge(at: at(0.031), after: .milliseconds(25))
    let lanes = lanes(journey, results: [.init("orders", at: at(0.034))])
    #expect(
      lanes.list == [
        "0 made", "+3 ms echo: +3 ms orders", "+6 ms try 1: answered in 25 ms", "+31 ms acknowledged: 31 ms after made",
        "+34 ms result: +3 ms orders",
      ])
    // To scale: 34 ms are 34 columns.
    #expect(lanes.scale.breaks(width: 35).isEmpty)
    #expect([0, 0.003, 0.006, 0.031, 0.034].map { lanes.scale.column(of: at($0), width: 35) } == [0, 3, 6, 31, 34])
    #expect(lanes.scale.column(width: 35) == .milliseconds(1))
  }

  @Test("A write made offline shows the outage in a lane, with its wait shortened")
  func offline() {
    var journey = WriteJourney(row(.held))
    journey.note(row(.held), at: at(1))
    journey.note(row(.inFlight, tries: 1), at: at(40.01))
    journey.acknowledge(at: at(40.04), after: .milliseconds(30))
    let lanes = lanes(journey, outages: [.init(start: at(-5), end: at(40)), .init(start: at(50), end: nil)])
    #expect(
      lanes.list == [
        "0 made", "0 offline: 40 s", "+3 ms echo: +3 ms orders", "+40 s try 1: answered in 30 ms",
        "+40 s acknowledged: 40 s after made",
      ])
    #expect(lanes.scale.breaks(width: 60).map(\.text) == ["39 s"])
  }

  @Test("With a frozen server a write's timeline shows two attempts with their outcomes")
  func frozen() {
    var journey = WriteJourney(row(.queued))
    journey.note(row(.inFlight, tries: 1), at: at(0.01))
    journey.note(row(.backoff(until: at(52)), tries: 1, error: RPCStatus(.unavailable, "silent")), at: at(49))
    journey.note(row(.inFlight, tries: 2), at: at(79.997))
    journey.acknowledge(at: at(80), after: .milliseconds(3))
    let lanes = lanes(journey, outages: [.init(start: at(49), end: at(79.9))])
    #expect(
      lanes.list == [
        "0 made", "+3 ms echo: +3 ms orders", "+10 ms try 1: unavailable after 48 s", "+49 s offline: 30 s",
        "+79 s try 2: answered in 3 ms", "+80 s acknowledged: 80 s after made",
      ])
    #expect(journey.tries.map(\.failed) == [at(49), nil])
    #expect(lanes.scale.breaks(width: 60).map(\.text) == ["48 s", "30 s"])
  }

  @Test("A rejected write's timeline ends with its code; an in-flight write's has no end")
  func rejected() {
    var journey = WriteJourney(row(.queued))
    journey.note(row(.inFlight, tries: 1), at: at(0.01))
    #expect(lanes(journey, now: 5.01).list.last == "+10 ms try 1: no answer for 5.0 s")
    journey.reject(RPCStatus(.notFound, "No document to update"), at: at(0.02))
    #expect(lanes(journey).list.last == "+20 ms rejected: not-found, 20 ms after made")
    // What the queue says later changes nothing any more.
    journey.note(row(.inFlight, tries: 2), at: at(9))
    #expect(journey.tries.count == 1)
  }

  @Test("A timeline's axis is valid for any times and any width")
  func bounds() {
    let odd: [[Timestamp]] = [
      [], [at(0)], [at(0), at(0)], [Timestamp(seconds: .min / 4), Timestamp(seconds: .max / 4)],
      (0..<40).map { at(Double($0 * $0 * $0)) },
    ]
    for times in odd {
      for width in [0, 1, 2, 9, 30, 200] {
        let scale = TimeScale(times)
        let columns = times.sorted().map { scale.column(of: $0, width: width) }
        #expect(columns == columns.sorted() && columns.allSatisfy { 0...max(0, width - 1) ~= $0 })
        #expect(scale.breaks(width: width).allSatisfy { $0.columns.lowerBound >= 0 })
      }
    }
  }

  @Test("Pressing Enter on a write draws its lanes, or lists its steps if space is short", arguments: [120, 80])
  func screen(_ width: Int) {
    var driver = Scenario.online.play(Size(width: width, height: width == 120 ? 36 : 24))
    driver.press("2 g enter")
    #expect(driver.screen.contains("try 1"))
    #expect(driver.screen.contains("a column is") == (width == 120))
    // The account goes on while it is open.
    driver.client(.writeAcknowledged(BatchID(42), after: .milliseconds(9)), at: 19)
    #expect(driver.screen.contains("2.1 s after made"))
  }

  @Test("# in the feed shows the row's write, even after it has left the queue")
  func fromTheFeed() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.client(.writeAcknowledged(BatchID(42), after: .milliseconds(9)), at: 19)
    driver.client(.pendingWrites([]), at: 19)
    driver.tick(30)
    driver.press("4 k")
    while driver.state.feed.selected?.batch != BatchID(42), driver.state.feed.cursor.index > 0 { driver.press("k") }
    driver.press("#")
    #expect(driver.screen.contains("#42 update orders/7Qf3xAzP") && driver.screen.contains("2.1 s after made"))
  }
}
