// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A time axis on which moments have columns to scale. A wait that would press all else into a few columns is broken: it
/// takes a fixed width, in which its length is written.
package struct TimeScale: Sendable {
  /// A broken wait on the axis.
  package struct Break: Equatable, Sendable {
    package let columns: Range<Int>
    /// The length, as text.
    package let text: String
  }

  /// The largest number of broken waits.
  private static let mostBreaks = 4
  /// A wait is broken that is longer than all unbroken others together so many times.
  private static let excess: Int64 = 3
  /// Longer waits, from clocks that are wrong, count as this one: a hundred years in microseconds.
  private static let longestWait: Int64 = 3_155_760_000_000_000
  /// Shorter waits are not broken: a second, in microseconds.
  private static let shortestBreak: Int64 = 1_000_000
  /// The columns of a broken wait.
  private static let breakWidth = 10

  /// The moments, ascending, each once.
  private let moments: [Timestamp]
  /// The waits between them, in microseconds.
  private let waits: [Int64]
  private let broken: Set<Int>

  package init(_ times: [Timestamp]) {
    moments = Set(times).sorted()
    let waits = zip(moments, moments.dropFirst()).map {
      min(max(0, $1.microseconds &- $0.microseconds), Self.longestWait)
    }
    let longest = waits.indices.sorted { (waits[$0], $1) > (waits[$1], $0) }
    var broken: Set<Int> = []
    var rest = waits.reduce(Int64(0), +)
    for (number, index) in longest.prefix(Self.mostBreaks).enumerated() where waits[index] >= Self.shortestBreak {
      rest -= waits[index]
      // The last wait of all needs no break: there is nothing that it would press together.
      if rest > 0, waits[index] / Self.excess > rest { broken = Set(longest[...number]) }
    }
    self.waits = waits
    self.broken = broken
  }

  /// The first column of each moment on an axis of so many columns.
  private func starts(width: Int) -> [Int] {
    let room = max(0, width - 1 - broken.count * Self.breakWidth)
    let whole = waits.indices.filter { !broken.contains($0) }.reduce(Int64(0)) { $0 + waits[$1] }
    var column = 0.0
    return [0]
      + waits.indices.map { index in
        if broken.contains(index) {
          column += Double(Self.breakWidth)
        } else if whole > 0 {
          column += Double(waits[index]) / Double(whole) * Double(room)
        }
        return min(max(0, width - 1), Int(column.rounded()))
      }
  }

  /// The column of one of the moments.
  package func column(of time: Timestamp, width: Int) -> Int {
    guard let index = moments.firstIndex(of: time) else { return 0 }
    return starts(width: width)[index]
  }

  package func breaks(width: Int) -> [Break] {
    let starts = starts(width: width)
    return broken.sorted().map { index in
      Break(
        columns: starts[index]..<max(starts[index], starts[index + 1]),
        text: TimeText.span(.microseconds(waits[index])))
    }
  }

  /// The length of one column that is not broken; `nil` if all is one moment.
  package func column(width: Int) -> Duration? {
    let room = width - 1 - broken.count * Self.breakWidth
    let whole = waits.indices.filter { !broken.contains($0) }.reduce(Int64(0)) { $0 + waits[$1] }
    return room > 0 && whole > 0 ? .microseconds(whole / Int64(room)) : nil
  }
}
