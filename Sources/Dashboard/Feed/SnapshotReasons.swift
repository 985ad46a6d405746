// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Why a snapshot fired, as far as its rows do not show it: a local write has its number in a column, an
/// acknowledgement and a rejection are the summary, and changes from the server are marked so.
enum SnapshotReasons {
  /// How many looked-up documents are named.
  private static let limit = 2

  static func text(of causes: [ListenerSnapshot.Cause], separator: String) -> String? {
    var texts: [String] = []
    var lookups = 0
    for cause in causes {
      switch cause {
      case .localWrite, .acknowledged, .rejected, .cancelled, .server: continue
      case .listenerAdded: texts.append("listener added")
      case .networkDisabled: texts.append("you went offline")
      case .offline: texts.append("server out of reach")
      case .limboResolved(let key):
        lookups += 1
        if lookups <= limit { texts.append("looked up \(key.documentID)") }
      case .existenceFilter: texts.append("server counts other documents than the cache")
      case .userChanged: texts.append("another user signed in")
      case .bundleLoaded(let name): texts.append("bundle \(name) loaded")
      case .cacheRecovered: texts.append("the cache works again")
      }
    }
    if lookups > limit { texts.append("\(lookups - limit) more looked up") }
    return texts.isEmpty ? nil : texts.joined(separator: separator)
  }
}
