// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
import FirestoreProtoJSON

/// The methods that are streams both ways, and their messages as the JSON that browsers send and receive.
package enum StreamMethod: String, Sendable, CaseIterable {
  case listen = "Listen"
  case write = "Write"

  /// The request as the service takes it.
  /// - Parameter json: one message.
  /// - Throws: `invalid-argument`.
  package func request(_ json: [UInt8]) throws(RPCStatus) -> [UInt8] {
    try MessageReader.bytes(
      of: try JSONSyntax(payload: json), self == .listen ? Schema.listenRequest : Schema.writeRequest, .spelledOut)
  }

  /// A message of the service as JSON, on one line.
  package func response(_ message: [UInt8]) throws(RPCStatus) -> [UInt8] {
    do throws(WireError) {
      let schema = self == .listen ? Schema.listenResponse : Schema.writeResponse
      return try MessageWriter.text(of: message, schema, isPretty: false)
    } catch { throw RPCStatus(.internal, "The answer cannot be written as JSON: \(error.reason).") }
  }

  /// The last message of a stream that ends with an error: its text begins with the status, as the emulator's does.
  package static func end(with status: RPCStatus) -> [UInt8] {
    RPCStatus(status.code, "\(status.code.rpcName): \(status.message)").json(status.code.httpStatus, isPretty: false)
  }
}
