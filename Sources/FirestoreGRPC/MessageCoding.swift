// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import GRPCCore

/// Hands gRPC a request that was written before.
struct RequestBytes: MessageSerializer {
  func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }
}

/// Reads an answer in place, in the buffer in which it came.
struct AnswerReader<Answer: Sendable>: MessageDeserializer {
  typealias Read = @Sendable (inout WireReader) throws(WireError) -> Answer

  private let endpoint: String
  private let read: Read

  /// - Parameter endpoint: who is named when an answer cannot be read.
  init(_ endpoint: Endpoint, _ read: @escaping Read) {
    self.endpoint = endpoint.text
    self.read = read
  }

  /// - Throws: `internal`, for bytes that are not such a message. gRPC passes on errors of its own type alone.
  func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Answer {
    let result: Result<Answer, WireError> = bytes.withUnsafeBytes { buffer in
      var reader = WireReader(buffer)
      do throws(WireError) { return .success(try read(&reader)) } catch { return .failure(error) }
    }
    switch result {
    case .success(let answer): return answer
    case .failure(let error):
      throw RPCError(
        code: .internalError, message: "The answer of \(endpoint) cannot be read: \(error.reason).")
    }
  }
}

extension StatusCode {
  init(_ code: RPCError.Code) { self = StatusCode(rawValue: code.rawValue) ?? .unknown }
}
