// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreService
import NIOCore

/// Answers a small request on the thread that receives its frames. A separate task would cost several times as much as
/// reading a document.
///
/// ```
/// HEADERS ─┬─ a prompt method, DATA END_STREAM ─► one step of the backend ──► HEADERS, DATA, HEADERS
///          │      waits while too much of earlier responses is unread
///          │      Commit: one step for all commits of a turn
///          └─ a request that is large, takes more than a step, or must wait for a lock ──► TaskCall
/// ```
final class PromptCall: StreamedCall {
  /// The maximum size of a small request.
  private static let smallBytes = 32 << 10

  private let stream: ServedStream
  private let method: FirestoreService.Method
  private var body = ByteBuffer()
  private var deadline: Scheduled<Void>?

  init(_ stream: ServedStream, _ method: FirestoreService.Method) { (self.stream, self.method) = (stream, method) }

  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool) {
    stream.settle(size)
    // The bytes are copied, so that they do not retain the whole buffer that was read.
    if body.readableBytes == 0, isLast { body = bytes } else { body.writeImmutableBuffer(bytes) }
    if isLast {
      stream.connection.answer(self)
    } else if body.readableBytes > Self.smallBytes {
      handOn()
    }
  }

  var awaitsWholeRequest: Bool { true }
  var isIncomplete: Bool { stream.isIncomplete }

  /// Starts to measure the caller's timeout. Most calls are answered before this is needed.
  func limitTime() {
    guard deadline == nil, !stream.isOver, let timeout = stream.head.call.timeout else { return }
    deadline = stream.loop.assumeIsolated().scheduleTask(in: timeout) { [weak self] in
      self?.giveUp(GRPCFraming.isOverdue)
    }
  }

  /// Answers the complete request.
  func answer() {
    deadline?.cancel()
    if stream.isOver { return }
    do throws(RPCStatus) {
      var rest = body
      // `TaskCall` rejects incomplete and overlong messages.
      guard let message = try? GRPCFraming.nextMessage(&rest, limit: Self.smallBytes), rest.readableBytes == 0 else {
        return handOn()
      }
      let service = try stream.connection.service(for: stream.head.call.authorization)
      if method == .commit, let order = try service.commitOrder(message) {
        let stream = stream
        return stream.connection.commit(order) { result in
          switch result {
          case .success(let message): Self.respond(stream, [message])
          case .failure(LocalBackend.locked) where !stream.isOver: self.handOn()
          case .failure(let status): stream.end(status)
          }
        }
      }
      guard let messages = try service.answerAtOnce(method, message) else { return handOn() }
      Self.respond(stream, messages)
    } catch { stream.end(error) }
  }

  private static func respond(_ stream: ServedStream, _ messages: [[UInt8]]) {
    stream.send(messages)
    stream.end(nil)
  }

  /// Passes the call to a task.
  private func handOn() {
    deadline?.cancel()
    let body = body
    stream.begin(body)
  }

  func giveUp(_ status: RPCStatus) {
    abandon()
    stream.end(status)
  }

  func resume() {}

  func abandon() {
    deadline?.cancel()
    body = ByteBuffer()
  }

  func shutDown() {}
}
