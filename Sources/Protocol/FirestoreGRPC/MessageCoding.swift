// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore

/// Reads the messages of an answer in place, in the buffers in which they came.
struct AnswerReader<Answer: Sendable>: Sendable {
  typealias Read = @Sendable (inout WireReader) throws(WireError) -> Answer

  private let endpoint: String
  private let read: Read

  /// Makes a reader.
  /// - Parameter endpoint: the endpoint that is named when an answer cannot be read.
  init(_ endpoint: Endpoint, _ read: @escaping Read) {
    self.endpoint = endpoint.text
    self.read = read
  }

  /// Reads a message.
  /// - Throws: `internal` for bytes that are not such a message.
  func callAsFunction(_ message: ByteBuffer) throws(RPCStatus) -> Answer {
    let result: Result<Answer, WireError> = message.withUnsafeReadableBytes { buffer in
      var reader = WireReader(buffer)
      do throws(WireError) { return .success(try read(&reader)) } catch { return .failure(error) }
    }
    switch result {
    case .success(let answer): return answer
    case .failure(let error):
      throw RPCStatus(.internal, "The answer of \(endpoint) cannot be read: \(error.reason).")
    }
  }

  /// Reads messages up to one that cannot be read.
  /// - Returns: the reason for which it cannot; `nil` if all can.
  func read(_ messages: ArraySlice<ByteBuffer>, _ take: (Answer) -> Void) -> RPCStatus? {
    do throws(RPCStatus) {
      for message in messages { take(try self(message)) }
      return nil
    } catch { return error }
  }
}
