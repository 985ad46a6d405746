// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The version at which a request reads (`consistency_selector`).
package enum ConsistencySelector: Sendable {
  case latest
  case transaction([UInt8])
  case newTransaction(TransactionOptions)
  case readTime(Timestamp)
}

package enum TransactionOptions: Sendable {
  /// A transaction that only reads.
  /// - Parameter readTime: the time to read at, instead of the time at which the transaction begins.
  case readOnly(readTime: Timestamp?)
  /// A transaction that reads and writes.
  /// - Parameter retrying: the id of an earlier attempt at the same work.
  case readWrite(retrying: [UInt8]?)
}

extension WireReader {
  /// A field that holds a `google.firestore.v1.TransactionOptions`.
  mutating func transactionOptions() throws(WireError) -> TransactionOptions {
    var (options, reader) = (TransactionOptions.readWrite(retrying: nil), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited): options = .readOnly(readTime: try reader.readTime())
      case (3, .lengthDelimited): options = .readWrite(retrying: try reader.retriedTransaction())
      default: try reader.skip(tag.type)
      }
    }
    return options
  }

  private mutating func readTime() throws(WireError) -> Timestamp? {
    var time: Timestamp?
    try message(with: 2, .lengthDelimited) { reader throws(WireError) in time = try reader.timestamp() }
    return time
  }

  private mutating func retriedTransaction() throws(WireError) -> [UInt8]? {
    var id: [UInt8] = []
    try message(with: 1, .lengthDelimited) { reader throws(WireError) in id = try reader.byteArray() }
    return id.isEmpty ? nil : id
  }
}

// The messages with which transactions begin, and end without a commit.

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
