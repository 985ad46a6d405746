// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import GRPCCore
import SwiftProtobuf

extension RPCStatus {
  /// - Returns: `nil` for "OK". A number that is no code counts as `unknown`.
  package init?(_ message: Wire.Status) {
    if message.code == 0 { return nil }
    self.init(StatusCode(rawValue: Int(message.code)) ?? .unknown, message.message)
  }

  package var wireStatus: Wire.Status { .with { ($0.code, $0.message) = (Int32(code.rawValue), message) } }

  package init(_ error: ModelError) { self.init(error.code, error.message) }

  package init(_ error: RPCError) { self.init(StatusCode(error.code), error.message) }

  /// What ends a call on the wire.
  package var rpcError: RPCError { RPCError(code: code.rpcCode, message: message) }
}

extension StatusCode {
  package init(_ code: RPCError.Code) { self = StatusCode(rawValue: code.rawValue) ?? .unknown }

  /// `unknown` for `ok`, which is no error.
  package var rpcCode: RPCError.Code {
    Status.Code(rawValue: rawValue).flatMap { RPCError.Code($0) } ?? .unknown
  }
}
