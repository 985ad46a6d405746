// SPDX-License-Identifier: Apache-2.0
import FirestoreProtocol
import FirestoreSQLite

/// A digest that tells whether the documents of a target are still the stored ones, in any order: the exclusive or of a
/// hash of each, so that a change costs the same however many there are.
struct MemberDigest: Hashable {
  private(set) var value: Int64 = 0

  /// Adds a document that is not a member, or removes one that is.
  mutating func toggle(_ document: DocumentNumber) { value ^= Self.hash(document.rawValue) }

  /// A bijection whose results look random (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
  private static func hash(_ number: Int64) -> Int64 {
    var bits = UInt64(bitPattern: number) &+ 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return Int64(bitPattern: bits ^ bits >> 31)
  }
}

extension TargetCache {
  /// - Throws: `corrupt` for a target whose documents are not the stored ones.
  func check(_ digest: MemberDigest, of id: TargetID) throws(StoreError) {
    let stored = try connection.integer("SELECT members FROM targets WHERE id = ?", id)
    if let stored, stored != digest.value { throw Self.exchanged }
  }

  /// Notes documents that came or went.
  func toggle(_ digest: MemberDigest, of id: TargetID) throws(StoreError) {
    if digest == MemberDigest() { return }
    // SQLite has no exclusive or.
    try connection.run(
      "UPDATE targets SET members = (members | ?1) - (members & ?1) WHERE id = ?2", digest.value, id)
  }

  /// Compares the documents of every target. O(memberships).
  func checkMembers() throws(StoreError) {
    let digests = try memberDigests()
    try connection.forEachRow("SELECT id, members FROM targets WHERE members NOT NULL") { row throws(StoreError) in
      guard digests[row.integer(0), default: MemberDigest()].value == row.integer(1) else { throw Self.exchanged }
    }
  }

  private func memberDigests() throws(StoreError) -> [Int64: MemberDigest] {
    var digests: [Int64: MemberDigest] = [:]
    try connection.forEachRow("SELECT target, document FROM target_documents") { row in
      digests[row.integer(0), default: MemberDigest()].toggle(row.number(1))
    }
    return digests
  }

  private static var exchanged: StoreError {
    .damaged("a target has other documents than those that were stored")
  }
}

extension CacheDatabase {
  /// Calls `body` with the rows of a target's documents, ascending.
  /// - Throws: `corrupt`, at the end, if they are not the stored ones.
  func scanMembers(
    of id: TargetID, _ body: (DocumentRow) throws(StoreError) -> Void
  ) throws(StoreError) {
    var digest = MemberDigest()
    try documents.scan(target: id) { row throws(StoreError) in
      digest.toggle(row.number)
      try body(row)
    }
    try targets.check(digest, of: id)
  }
}
