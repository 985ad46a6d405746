// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Tells by its first byte what a connection on the data's socket is for.
///
/// ```
/// P  the preface of HTTP/2 ──► calls of a process on this machine
/// h  hearth …              ──► who comes, and hears who is here
///    anything else         ──► the end: ports speak HTTP/1, this socket does not
/// ```
final class SocketGreetingHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  struct Kinds: Sendable {
    let calls: CallPipeline
    let attendance: Attendance
  }

  /// The time within which a peer has to send its first byte.
  private static let patience = TimeAmount.seconds(10)

  private let kinds: Kinds
  private let process: Int32
  private var deadline: Scheduled<Void>?

  init(_ kinds: Kinds, process: Int32) {
    self.kinds = kinds
    self.process = process
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    guard let first = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) else { return }
    do {
      switch first {
      case UInt8(ascii: "h"):
        try context.pipeline.syncOperations.addHandler(AttendanceHandler(kinds.attendance, process: process))
      case UInt8(ascii: "P"):
        try kinds.calls.configure(context.channel, kinds.calls.connection(on: context.eventLoop))
      default: return context.close(promise: nil)
      }
    } catch { return context.close(promise: nil) }
    if bytes.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(bytes)) }
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
