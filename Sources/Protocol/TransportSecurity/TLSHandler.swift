// SPDX-License-Identifier: Apache-2.0
import COpenSSL
package import NIOCore

/// Handles TLS on one connection. OpenSSL reads from one buffer in memory and writes to another. This handler fills the
/// first buffer and empties the second:
/// ```
/// network ─► received ─► SSL_read ─► the next handler
/// network ◄─ toSend ◄─ SSL_write ◄─ the next handler
/// ```
package final class TLSHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  private enum State {
    case handshake, open, closed
  }

  let ssl: OpaquePointer
  private let received: OpaquePointer?
  private let toSend: OpaquePointer?
  private var state = State.handshake
  /// The writes that are waiting for the end of the handshake, or for `flush`.
  private var pending = MarkedCircularBuffer<(ByteBuffer, EventLoopPromise<Void>?)>(initialCapacity: 4)

  /// Creates the handler, which takes ownership of the OpenSSL connection.
  init(_ ssl: OpaquePointer) {
    self.ssl = ssl
    received = BIO_new(BIO_s_mem())
    toSend = BIO_new(BIO_s_mem())
    SSL_set_bio(ssl, received, toSend)
  }

  deinit { SSL_free(ssl) }

  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { shakeHands(context) }
  }

  package func handlerRemoved(context: ChannelHandlerContext) { failPending(ChannelError.ioOnClosedChannel) }

  package func channelActive(context: ChannelHandlerContext) {
    shakeHands(context)
    context.fireChannelActive()
  }

  package func channelInactive(context: ChannelHandlerContext) {
    let wasShaking = state == .handshake
    state = .closed
    if wasShaking { context.fireErrorCaught(TLSFailure.cut) }
    failPending(wasShaking ? TLSFailure.cut : ChannelError.ioOnClosedChannel)
    context.fireChannelInactive()
  }

  // MARK: What comes

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard state != .closed else { return }
    let bytes = unwrapInboundIn(data)
    let isStored = bytes.withUnsafeReadableBytes { BIO_write(received, $0.baseAddress, Int32($0.count)) }
    guard Int(isStored) == bytes.readableBytes else { return fail(TLSFailure.last(), context) }
    if state == .handshake { shakeHands(context) }
    if state == .open { readAll(context) }
  }

  private func shakeHands(_ context: ChannelHandlerContext) {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    if result == 1 {
      state = .open
      send(context, nil)
      writePending(context)
      return context.flush()
    }
    if SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ { return fail(handshakeFailure(), context) }
    send(context, nil)
    context.flush()
  }

  private func handshakeFailure() -> TLSFailure {
    let reason = TLSFailure.last()
    let verdict = SSL_get_verify_result(ssl)
    switch Int32(verdict) {
    case X509_V_OK: return reason
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: return .wrongHost
    default: return .untrusted(String(cString: X509_verify_cert_error_string(verdict)))
    }
  }

  private func readAll(_ context: ChannelHandlerContext) {
    var plain = context.channel.allocator.buffer(capacity: Int(hearth_bio_pending(received)))
    while true {
      ERR_clear_error()
      var count: Int32 = 0
      plain.writeWithUnsafeMutableBytes(minimumWritableBytes: 16 << 10) { space in
        count = SSL_read(ssl, space.baseAddress, Int32(clamping: space.count))
        return Int(max(0, count))
      }
      if count > 0 { continue }
      let error = SSL_get_error(ssl, count)
      let failure = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_ZERO_RETURN ? nil : TLSFailure.last()
      // OpenSSL may have created a key update or an alert to send.
      send(context, nil)
      context.flush()
      if plain.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(plain)) }
      if let failure { return fail(failure, context) }
      if error == SSL_ERROR_ZERO_RETURN { close(context: context, mode: .all, promise: nil) }
      return
    }
  }

  // MARK: What goes

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if state == .closed {
      promise?.fail(ChannelError.ioOnClosedChannel)
    } else {
      pending.append((unwrapOutboundIn(data), promise))
    }
  }

  package func flush(context: ChannelHandlerContext) {
    pending.mark()
    if state == .open { writePending(context) }
    context.flush()
  }

  private func writePending(_ context: ChannelHandlerContext) {
    while pending.hasMark, let (bytes, promise) = pending.popFirst() {
      guard bytes.readableBytes > 0 else {
        promise?.succeed()
        continue
      }
      ERR_clear_error()
      // The memory buffer accepts all bytes.
      let count = bytes.withUnsafeReadableBytes { SSL_write(ssl, $0.baseAddress, Int32(clamping: $0.count)) }
      guard Int(count) == bytes.readableBytes else {
        let failure = TLSFailure.last()
        promise?.fail(failure)
        return fail(failure, context)
      }
      send(context, promise)
    }
  }

  /// Sends OpenSSL's output to the network.
  private func send(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    let count = Int(hearth_bio_pending(toSend))
    guard count > 0 else {
      promise?.succeed()
      return
    }
    var bytes = context.channel.allocator.buffer(capacity: count)
    bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { space in
      Int(max(0, BIO_read(toSend, space.baseAddress, Int32(clamping: count))))
    }
    context.write(wrapOutboundOut(bytes), promise: promise)
  }

  // MARK: The end

  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if state == .open, mode != .input {
      // Sends close_notify without waiting for an answer.
      ERR_clear_error()
      _ = SSL_shutdown(ssl)
      send(context, nil)
      context.flush()
    }
    if mode == .all { state = .closed }
    context.close(mode: mode, promise: promise)
  }

  private func fail(_ failure: TLSFailure, _ context: ChannelHandlerContext) {
    state = .closed
    // This sends the peer an alert with the reason.
    send(context, nil)
    context.flush()
    failPending(failure)
    context.fireErrorCaught(failure)
    context.close(promise: nil)
  }

  private func failPending(_ error: any Error) {
    while let (_, promise) = pending.popFirst() { promise?.fail(error) }
  }
}
