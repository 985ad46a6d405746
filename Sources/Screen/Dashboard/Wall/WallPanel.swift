// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
import FirestoreModel

/// The choices of the user on the wall.
package struct WallPanel: Sendable {
  package var order = WallOrder.opened
}

extension DashboardState {
  /// Whether the wall is on the screen.
  package var showsWall: Bool { overlay?.kind == .wall }

  mutating func openWall() { overlay = .list(ListOverlay(content: .wall(WallPanel()))) }

  /// The listeners of the wall in its order.
  package func wallListeners(_ panel: WallPanel) -> [ListenerRecord] {
    panel.order.sorted(listeners, wall, at: now.seconds)
  }

  /// Changes the order of the wall; the selected listener stays selected.
  mutating func changeWallOrder() {
    guard let list = overlay?.list, case .wall(var panel) = list.content else { return }
    let before = wallListeners(panel)
    let selected = before.indices.contains(list.cursor.index) ? before[list.cursor.index].tag : nil
    panel.order = panel.order.next
    let after = wallListeners(panel)
    overlay?.list?.content = .wall(panel)
    overlay?.list?.cursor.select(index: after.firstIndex { $0.tag == selected } ?? 0, in: after.indices)
    toast(.info, "listeners \(panel.order.words)")
  }

  /// The listener that is selected on the wall.
  var wallListener: ListenerRecord? {
    guard let list = overlay?.list, case .wall(let panel) = list.content else { return nil }
    let listeners = wallListeners(panel)
    return listeners.indices.contains(list.cursor.index) ? listeners[list.cursor.index] : nil
  }

  /// The next second in which the wall changes by itself; `nil` while it stands still.
  var nextWallTick: Timestamp? { showsWall && (wall.isMoving(at: now) || network.isOffline) ? now.nextSecond : nil }
}
