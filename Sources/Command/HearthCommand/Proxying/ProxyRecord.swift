// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import DashboardHost
import DashboardModel
import FirestoreJSON
import FirestoreModel
import FirestoreProxy
import Foundation
import Scenarios

/// Reads the lines that `hearth proxy --json --values` has printed.
enum ProxyRecord {
  /// Converts the lines to a draft of a scenario.
  /// - Throws: `badData` for a line that the proxy did not print, with its number. Also if no line can become a step.
  static func draft(_ data: Data, name: String) throws(CommandFailure) -> ScenarioDraft {
    var clients = ProxiedClients()
    var time: Timestamp?
    var reader = ScenarioDraftReader(
      ScenarioDraft("The traffic of a proxy, recorded in \(name).", in: DatabaseID(project: "p")))
    for (number, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty { continue }
      let event: ProtocolEvent
      do throws(JSONError) { event = try RecordingLine.value(ProtocolEvent.self, of: line, numbers: .ofAnySize) } catch
      {
        throw CommandFailure(.badData, "\(name):\(number + 1), column \(error.column): \(error.reason)")
      }
      let distance = time.map { Duration.milliseconds($0.milliseconds(since: event.time)) } ?? .zero
      if distance > Recording.clockSlack {
        throw Recording.disorder(at: "\(name):\(number + 1), column 1", by: distance)
      }
      time = max(time ?? event.time, event.time)
      for (client, event) in clients.receive(event) {
        if let fact = fact(of: event) { reader.read(fact, at: time ?? .now, of: client) }
      }
    }
    if let database = clients.database { reader.draft.database = database }
    let hint = "; its messages have no contents. Record them with hearth proxy --json --values"
    var draft = try reader.finished(name, clients.lacksContents ? hint : "")
    let start = draft.moments[0].time
    if clients.hasOtherCalls {
      draft.moments.insert(.init(start, nil, .gap("reads, and other calls without a step")), at: 0)
    }
    if clients.lacksContents {
      draft.moments.insert(
        .init(start, nil, .gap("messages without contents; hearth proxy --values prints contents")), at: 0)
    }
    return draft
  }

  private static func fact(of event: ProxiedClients.Event) -> ScenarioDraftReader.Fact? {
    switch event {
    case .event(let event): .event(event)
    case .fault(let change): .fault(change)
    case .hit(let event): .hit(event)
    case .gap(let text): .gap(text)
    case .left: nil
    }
  }
}
