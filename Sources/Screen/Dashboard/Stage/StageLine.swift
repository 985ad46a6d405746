// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import TerminalCanvas

/// The content of the row about several clients: which there are, and which one the keys act on. Used by drawing and by
/// the mouse.
package struct StageLine: Sendable {
  package struct Item: Sendable {
    package var index: Int
    package var x: Int
    package var name: String
    package var hasFocus: Bool
    /// Columns, with the sign before the name.
    package var width: Int
  }

  /// The columns between two clients for the state of the one before.
  package static let stateColumns = 24
  /// The columns of a name with the signs around it.
  private static let around = 3

  package let items: [Item]

  package init(_ stage: ClientStage) {
    // Equal columns, so that a change of state moves nothing.
    let share = max(1, stage.size.width / max(1, stage.members.count))
    let width = min(StageName.longest + Self.around + Self.stateColumns, share)
    items = stage.members.enumerated().map { index, member in
      Item(
        index: index, x: index * width, name: member.name, hasFocus: index == stage.focusIndex, width: width)
    }
  }

  func client(at x: Int) -> Int? { items.first { $0.x..<$0.x + $0.width ~= x }?.index }
}
