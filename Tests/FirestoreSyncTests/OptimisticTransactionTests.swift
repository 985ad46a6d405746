// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSync
import FirestoreTesting
import Testing

/// What a transaction's commit demands of the documents that the transaction read.
@Suite
struct OptimisticTransactionTests {
  private let a = key("cities/a")
  private let b = key("cities/b")
  private let c = key("cities/c")

  private static func key(_ path: String) -> DocumentKey { DocumentKey(unchecked: ResourcePath(path)) }

  private func found(_ key: DocumentKey, at seconds: Int64) -> Document {
    Document(key: key, version: version(seconds), state: .found(DocumentData(Fields())))
  }

  private func missing(_ key: DocumentKey, at seconds: Int64) -> Document {
    Document(key: key, version: version(seconds), state: .missing)
  }

  private func version(_ seconds: Int64) -> SnapshotVersion { SnapshotVersion(Timestamp(seconds: seconds)) }

  @Test("In a transaction, documents that were read get preconditions, others do not")
  func preconditions() throws {
    var transaction = OptimisticTransaction()
    try transaction.note([found(a, at: 1), missing(b, at: 9)])
    for key in [a, a, b, c] { transaction.write(Mutation(key: key, operation: .delete)) }
    #expect(
      try transaction.finish().map(\.precondition)
        == [.updateTime(version(1)), .none, .exists(false), .none])
  }

  @Test("Documents that were read but not written are verified at commit")
  func verification() throws {
    var transaction = OptimisticTransaction()
    try transaction.note([missing(b, at: 9), found(a, at: 1)])
    #expect(
      try transaction.finish() == [
        Mutation(key: b, operation: .verify, precondition: .exists(false)),
        Mutation(key: a, operation: .verify, precondition: .updateTime(version(1))),
      ])
  }

  @Test("Reading two versions of a document aborts a transaction, unless both are missing")
  func changedBetweenReads() throws {
    var transaction = OptimisticTransaction()
    try transaction.note([found(a, at: 1), missing(b, at: 1)])
    try transaction.note([found(a, at: 1), missing(b, at: 2)])
    #expect { try transaction.note([found(a, at: 2)]) } throws: { ($0 as? RPCStatus)?.code == .aborted }
    #expect { try transaction.note([missing(a, at: 2)]) } throws: { ($0 as? RPCStatus)?.code == .aborted }
  }

  @Test("A transaction's commit reports its first invalid write")
  func failure() throws {
    var transaction = OptimisticTransaction()
    try transaction.note([missing(a, at: 1)])
    let mask = FieldMask([FieldPath(segments: ["name"])])
    transaction.write(Mutation(key: a, operation: .patch(Fields(), mask), precondition: .exists(true)))
    transaction.fail(RPCStatus(.internal, "Later."))
    #expect { try transaction.checkReadable() } throws: { ($0 as? RPCStatus)?.code == .invalidArgument }
    #expect { _ = try transaction.finish() } throws: { ($0 as? RPCStatus)?.code == .invalidArgument }
  }
}
