// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol

/// Counts the documents that the watch stream brings, by target.
struct ReadMeters: Sendable {
  private struct Entry {
    var sent = 0
    var kept = 0
    /// The start of a resumed target that is not current yet: the documents that the cache had, and those sent before.
    var resumption: (had: Int, sentBefore: Int)?
  }

  private var entries: [TargetID: Entry] = [:]

  /// Notes that a request for the target goes out.
  /// - Parameter had: the number of its documents that the cache has, if it is resumed.
  mutating func requested(_ id: TargetID, resumingWith had: Int?) {
    var entry = entries[id] ?? Entry()
    entry.resumption = had.map { ($0, entry.sent) }
    entries[id] = entry
  }

  mutating func receive(_ change: WatchChange) {
    switch change {
    case .document(let document, let updated, let removed):
      for id in updated {
        if document.exists { entries[id]?.sent += 1 } else { entries[id]?.resumption?.had -= 1 }
      }
      for id in removed { entries[id]?.resumption?.had -= 1 }
    case .documentRemoved(_, let removed): for id in removed { entries[id]?.resumption?.had -= 1 }
    case .current(let ids, _): for id in ids.isEmpty ? Array(entries.keys) : ids { finishResumption(of: id) }
    case .reset(let ids, _): for id in ids.isEmpty ? Array(entries.keys) : ids { entries[id]?.resumption = nil }
    default: break
    }
  }

  private mutating func finishResumption(of id: TargetID) {
    guard let entry = entries[id], let (had, before) = entry.resumption else { return }
    entries[id]?.kept += max(0, had - (entry.sent - before))
    entries[id]?.resumption = nil
  }

  mutating func forget(_ id: TargetID) { entries[id] = nil }

  /// The numbers of documents that were sent for a target, and that were kept.
  func meter(of id: TargetID) -> (sent: Int, kept: Int)? { entries[id].map { ($0.sent, $0.kept) } }

  /// The figures of the targets that listeners want.
  func meters(of targets: some Sequence<TargetData>) -> [ReadMeter] {
    targets.filter { $0.purpose != .limboResolution }.compactMap { data in
      entries[data.id].map { ReadMeter(target: data.target, sent: $0.sent, kept: $0.kept) }
    }
  }
}
