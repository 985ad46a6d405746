// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import NIOCore

/// A request that has ended, for the log of a server.
package struct LoggedRequest: Sendable {
  /// The HTTP method; gRPC calls are `POST`.
  package var method: String
  /// The path without the query.
  package var path: String
  /// The HTTP status, which is 200 for every gRPC call.
  package var status: Int
  /// The status of a gRPC call; `nil` for other requests.
  package var code: StatusCode?
  /// The time from the head of the request to the end of the response.
  package var time: Duration
  /// The header that identifies the caller.
  package var authorization: String?
  /// The text of a rejection, which can name the line of a security rule.
  package var rejection: String?

  package init(
    _ method: String, _ target: String, status: Int, code: StatusCode? = nil, since start: NIODeadline,
    authorization: String?, rejection: String? = nil
  ) {
    self.method = method
    path = String(target.prefix { $0 != "?" && $0 != "#" })
    (self.status, self.code) = (status, code)
    time = .nanoseconds((NIODeadline.now() - start).nanoseconds)
    (self.authorization, self.rejection) = (authorization, rejection)
  }
}

/// Receives each request that has ended, on the connections' thread.
package typealias RequestLog = @Sendable (LoggedRequest) -> Void
