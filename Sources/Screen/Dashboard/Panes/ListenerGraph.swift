// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// The last minute of a listener beside its name, in the rows that the tree leaves on a wide screen, and that of all in
/// pane 3. It moves by steps, and there is none on a line that is slow.
package struct ListenerGraph {
  package static let columns = 20
  /// The seconds of a column.
  private static let step: Int64 = 3
  /// The columns of the tree from which there is room for graphs.
  fileprivate static let leastWidth = 62

  /// The second before which everything happened that is drawn.
  private let end: Int64

  fileprivate init(at now: Timestamp) { end = now.seconds / Self.step * Self.step }

  /// The next time at which it moves.
  fileprivate var next: Timestamp { Timestamp(seconds: end + Self.step) }

  /// The events of each of the last seconds.
  package func seconds(of tag: ListenerTag, _ wall: Wall, _ count: Int) -> [Int] {
    wall.events(of: tag).last(count, before: end)
  }

  /// The events of each column.
  package func events(of tag: ListenerTag, _ wall: Wall) -> [Int] {
    let seconds = seconds(of: tag, wall, Self.columns * Int(Self.step))
    return stride(from: 0, to: seconds.count, by: Int(Self.step)).map { start in
      seconds[start..<start + Int(Self.step)].reduce(0, +)
    }
  }
}

extension DashboardState {
  /// The graphs beside the listeners; `nil` where there are none.
  package func listenerGraph(_ layout: Layout) -> ListenerGraph? {
    guard layout.isWide, !screen.isLinkSlow, layout.content(of: .collections).width >= ListenerGraph.leastWidth else {
      return nil
    }
    return ListenerGraph(at: now)
  }

  /// The next time at which the graphs beside the listeners move by themselves; `nil` while they stand still.
  var nextGraphTick: Timestamp? {
    guard !listeners.isEmpty, !showsWall, wall.isMoving(at: now) else { return nil }
    return listenerGraph(layout(size))?.next
  }
}
