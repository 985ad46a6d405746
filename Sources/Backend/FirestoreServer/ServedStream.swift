// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreProtocol
import FirestoreService
package import HTTP2Frames
package import NIOCore
package import NIOHPACK

/// The handler of one request. Used on the connections' thread.
package protocol StreamedCall: AnyObject {
  /// Receives a part of the request's body.
  /// - Parameter size: the number of bytes to credit to the client with `settle`.
  func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool)
  /// Continues the response, because more output can be sent now.
  func resume()
  /// Stops, since the client no longer reads the response.
  func abandon()
  /// Whether the call cannot be answered before its request is complete.
  var awaitsWholeRequest: Bool { get }
  /// Ends the call because the rest of its request has not arrived.
  func giveUp(_ status: RPCStatus)
  /// Ends the call because the server shuts down. A call that soon ends anyway may continue.
  func shutDown()
}

/// A stream of a client's connection: one request and its response. Counts the memory of both:
/// ```
/// DATA in    counts until the call ends; for Listen and Write, until the first response
/// DATA out   counts until it is written, which may have to wait for the client's window
/// ```
package final class ServedStream {
  /// The size in bytes below which the head and the DATA of a call are not counted. Most calls end before counting
  /// would matter.
  private static let least = 1 << 10

  let connection: ServedConnection
  package let head: CallHead
  private let end: StreamEnd
  private var call: (any StreamedCall)?
  /// Whether the client has sent its whole request.
  private(set) var isRequestWhole: Bool
  /// Whether the response has ended, or the client has disconnected.
  package private(set) var isOver = false
  private(set) var hasHeaders = false
  /// The number of body bytes that have not arrived; `nil` if the client sent no content length.
  private var missing: Int?
  private var headBytes = 0
  private var requestBytes = 0
  private var responseBytes = 0
  /// The connection's `sweep` when the last part of the request arrived.
  private var lastSweep: Int
  private var awaitsRoom = false
  /// The time at which the head arrived; `nil` without a log.
  private let start: NIODeadline?

  init(_ connection: ServedConnection, _ end: StreamEnd, _ head: CallHead, isRequestWhole: Bool) {
    (self.connection, self.end, self.head, self.isRequestWhole) = (connection, end, head, isRequestWhole)
    missing = head.call.contentLength
    lastSweep = connection.sweep
    start = connection.log.map { _ in .now() }
  }

  package var loop: any EventLoop { connection.loop }
  package var budget: ConnectionBudget { connection.budget }
  /// The address of the client.
  package var address: String? { connection.frames.channel?.remoteAddress?.ipAddress }

  func serve(_ call: any StreamedCall) { self.call = call }

  /// Counts a large head, which stays in memory as long as the stream.
  /// - Returns: whether the limit allows the head.
  func countHead() -> Bool {
    if head.bytes < Self.least { return true }
    guard connection.budget.addRequest(head.bytes) else { return false }
    headBytes = head.bytes
    return true
  }

  private func releaseHead() {
    if headBytes == 0 { return }
    connection.budget.removeRequest(headBytes)
    headBytes = 0
  }

  /// Whether the call waits for the rest of its request.
  var isIncomplete: Bool { !isRequestWhole && !isOver && call?.awaitsWholeRequest == true }

  /// Ends the call if its client has sent nothing for a number of sweeps.
  func giveUp(after sweeps: Int, _ status: RPCStatus) {
    if isIncomplete, connection.sweep - lastSweep >= sweeps { call?.giveUp(status) }
  }

  // MARK: The request

  /// Credits the client for bytes of its request.
  package func settle(_ size: Int) { end.connection.settle(size, end) }

  /// Cancels the stream. gRPC clients report ENHANCE_YOUR_CALM as `resource-exhausted`.
  func breakOff(_ code: HTTP2Code) {
    leave()
    end.connection.breakOff(end, code)
  }

  package func cancel() { breakOff(.cancel) }

  private func count(_ bytes: Int, isLast: Bool) -> Bool {
    if let missing {
      self.missing = missing - bytes
      if missing < bytes || isLast && missing > bytes {
        breakOff(.protocolError)
        return false
      }
    }
    if requestBytes == 0, isLast, bytes < Self.least { return true }
    guard connection.budget.addRequest(bytes) else {
      breakOff(.enhanceYourCalm)
      return false
    }
    requestBytes += bytes
    return true
  }

  // MARK: The response

  /// Whether new output is sent immediately.
  package var isWritable: Bool { !isOver && end.isDrained && end.connection.isWritable }

  /// Makes the call resume when more output can be sent.
  package func awaitRoom() {
    // Bytes that wait for the client's window resume the call when they are sent.
    if awaitsRoom || isOver || !end.isDrained { return }
    awaitsRoom = true
    connection.blocked.append(self)
  }

  func resume() {
    awaitsRoom = false
    call?.resume()
  }

  /// Sends the response headers, which confirm that the call is being served.
  func greet() {
    if hasHeaders || isOver { return }
    hasHeaders = true
    end.connection.send(.headers(connection.headers, isLast: false), on: end)
  }

  func send(_ messages: [[UInt8]]) {
    greet()
    write(GRPCFraming.data(messages))
  }

  /// Ends the response of a call.
  /// - Parameter status: `nil` for success.
  func end(_ status: RPCStatus?) {
    if isOver { return }
    report(status)
    // A response without a message still has headers.
    if status == nil { greet() }
    let hasHeaders = hasHeaders
    finish(status.map { HeaderBlock(GRPCFraming.ending($0, hasHeaders: hasHeaders)) } ?? connection.success)
  }

  /// Reports the end of a call to the log.
  private func report(_ status: RPCStatus?) {
    guard let log = connection.log, let start else { return }
    log(
      LoggedRequest(
        "POST", head.call.path, status: 200, code: status?.code ?? .ok, since: start,
        authorization: head.call.authorization, rejection: status?.message))
  }

  /// Starts a response that is not a gRPC response.
  package func begin(_ headers: HPACKHeaders) {
    if isOver { return }
    hasHeaders = true
    end.connection.send(.headers(HeaderBlock(headers), isLast: false), on: end)
  }

  package func write(_ bytes: ByteBuffer) {
    if isOver { return }
    if requestBytes > 0, !isRequestWhole {
      connection.budget.removeRequest(requestBytes)
      requestBytes = 0
    }
    let count = bytes.readableBytes
    // A small message counts only if it must wait. Then the stream's own memory is counted too.
    let owed = count >= Self.least ? count : end.connection.takes(count, on: end) ? 0 : count + Self.least
    if owed > 0 {
      responseBytes += owed
      connection.budget.addResponse(owed)
    }
    end.connection.send(.data(bytes, owed: owed, isLast: false), on: end)
  }

  /// Ends a response that is not a gRPC response.
  package func finish() {
    if isOver { return }
    close()
    end.connection.send(.data(ByteBuffer(), owed: 0, isLast: true), on: end)
  }

  /// Ends the response with headers.
  func finish(_ headers: HeaderBlock) {
    if isOver { return }
    close()
    end.connection.send(.headers(headers, isLast: true), on: end)
  }

  // MARK: The end

  private func close() {
    (isOver, call) = (true, nil)
    if requestBytes == 0 { return }
    connection.budget.removeRequest(requestBytes)
    requestBytes = 0
  }

  /// Releases everything, because nothing more will be sent.
  private func leave() {
    let call = call
    // A call whose client has disconnected ends without a response. Requests that are not calls log their end
    // themselves.
    if !isOver, head.call.isCall { report(RPCStatus(.cancelled, "")) }
    close()
    releaseHead()
    call?.abandon()
    if responseBytes == 0 { return }
    let bytes = responseBytes
    responseBytes = 0
    connection.budget.removeResponse(bytes)
  }

  func shutDown() { call?.shutDown() }
}

