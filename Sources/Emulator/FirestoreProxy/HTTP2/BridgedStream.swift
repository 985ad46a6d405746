// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOHPACK
import NIOHTTP2

/// One stream of a client's connection, and the stream of the server's that answers it.
final class BridgedStream {
  let number: Int
  let clientID: HTTP2StreamID
  let method: ProxiedMethod
  let isGRPC: Bool
  let began = NIODeadline.now()
  /// The pieces on their way to the server, and to the client.
  let toServer: Conveyor
  let toClient: Conveyor
  /// The connection to the server on which it goes on.
  var upstream: Upstream?
  var serverID: HTTP2StreamID?
  /// Requests whose messages are decided on one by one.
  var requests = RequestAssembly()
  var counted = MessageCounter()
  var answers = MessageCounter()
  /// Whether each write that was passed on will lose its answer, in order; of a stream the handshake is none.
  var losses: [Bool] = []
  var hasShakenHands = false
  var hasAnswerHead = false
  /// Whether the client has ended its requests, and whether it has the end of the answer.
  var isRequestOver = false
  var isOver = false
  /// Whether the end of the answer has come, or the proxy has answered.
  var isAnswerOver = false
  var answerBytes = 0

  init(_ number: Int, _ clientID: HTTP2StreamID, _ method: ProxiedMethod, isGRPC: Bool, on loop: any EventLoop) {
    (self.number, self.clientID, self.method, self.isGRPC) = (number, clientID, method, isGRPC)
    (toServer, toClient) = (Conveyor(loop), Conveyor(loop))
  }

  /// Takes a message of a stream of writes' answers.
  /// - Returns: whether it is to be lost.
  func losesAnswer() -> Bool {
    guard method.kind == .writes else { return false }
    if !hasShakenHands {
      hasShakenHands = true
      return false
    }
    return losses.isEmpty ? false : losses.removeFirst()
  }

  /// Whether its requests are taken message by message, so that faults can hit one.
  var isAssembled: Bool { isGRPC && [.listen, .writes, .commit].contains(method.kind) }
}

/// A connection to the server.
final class Upstream {
  enum State { case connecting, open, closed }

  var handler: FrameHandler?
  var state = State.connecting
  /// Whether it takes no more streams.
  var isRetiring = false
  var streams: [HTTP2StreamID: BridgedStream] = [:]
  /// The sends that wait until it is there.
  var waiting: [() -> Void] = []
  private var lastID = -1

  func nextID() -> HTTP2StreamID {
    lastID += 2
    return HTTP2StreamID(lastID)
  }
}

/// The bytes of requests until a message is whole.
struct RequestAssembly {
  static let front = 5

  private var bytes = ByteBuffer()
  /// The bytes for which the client has been given no room yet.
  private var owed = 0

  var size: Int { bytes.readableBytes }

  /// - Parameter owed: the bytes that the client has used of its room, padding included.
  mutating func append(_ more: ByteBuffer, owed: Int) {
    var more = more
    bytes.writeBuffer(&more)
    self.owed += owed
  }

  /// Takes so many bytes of what is owed to the client, or what there is.
  mutating func settle(_ most: Int) -> Int {
    let settled = min(owed, most)
    owed -= settled
    return settled
  }

  /// Takes what is no whole message.
  mutating func takeRest() -> ByteBuffer {
    defer { bytes = ByteBuffer() }
    return bytes
  }

  /// - Parameter limit: the most bytes of a message.
  /// - Returns: the next message with the five bytes in front; `nil` while it is not whole.
  mutating func next(limit: Int) throws(RPCStatus) -> ByteBuffer? {
    guard let length = bytes.getInteger(at: bytes.readerIndex + 1, as: UInt32.self), size >= Self.front else {
      return nil
    }
    if length > limit {
      throw RPCStatus(.resourceExhausted, "A message of \(length) bytes; the proxy takes \(limit).")
    }
    let message = bytes.readSlice(length: Self.front + Int(length))
    if message != nil { bytes.discardReadBytes() }
    return message
  }
}
