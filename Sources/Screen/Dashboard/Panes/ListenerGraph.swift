// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// A graph of the events in the last minute. On a wide screen, free rows of the tree show one graph for each listener,
/// and pane 3 shows one for all listeners together. A graph moves in steps of several seconds. On slow terminal
/// connections no graph is shown.
package struct ListenerGraph {
  package static let columns = 20
  /// The seconds per column.
  private static let step: Int64 = 3
  /// The minimum width in columns at which the tree shows graphs.
  fileprivate static let leastWidth = 62

  /// The end of the drawn period, exclusive, in seconds.
  private let end: Int64

  fileprivate init(at now: Timestamp) { end = now.seconds / Self.step * Self.step }

  /// The time when the graph moves next.
  fileprivate var next: Timestamp { Timestamp(seconds: end + Self.step) }

  /// The counts of events in each of the last seconds.
  package func seconds(of tag: ListenerTag, _ wall: Wall, _ count: Int) -> [Int] {
    wall.events(of: tag).last(count, before: end)
  }

  /// The count of events in each column.
  package func events(of tag: ListenerTag, _ wall: Wall) -> [Int] {
    let seconds = seconds(of: tag, wall, Self.columns * Int(Self.step))
    return stride(from: 0, to: seconds.count, by: Int(Self.step)).map { start in
      seconds[start..<start + Int(Self.step)].reduce(0, +)
    }
  }
}

extension DashboardState {
  /// The graph that is shown next to each listener; `nil` if the graphs are hidden.
  package func listenerGraph(_ layout: Layout) -> ListenerGraph? {
    guard layout.isWide, !screen.isLinkSlow, layout.content(of: .collections).width >= ListenerGraph.leastWidth else {
      return nil
    }
    return ListenerGraph(at: now)
  }

  /// The time when the graphs next to the listeners move next; `nil` while they do not move.
  var nextGraphTick: Timestamp? {
    guard !listeners.isEmpty, !showsWall, wall.isMoving(at: now) else { return nil }
    return listenerGraph(layout(size))?.next
  }
}
