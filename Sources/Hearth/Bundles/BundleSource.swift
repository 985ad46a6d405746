// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreLocal
import FirestoreModel
import FirestoreSync
import Foundation
import Synchronization

/// Where a bundle's bytes come from.
final class BundleSource: Sendable {
  private enum Origin {
    case data(Data)
    case stream(InputStream)
  }

  private let origin: Mutex<Origin>

  init(_ data: Data) { origin = Mutex(.data(data)) }
  init(_ stream: sending InputStream) { origin = Mutex(.stream(stream)) }

  /// Streams block, and taking a large bundle apart needs time, neither of which Swift's own threads should spend.
  private static let queue = DispatchQueue(label: "hearth.bundles")

  struct Content: Sendable {
    var bundle: FirestoreLocal.Bundle
    var byteCount: Int
  }

  /// - Throws: `invalidArgument` for what is no bundle of the database, or the stream's failure as `unknown`.
  func read(_ database: DatabaseID) async throws(FirestoreError) -> Content {
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
      Self.queue.async { [self] in
        continuation.resume(returning: Answer { () throws(FirestoreError) in try content(database) })
      }
    }
    return try result.get()
  }

  private typealias Answer = Result<Content, FirestoreError>

  private func content(_ database: DatabaseID) throws(FirestoreError) -> Content {
    let bytes = try bytes()
    do {
      return Content(bundle: try BundleReader.read(bytes, database: database), byteCount: bytes.count)
    } catch {
      throw FirestoreError(error)
    }
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
        throw FirestoreError(.unknown, "The bundle's stream could not be read\(reason)")
      }
      bytes += buffer[..<count]
    }
  }
}
