// SPDX-License-Identifier: Apache-2.0

/// The documents with the lowest sequence numbers of all that were added, up to a number of them.
struct OldestDocuments: Sendable {
  /// More than are listed, since some of them may be referred to.
  private static let most = 400

  private var entries: [(sequenceNumber: Int64, number: DocumentNumber)] = []
  /// The highest sequence number that is kept, once there are enough.
  private var bound = Int64.max

  mutating func add(_ number: DocumentNumber, _ sequenceNumber: Int64) {
    guard sequenceNumber < bound else { return }
    entries.append((sequenceNumber, number))
    if entries.count >= 2 * Self.most { cut() }
  }

  private mutating func cut() {
    entries = Array(sorted.prefix(Self.most))
    bound = entries.last?.sequenceNumber ?? .max
  }

  /// The documents, ascending by the time of their last use.
  var sorted: [(sequenceNumber: Int64, number: DocumentNumber)] {
    entries.sorted { ($0.sequenceNumber, $0.number.rawValue) < ($1.sequenceNumber, $1.number.rawValue) }
  }
}
