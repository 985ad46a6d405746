// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
package import FirestoreModel
import TerminalCanvas

/// Clients that come and go, and the focus between them.
extension ClientStage {
  mutating func perform(_ change: StageEffect, at time: Timestamp) {
    switch change {
    case .add(let name, let user): add(name, user, at: time)
    case .remove(let name): remove(name, at: time)
    case .focus(let name): if let index = members.firstIndex(where: { $0.name == name }) { focusIndex = index }
    case .focusNext: focusIndex = (focusIndex + 1) % members.count
    case .toggleZoom: isZoomed.toggle()
    case .scenario(let control): perform(control)
    }
  }

  /// Opens a client beside the others. It has the focus, and listens to what the client with the focus listens to.
  private mutating func add(_ name: String, _ user: String?, at time: Timestamp) {
    guard members.count < StageFacts.mostClients, !members.contains(where: { $0.name == name }) else { return }
    let model = focused.session.live
    var configuration = model.configuration
    configuration.hasCoach = false
    configuration.beginsWithWall = false
    configuration.commandHistory = model.commandHistory
    configuration.theme = model.screen.theme
    configuration.isMouseOn = model.screen.isMouseOn
    configuration.isLinkSlow = model.screen.isLinkSlow
    if let user { configuration.backend.user = user }
    lastNumber += 1
    let member = Member(
      number: ClientNumber(lastNumber), name: name, user: configuration.backend.user,
      session: DashboardSession(DashboardState(configuration, size: size, now: time)))
    members.append(member)
    focusIndex = members.count - 1
    turn.opened.append(member)
    tellFacts(at: time)
    // The places are known now, so that windows are asked for in their size.
    arrange(at: time)
    turn.effects += DashboardState.initialEffects.map { OfClient(member.number, $0) }
    happen(.open(model.listenerDefinitions, at: time), to: member.number)
  }

  /// Ends a client. The first one stays: it leaves with the program.
  private mutating func remove(_ name: String, at time: Timestamp) {
    guard let index = members.firstIndex(where: { $0.name == name }), index > 0 else { return }
    let client = members.remove(at: index).number
    conflicts.forget(client)
    turn.effects.removeAll { $0.client == client }
    turn.closed.append(client)
    if focusIndex >= index { focusIndex -= 1 }
    if !isShared {
      isZoomed = false
      focusIndex = 0
    }
    tellFacts(at: time)
    arrange(at: time)
  }

  // MARK: What each knows of the others

  /// Tells a client what it knows of the others, if that has changed.
  mutating func tellFacts(to client: ClientNumber? = nil, at time: Timestamp) {
    for member in members where client == nil || member.number == client {
      let facts = isShared ? StageFacts(own: member.name, clients: members.map(\.facts)) : nil
      guard member.session.live.stage != facts else { continue }
      happen(.staged(facts, at: time), to: member.number)
    }
  }

  /// Takes a client off that could not be opened, and says why.
  package mutating func giveUp(_ client: ClientNumber, because reason: String, at time: Timestamp) -> Turn {
    turn = Turn()
    guard let name = self[client]?.name else { return turn }
    remove(name, at: time)
    happen(.client(.notice(.error, "\(name): \(reason)"), at: time), to: focused.number)
    return turn
  }
}

extension ClientStage.Member {
  fileprivate var facts: StageFacts.Client {
    let state = session.live
    return StageFacts.Client(
      name: name, user: user, unsent: state.writes.waiting + state.writes.rejected.count,
      isDurable: state.network.isDurable)
  }
}