extension ServedStream: StreamOwner {
  package func receive(_ block: HeaderBlock, isLast: Bool, on end: StreamEnd) {
    guard isLast, block.headers.areTrailers else { return breakOff(.protocolError) }
    receive(ByteBuffer(), size: 0, isLast: true, on: end)
  }

  package func receive(_ bytes: ByteBuffer, size: Int, isLast: Bool, on end: StreamEnd) {
    // The call has ended, so the rest of its request is not needed.
    guard call != nil else { return settle(size) }
    guard count(bytes.readableBytes, isLast: isLast) else { return }
    isRequestWhole = isLast
    lastSweep = connection.sweep
    call?.receive(bytes, size: size, isLast: isLast)
  }

  package func receive(_ code: HTTP2Code, on end: StreamEnd) { leave() }

  package func hasSent(_ owed: Int, on end: StreamEnd) {
    responseBytes -= owed
    connection.budget.removeResponse(owed)
  }

  package func hasDrained(_ end: StreamEnd) { call?.resume() }

  package func hasSaidOut(_ end: StreamEnd) {
    releaseHead()
    // This resets the stream with NO_ERROR if the client is still sending: the call has been answered.
    end.connection.drop(end, .noError)
  }
}

// Selects the handler of a request that is not a prompt call.

extension ServedStream {
  /// Starts to serve the request:
  /// ```
  /// HEADERS ─┬─ Listen ───────────► ListenCall
  ///          ├─ other methods ────► TaskCall: a task that reads messages and sends messages
  ///          ├─ not a gRPC call ──► the handler that OtherCalls has for its path
  ///          ├─ other services ───► AuxiliaryCall, in a TaskCall
  ///          └─ unknown method ───► grpc-status 12
  /// ```
  /// - Parameter body: the part of the body that has arrived and has already been credited.
  func begin(_ body: ByteBuffer? = nil) {
    do throws(RPCStatus) {
      // `makeCall` may have rejected the request because of its head.
      guard let call = try makeCall(), !isOver else { return }
      serve(call)
      if let body {
        call.receive(body, size: 0, isLast: isRequestWhole)
      } else if isRequestWhole {
        call.receive(ByteBuffer(), size: 0, isLast: true)
      }
    } catch { end(error) }
  }

