// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The order of the listeners on the wall.
package enum WallOrder: String, CaseIterable, Codable, Sendable {
  /// The order in which they were opened.
  case opened
  /// Most events in the last minute first.
  case rate
  case name

  /// The seconds for which an order by rate stays: rows that change places with every event cannot be read.
  package static let rateHold: Int64 = 10

  package var next: WallOrder {
    let all = Self.allCases
    return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
  }

  package var words: String {
    switch self {
    case .opened: "as opened"
    case .rate: "by rate"
    case .name: "by name"
    }
  }

  /// Orders listeners.
  /// - Parameter now: the present second.
  package func sorted(_ listeners: [ListenerRecord], _ wall: Wall, at now: Int64) -> [ListenerRecord] {
    switch self {
    case .opened: return listeners
    case .name: return listeners.sorted { $0.name.compareUTF8($1.name) == .ascending }
    case .rate:
      let end = now / Self.rateHold * Self.rateHold
      let keyed = listeners.enumerated().map { index, listener in
        (sum: wall.events(of: listener.tag).sum(Wall.span, before: end), index: index, listener: listener)
      }
      return keyed.sorted { $0.sum != $1.sum ? $0.sum > $1.sum : $0.index < $1.index }.map(\.listener)
    }
  }
}
