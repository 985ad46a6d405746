// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import TerminalCanvas

/// The acknowledgement of a write in words: how long it took, and where sending is the smaller part of that, how long
/// ago the write was made.
package struct WriteAnswer: Hashable, Sendable {
  package let batch: BatchID
  /// The time from the last sending to the answer; `nil` where it is not known.
  package let after: Duration?
  /// The time from making the write to the answer; `nil` where it is not known.
  package let age: Duration?
  package let tries: Int

  package init(_ batch: BatchID, after: Duration? = nil, age: Duration? = nil, tries: Int = 1) {
    self.batch = batch
    self.after = after
    self.age = age
    self.tries = tries
  }

  /// A wait is told from this length on.
  private static let shortestWait = Duration.seconds(1)

  /// The time since the write was made, if the write waited before it was sent for the last time.
  package var wholeAge: Duration? {
    guard let age, tries > 1 || age - (after ?? .zero) >= Self.shortestWait else { return nil }
    return max(age, after ?? .zero)
  }

  /// The beginning of every text of the acknowledgement.
  var name: String { "ack \(batch)" }

  /// `ack #1 in 31 ms`, or `ack #1 80 s after it was made, 2 tries`.
  package var text: String {
    if let wholeAge {
      return name + " \(TimeText.span(wholeAge)) after it was made" + (tries > 1 ? ", \(tries) tries" : "")
    }
    return name + (after.map { " in " + TimeText.latency($0) } ?? "")
  }

  /// The summary of a row that tells the acknowledgement, with the times that were not known when it was written.
  func completing(_ summary: String) -> String {
    guard summary.utf8.starts(with: name.utf8) else { return summary }
    let rest = summary.dropFirst(name.count)
    return rest.isEmpty || [Glyphs.unicode, .ascii, .spoken].contains { rest.hasPrefix(" \($0.bullet) ") }
      ? text + rest : summary
  }
}
