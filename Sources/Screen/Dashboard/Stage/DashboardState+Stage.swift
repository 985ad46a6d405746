// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// One of several clients on a screen.
extension DashboardState {
  /// Ends a client, after a question if it has writes that the server has not taken.
  mutating func askToRemove(_ name: String) -> [Effect] {
    let effects: [Effect] = [.stage(.remove(name: name))]
    guard let count = stage?.clients.first(where: { $0.name == name })?.unsent, count > 0 else { return effects }
    overlay = .confirm(
      Confirmation(
        title: "End the client \(name)",
        body: [
          "\(count) write\(count == 1 ? "" : "s") of \(name) that the server has not taken will be lost:",
          "its cache is in memory.",
        ], action: "End it", subject: .perform(effects)))
    return []
  }

  /// The question before quitting that the other clients ask for; `nil` where none would lose anything.
  var quitQuestion: Confirmation? {
    guard let lost = stage?.endangered, !lost.isEmpty else { return nil }
    let own = !network.isDurable ? writes.waiting + writes.rejected.count : 0
    let count = lost.reduce(own) { $0 + $1.unsent }
    let names = ((own > 0 ? [stage?.own].compactMap(\.self) : []) + lost.map(\.name)).joined(separator: ", ")
    return Confirmation(
      title: "Quit",
      body: [
        "\(count) write\(count == 1 ? "" : "s") not sent yet will be lost, of \(names):", "the cache is in memory.",
      ], action: "Quit", subject: .quit)
  }

  /// Tells a conflict with another client of this screen.
  mutating func receive(_ conflict: ClientConflict) {
    var row = FeedRow(
      time: now, kind: .conflict, key: conflict.key, summary: conflict.text(bullet: configuration.glyphs.bullet))
    row.ends = conflict.batch
    feed.append(row)
    feed.note(.conflict, at: now)
    feed.countEvents(at: now)
    toast(.warning, "conflict with \(conflict.other) in \(conflict.key.path.text)")
  }
}
