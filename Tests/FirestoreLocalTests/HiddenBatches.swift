// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

@testable import FirestoreLocal

extension LocalStore {
  /// Makes everything that is read of the batches after this one fail.
  func hideBatches(after id: BatchID) throws { try hideBatches("id > \(id.rawValue)") }

  /// Makes everything that is read of a user's batches fail.
  func hideBatches(of user: String) throws {
    try hideBatches("user IN (SELECT id FROM users WHERE name = '\(user)')")
  }

  private func hideBatches(_ condition: String) throws {
    let connection = database.connection
    try connection.execute("CREATE TEMP TABLE hidden AS SELECT * FROM mutation_batches WHERE \(condition)")
    try connection.execute("UPDATE mutation_batches SET batch = x'ff' WHERE \(condition)")
  }

  func showBatches() throws {
    let connection = database.connection
    try connection.execute(
      """
      UPDATE mutation_batches SET batch = (SELECT batch FROM hidden WHERE hidden.id = mutation_batches.id)
      WHERE id IN (SELECT id FROM hidden)
      """)
    try connection.execute("DROP TABLE hidden")
  }
}
