// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import CommandOutput
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreText
package import Scenarios

extension Recording {
  /// Converts the session to a draft of a scenario. Replays the recorded actions on the dashboard's state. The effects
  /// of the actions are the user's requests.
  /// - Throws: `badData` for a recording that contains no step, or has lines in the wrong order.
  package func draft() throws(CommandFailure) -> ScenarioDraft {
    if let outOfOrder { throw Self.disorder(at: "\(name):\(outOfOrder.line)", by: outOfOrder.by) }
    let configuration = header.configuration
    var draft = ScenarioDraft(
      "The session \(name), recorded \(header.start.rfc3339Text).", in: configuration.database)
    let client = configuration.backend.user.map { _ in "app" }
    if let client { draft.clients = [(client, configuration.backend.user)] }
    var reader = ScenarioDraftReader(draft)
    if let names = header.redacted, !names.isEmpty {
      let text = "values that were removed from the recording: \(names.joined(separator: ", "))"
      reader.read(.gap(text), at: header.start, of: client)
    }
    // The recording shows the requests of another program only by changes of its status.
    let isAttached = configuration.attached != nil
    var state = header.initialState
    for action in actions {
      let effects = update(&state, action)
      var facts: [ScenarioDraftReader.Fact] = []
      switch action {
      case .adopt(let listeners, _):
        facts = listeners.map { .request(.listen($0.tag, $0.query, $0.options), name: $0.name) }
      case .client(.listenerStarted(let listener), _):
        let tag = ListenerTag(listener.id)
        facts = [.request(.listen(tag, listener.query, listener.options), name: state.listening[tag]?.name)]
      case .client(.status(let status), _) where isAttached:
        facts = [.request(.setNetwork(enabled: status.isNetworkEnabled))]
      case .client(let event, _): facts = [.event(event)]
      default: break
      }
      for case .client(let request) in effects {
        switch request {
        case .setNetwork where isAttached: break
        case .listen(let tag, _, _): facts.append(.request(request, name: state.listening[tag]?.name))
        case .edit(let edit):
          guard case .document(let key) = edit.subject, let mutation = edit.mutation(of: key) else { break }
          facts.append(.request(.write([mutation])))
        default: facts.append(.request(request))
        }
      }
      for fact in facts { reader.read(fact, at: action.time, of: client) }
    }
    return try reader.finished(name, ": no listener was open, and nothing was written")
  }

  /// The failure that is thrown if a line has an earlier time than a previous line.
  package static func disorder(at place: String, by distance: Duration) -> CommandFailure {
    CommandFailure(
      .badData,
      "\(place): The time of this line is \(DurationText.text(distance)) before an earlier line. "
        + "Restore the original order of the lines.")
  }
}
