// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The id of a target on a watch stream and in the cache. The targets of queries have even numbers, and limbo
/// resolutions have odd numbers.
package struct TargetID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
  package static func < (left: TargetID, right: TargetID) -> Bool { left.rawValue < right.rawValue }
  package var description: String { String(rawValue) }
}

/// An opaque token for a position at the backend. It is never empty.
package struct ResumeToken: Hashable, Sendable {
  package let bytes: [UInt8]
  /// Creates a token.
  /// - Returns: `nil` if the bytes are empty, which means "no token" in the protocol.
  package init?(_ bytes: [UInt8]) {
    if bytes.isEmpty { return nil }
    self.bytes = bytes
  }
}

/// The purpose of a target, which is sent as the request label `goog-listen-tags`.
package enum TargetPurpose: Hashable, Sendable {
  case listen
  case existenceFilterMismatch
  case existenceFilterMismatchBloom
  case limboResolution
}

/// A request from the client on a watch stream.
package enum WatchRequest: Sendable {
  case add(WatchTarget)
  case remove(TargetID)
}

/// One target, in the form that is sent to the server.
package struct WatchTarget: Sendable {
  package enum Resume: Hashable, Sendable {
    case token(ResumeToken)
    case readTime(SnapshotVersion)
  }

  package var id: TargetID
  package var target: Target
  package var purpose: TargetPurpose
  package var resume: Resume?
  /// The number of documents that the client has for the target. Only set together with `resume`.
  package var expectedCount: Int?

  package init(
    id: TargetID, target: Target, purpose: TargetPurpose = .listen, resume: Resume? = nil, expectedCount: Int? = nil
  ) {
    self.id = id
    self.target = target
    self.purpose = purpose
    self.resume = resume
    self.expectedCount = expectedCount
  }
}

/// One message of the watch stream (PROTOCOL §2.3).
package enum WatchChange: Sendable {
  case added([TargetID])
  /// Targets were removed. If there is no cause, the client requested the removal. If there is a cause, the listen
  /// failed.
  case removed([TargetID], cause: RPCStatus?)
  case current([TargetID], ResumeToken?)
  case reset([TargetID], ResumeToken?)
  /// A new position for some targets. An empty list means all targets.
  case token([TargetID], ResumeToken?)
  /// A consistent snapshot: the changes that were sent so far are complete up to this version, for all targets.
  case snapshot(SnapshotVersion, ResumeToken?)
  /// The document exists (`found`) or is deleted (`missing`). It now matches the `updated` targets, and no longer
  /// matches the `removed` targets.
  case document(Document, updated: [TargetID], removed: [TargetID])
  /// The document left these targets. Its content is unknown.
  case documentRemoved(DocumentKey, removed: [TargetID])
  case filter(TargetID, ExistenceFilter)

  package var isSnapshot: Bool { if case .snapshot = self { true } else { false } }
}

/// The number of documents that a target has at the backend, and optionally a bloom filter of the documents' names.
package struct ExistenceFilter: Sendable {
  package var count: Int
  package var unchangedNames: BloomFilterBits?

  package init(count: Int, unchangedNames: BloomFilterBits? = nil) {
    self.count = count
    self.unchangedNames = unchangedNames
  }
}

/// A bloom filter as received, not validated.
package struct BloomFilterBits: Hashable, Sendable {
  package var bitmap: [UInt8]
  package var padding: Int
  package var hashCount: Int

  package init(bitmap: [UInt8], padding: Int, hashCount: Int) {
    self.bitmap = bitmap
    self.padding = padding
    self.hashCount = hashCount
  }
}
