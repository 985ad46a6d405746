// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

// How transactions begin, and end without a commit.

extension WireReader {
  /// The content of a `google.firestore.v1.BeginTransactionRequest`.
  package mutating func beginTransactionRequest() throws(WireError) -> (database: String, TransactionOptions) {
    var (database, options) = ("", TransactionOptions.readWrite(retrying: nil))
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): database = try string()
      case (2, .lengthDelimited): options = try transactionOptions()
      default: try skip(tag.type)
      }
    }
    return (database, options)
  }

  /// The content of a `google.firestore.v1.RollbackRequest`.
  package mutating func rollbackRequest() throws(WireError) -> (database: String, transaction: [UInt8]) {
    var (database, id) = ("", [UInt8]())
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): database = try string()
      case (2, .lengthDelimited): id = try byteArray()
      default: try skip(tag.type)
      }
    }
    return (database, id)
  }
}

extension WireWriter {
  /// The content of a `google.firestore.v1.BeginTransactionResponse`.
  package mutating func beginTransactionResponse(_ transaction: [UInt8]) { field(1, bytes: transaction) }
}
