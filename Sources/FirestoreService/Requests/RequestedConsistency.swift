// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel

/// A request's `consistency_selector`.
enum RequestedConsistency {
  case latest
  case readTime(Timestamp)
  case transaction([UInt8])
  case newTransaction(TransactionOptions)
}

extension RequestField {
  /// A `TransactionOptions`.
  mutating func transactionOptions() throws(RPCStatus) -> TransactionOptions? {
    try message { inner throws(RPCStatus) in
      var options = TransactionOptions.readWrite(retrying: nil)
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 2:
          let readOnly = try field.message { inner throws(RPCStatus) in
            var time: Timestamp?
            try inner.fields { number, field throws(RPCStatus) in
              if number == 2 { time = try field.timestamp() ?? time }
            }
            return TransactionOptions.readOnly(readTime: time)
          }
          options = readOnly ?? options
        case 3:
          let readWrite = try field.message { inner throws(RPCStatus) in
            var retried: [UInt8]?
            try inner.fields { number, field throws(RPCStatus) in
              if number == 1, let bytes = try field.bytes(), !bytes.isEmpty { retried = bytes }
            }
            return TransactionOptions.readWrite(retrying: retried)
          }
          options = readWrite ?? options
        default: break
        }
      }
      return options
    }
  }
}
