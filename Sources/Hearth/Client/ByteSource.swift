// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// Bytes that a caller has, or that a stream of the caller's gives.
final class ByteSource: Sendable {
  private enum Origin {
    case data(Data)
    case stream(InputStream)
  }

  private let origin: Mutex<Origin>

  init(_ data: Data) { origin = Mutex(.data(data)) }
  init(_ stream: sending InputStream) { origin = Mutex(.stream(stream)) }

  /// Streams block, and taking much apart needs time, neither of which Swift's own threads should spend.
  private static let queue = DispatchQueue(label: "hearth.reading", attributes: .concurrent)

  /// What a closure makes of all bytes, off the caller's thread.
  /// - Throws: the closure's error, or the stream's failure as `unknown`.
  func read<Content: Sendable>(
    _ take: @escaping @Sendable ([UInt8]) throws(FirestoreError) -> Content
  ) async throws(FirestoreError) -> Content {
    typealias Answer = Result<Content, FirestoreError>
    let answer = await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
      Self.queue.async { [self] in
        continuation.resume(returning: Answer { () throws(FirestoreError) in try take(try bytes()) })
      }
    }
    return try answer.get()
  }

  private func bytes() throws(FirestoreError) -> [UInt8] {
    try origin.withLock { origin -> Result<[UInt8], FirestoreError> in
      switch origin {
      case .data(let data): return .success([UInt8](data))
      case .stream(let stream): return Result { () throws(FirestoreError) in try Self.readAll(stream) }
      }
    }.get()
  }

  private static func readAll(_ stream: InputStream) throws(FirestoreError) -> [UInt8] {
    stream.open()
    defer { stream.close() }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = stream.read(&buffer, maxLength: buffer.count)
      if count == 0 { return bytes }
      guard count > 0 else {
        let reason = stream.streamError.map { ": \($0.localizedDescription)" } ?? "."
        throw FirestoreError(.unknown, "The stream could not be read\(reason)")
      }
      bytes += buffer[..<count]
    }
  }
}
