// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension CacheDatabase {
  /// Checks the whole file: SQLite's structures and everything that is stored encoded. O(size).
  /// - Throws: `corrupt` for the first thing that is wrong.
  func verify() throws(LocalStoreError) {
    let check = try connection.prepareOnce("PRAGMA quick_check(1)")
    let answer = try check.first { $0.text(0) } ?? ""
    guard answer == "ok" else { throw LocalStoreError(.corrupt, "The cache is damaged: \(answer)") }
    try connection.prepareOnce("SELECT fields, checksum FROM documents WHERE fields IS NOT NULL")
      .forEachRow { row throws(LocalStoreError) in
        _ = try StoredFields.read(row.blobBytes(0), checksum: row.integer(1))
      }
    try decodeAll("SELECT batch FROM mutation_batches") { bytes throws(ModelError) in
      _ = try MutationBatch(decoding: bytes)
    }
    try decodeAll("SELECT mutation FROM overlays") { bytes throws(ModelError) in _ = try Mutation(decoding: bytes) }
    try decodeAll("SELECT target FROM targets") { bytes throws(ModelError) in _ = try Target(decoding: bytes) }
  }

  private func decodeAll(
    _ sql: String, _ decode: ([UInt8]) throws(ModelError) -> Void
  ) throws(LocalStoreError) {
    try connection.prepareOnce(sql).forEachRow { row throws(LocalStoreError) in
      do throws(ModelError) {
        try decode(row.blob(0))
      } catch {
        throw LocalStoreError(.corrupt, "The cache is damaged: \(error.message)")
      }
    }
  }
}