  /// - Returns: `nil` if the request is rejected; the rejection is already sent.
  /// - Throws: the status for a caller with invalid credentials, and for unknown methods.
  private func makeCall() throws(RPCStatus) -> (any StreamedCall)? {
    let (call, service) = (head.call, connection.service)
    if let other = connection.others?.call(on: self, path: call.path, service) { return other }
    if let objection = head.objection {
      finish(HeaderBlock(objection))
      return nil
    }
    if call.method == "Listen" {
      return ListenCall(self, try service.serving(as: call.authorization), timeout: call.timeout)
    }
    if let work = call.method.flatMap({ TaskCall.Work(method: $0) }) {
      return TaskCall(self, try service.serving(as: call.authorization), work, timeout: call.timeout)
    }
    return TaskCall(
      self, service, .auxiliary(try auxiliary(call.path, call.authorization, service)), timeout: call.timeout)
  }

  private func auxiliary(
    _ path: String, _ authorization: String?, _ service: FirestoreService
  ) throws(RPCStatus) -> any AuxiliaryCall {
    if path.hasPrefix(FirestoreService.AdminMethod.root),
      let call = AdminCall(path, try service.serving(as: authorization))
    {
      return call
    }
    if path == FollowCommits.path, let call = FollowCall(path, try service.serving(as: authorization)) { return call }
    if let call = try connection.others?.call(path, authorization, service) { return call }
    throw RPCStatus(.unimplemented, "Unknown method \(path).")
  }
}
