// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreModel
package import TerminalCanvas

/// The clients of a scenario, which are there from the start, below a strip that tells how far it has come.
extension ClientStage {
  /// - Parameters:
  ///   - names: the names of the clients, at most as many as a screen has room for.
  ///   - configuration: the settings that all of them share.
  package init(
    playing play: ScenarioPlay, _ names: [String], _ configuration: DashboardConfiguration, size: Size,
    at time: Timestamp
  ) {
    var configuration = configuration
    configuration.attached = AttachedProgram(ofScenario: play.name)
    configuration.hasCoach = false
    configuration.beginsWithWall = false
    configuration.reachingOptions = nil
    let session = DashboardSession(DashboardState(configuration, size: size, now: time))
    self.init(session)
    members = names.prefix(StageFacts.mostClients).enumerated().map { index, name in
      Member(number: ClientNumber(index + 1), name: name, user: nil, session: session)
    }
    lastNumber = members.count
    self.play = play
    tellFacts(at: time)
    arrange(at: time)
  }

  /// News of the scenario.
  package enum ScenarioNews: Sendable {
    /// A step begins.
    case begun(ScenarioPlay.Step)
    case finished(after: Duration, caption: String?)
    case ended(ScenarioPlay.Ending, after: Duration? = nil)
    case notice(String)
  }

  /// Takes news of the scenario; each step has a line in the feeds of all clients.
  package mutating func note(_ news: ScenarioNews, at time: Timestamp) {
    turn = Turn()
    switch news {
    case .begun(let step): mark("line \(step.line)  \(step.text)", at: time)
    case .finished(let elapsed, let caption): play?.finish(after: elapsed, caption: caption)
    case .notice(let text): play?.notice = text
    case .ended(let ending, let elapsed):
      play?.end(ending, after: elapsed)
      if case .failed(let reason) = ending { mark("failed: \(reason)", at: time) } else { mark("passed", at: time) }
    }
    arrange(at: time)
  }

  private mutating func mark(_ text: String, at time: Timestamp) {
    for member in members { happen(.client(.marked(text), at: time), to: member.number) }
  }

  mutating func perform(_ control: ScenarioControl) {
    guard var play else { return }
    if play.perform(control) { turn.scenario.append(.next) }
    if control == .again { turn.scenario.append(.again) }
    self.play = play
  }

  /// The rows of the strip about the scenario; none without one.
  package var strip: Rect {
    guard play != nil else { return .zero }
    let height =
      switch size.height {
      case 56...: 8
      case 36...: 5
      case 24...: 3
      case 16...: 2
      default: min(1, size.height / 2)
      }
    return Rect(x: 0, y: 0, width: size.width, height: height)
  }
}

extension AttachedProgram {
  package init(ofScenario name: String) {
    self.init(process: 0, name: name, allowsControl: false)
    isScenario = true
  }

  var isOfScenario: Bool { isScenario == true }
}
