// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// A graph of the events in the last minute. On a wide screen, spare rows of the tree show one graph for each listener,
/// and pane 3 shows one for all listeners together. A graph moves in steps. Slow lines have no graph.
package struct ListenerGraph {
  package static let columns = 20
  /// The seconds per column.
  private static let step: Int64 = 3
  /// The minimum width of the tree for graphs.
  fileprivate static let leastWidth = 62

  /// The end of the drawn period, exclusive, in seconds.
  private let end: Int64

  fileprivate init(at now: Timestamp) { end = now.seconds / Self.step * Self.step }

  /// The time of the next step.
  fileprivate var next: Timestamp { Timestamp(seconds: end + Self.step) }

  /// The events in each of the last seconds.
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
  /// The graphs next to the listeners; `nil` if hidden.
  package func listenerGraph(_ layout: Layout) -> ListenerGraph? {
    guard layout.isWide, !screen.isLinkSlow, layout.content(of: .collections).width >= ListenerGraph.leastWidth else {
      return nil
    }
    return ListenerGraph(at: now)
  }

  /// The time of the next step of the graphs next to the listeners; `nil` while they do not move.
  var nextGraphTick: Timestamp? {
    guard !listeners.isEmpty, !showsWall, wall.isMoving(at: now) else { return nil }
    return listenerGraph(layout(size))?.next
  }
}
