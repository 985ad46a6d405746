// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

extension LocalStore {
  /// Recomputes what the tables hold twice. O(pending writes + membership); for tests and debug builds.
  /// - Returns: what does not agree; empty when all is well.
  package func checkInvariants() throws(LocalStoreError) -> [String] {
    var violations: [String] = []
    let documents = LocalDocuments(database: database, user: user, hasBatches: true)
    for key in try database.mutations.keys(of: user) {
      let remote = try database.documents.document(key)
      let collection = try database.collections.numberAdding(key.collection)
      let batches = try database.mutations.batches(affecting: collection, key.documentID, of: user)
      let expected = documents.fold(batches, key, over: remote).view
      let stored = try documents.view(of: key)
      // Two server timestamps that show different values meanwhile are equal: only their bytes differ.
      let isSame = stored == expected && stored.data?.encoded.bytes == expected.data?.encoded.bytes
      if !isSame { violations.append("S9: the overlay of \(key) gives \(stored), its batches \(expected)") }
    }
    for (problem, rows) in CacheDatabase.forbidden {
      let count = try database.connection.integer(composed: "SELECT count(*) FROM \(rows)") ?? 0
      if count > 0 { violations.append("\(count) \(problem)") }
    }
    let stored = try database.mutations.count(of: user)
    if stored != batchCount { violations.append("\(batchCount) batches are counted, \(stored) stored") }
    do throws(LocalStoreError) { try database.targets.checkMembers() } catch { violations.append(error.message) }
    violations += try IndexVerification(database: database).violations()
    return violations
  }
}
