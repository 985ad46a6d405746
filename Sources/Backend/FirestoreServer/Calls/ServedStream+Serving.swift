// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreService
import HTTP2Frames
import NIOCore

// The choice of who serves a request that is not answered where it arrives.

extension ServedStream {
  /// Begins to serve the request:
  /// ```
  /// HEADERS ─┬─ Listen ───────────► ListenCall
  ///          ├─ other methods ────► TaskCall: a task that reads messages and sends messages
  ///          ├─ no call of gRPC ──► what OtherCalls has for its path
  ///          ├─ other services ───► AuxiliaryCall, served as other methods are
  ///          └─ no such method ───► grpc-status 12
  /// ```
  /// - Parameter body: the part of the body that has come and is settled.
  func begin(_ body: ByteBuffer? = nil) {
    do throws(RPCStatus) {
      // A request may be refused for what its head says.
      guard let call = try makeCall(), !isOver else { return }
      serve(call)
      if let body {
        call.receive(body, size: 0, isLast: isRequestWhole)
      } else if isRequestWhole {
        call.receive(ByteBuffer(), size: 0, isLast: true)
      }
    } catch { end(error) }
  }

  /// - Returns: `nil` if the request is refused, which it has been told.
  /// - Throws: the status for a caller who gives a wrong proof of identity, and for methods that are not known.
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
    throw RPCStatus(.unimplemented, "There is no method \(path) here.")
  }
}
