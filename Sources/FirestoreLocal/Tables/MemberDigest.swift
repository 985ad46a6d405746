// SPDX-License-Identifier: Apache-2.0
import FirestoreProtocol

/// What tells whether the documents of a target are still those that were stored, in whatever order: the exclusive or
/// of a hash of each, so that a change costs the same however many there are.
struct MemberDigest: Hashable {
  private(set) var value: Int64 = 0

  /// Adds a document that is not a member, or removes one that is.
  mutating func toggle(_ document: DocumentTable.Number) { value ^= Self.hash(document) }

  /// A bijection whose results look random (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
  private static func hash(_ number: Int64) -> Int64 {
    var bits = UInt64(bitPattern: number) &+ 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return Int64(bitPattern: bits ^ bits >> 31)
  }
}

extension TargetCache {
  /// - Throws: `corrupt` for a target whose documents are others than those that were stored.
  func check(_ digest: MemberDigest, of id: TargetID) throws(LocalStoreError) {
    let stored = try findDigest.bind(Int64(id.rawValue), at: 1).first { $0.optionalInteger(0) } ?? nil
    if let stored, stored != digest.value { throw Self.exchanged }
  }

  /// Compares the documents of every target. O(memberships).
  func checkMembers() throws(LocalStoreError) {
    let digests = try memberDigests()
    let statement = try connection.prepareOnce("SELECT id, members FROM targets WHERE members NOT NULL")
    try statement.forEachRow { row throws(LocalStoreError) in
      guard digests[row.integer(0), default: MemberDigest()].value == row.integer(1) else { throw Self.exchanged }
    }
  }

  /// Takes the members that there are for those that were stored, for what an earlier version stored without digests.
  func establishDigests() throws(LocalStoreError) {
    let statement = try connection.prepareOnce("UPDATE targets SET members = ? WHERE id = ?")
    for (id, digest) in try memberDigests() { try statement.bind(digest.value, at: 1).bind(id, at: 2).run() }
  }

  private func memberDigests() throws(LocalStoreError) -> [Int64: MemberDigest] {
    var digests: [Int64: MemberDigest] = [:]
    try connection.prepareOnce("SELECT target, document FROM target_documents").forEachRow { row in
      digests[row.integer(0), default: MemberDigest()].toggle(row.integer(1))
    }
    return digests
  }

  private static var exchanged: LocalStoreError {
    LocalStoreError(.corrupt, "The cache is damaged: a target has other documents than those that were stored.")
  }
}

extension CacheDatabase {
  /// Calls `body` with the rows of a target's documents, ascending.
  /// - Throws: `corrupt`, at the end, if they are others than those that were stored.
  func scanMembers(
    of id: TargetID, _ body: (DocumentTable.Row) throws(LocalStoreError) -> Void
  ) throws(LocalStoreError) {
    var digest = MemberDigest()
    try documents.scan(target: Int64(id.rawValue)) { row throws(LocalStoreError) in
      digest.toggle(row.number)
      try body(row)
    }
    try targets.check(digest, of: id)
  }
}
