// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState

/// Why a snapshot fired, as far as its rows do not show it: a local write has its number in a column, an
/// acknowledgement and a rejection are the summary, and changes from the server are marked so.
enum SnapshotReasons {
  /// How many looked-up documents are named.
  private static let limit = 2

  static func text(of causes: [SnapshotCause], separator: String) -> String? {
    var texts: [String] = []
    var lookups = 0
    for cause in causes {
      if case .limboResolved = cause {
        lookups += 1
        if lookups > limit { continue }
      }
      if let news = cause.words.news { texts.append(news) }
    }
    if lookups > limit { texts.append("\(lookups - limit) more looked up") }
    return texts.isEmpty ? nil : texts.joined(separator: separator)
  }
}
