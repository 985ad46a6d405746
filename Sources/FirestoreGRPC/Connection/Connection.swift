// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOHPACK
import Synchronization
import TransportSecurity

/// The way to one endpoint: an HTTP/2 connection that is made when it is first needed.
///
/// After a failure the next call gets a fresh one at once: how long to wait between attempts is the client's backoff to
/// say (`ClientStream`).
final class Connection: Sendable {
  /// How a broken line is noticed while nothing is sent.
  struct Keepalive: Hashable, Sendable {
    /// Silence after which the peer is asked for a sign of life. Backends refuse less than 30 s.
    var time = Duration.seconds(30)
    /// How long the peer may take to give it, or to say anything when a connection is new.
    var timeout = Duration.seconds(10)
  }

  private struct State {
    /// The newest attempt, unless no more calls may begin on what came of it.
    var current: (id: Int, connection: EventLoopFuture<HTTP2Connection>)?
    /// With those that only wait for their last call.
    var open: [Int: HTTP2Connection] = [:]
    var attempts = 0
  }

  private let endpoint: Endpoint
  private let keepalive: Keepalive
  /// Reading the system's certificates takes milliseconds: done once.
  private let tls: Result<TLSContext?, RPCStatus>
  private let state = Mutex(State())

  init(to endpoint: Endpoint, keepalive: Keepalive = Keepalive()) {
    self.endpoint = endpoint
    self.keepalive = keepalive
    tls = endpoint.contextForTLS()
  }

  deinit { _ = closeAll() }

  /// Begins a call on the connection that there is, or on a new one.
  /// - Parameters:
  ///   - message: the whole request; `nil` for one that is sent piece by piece.
  ///   - timeout: after which the call fails, once it has begun.
  /// - Throws: `RPCStatus` for an endpoint that cannot be connected to, such as trust roots that cannot be read;
  ///   `TransportFailure`; `CancellationError`.
  func call(_ headers: HPACKHeaders, _ message: [UInt8]?, timeout: Duration?) async throws -> BegunCall {
    let (id, connection) = try current()
    let begun = connection.flatMap { $0.call(headers, message, timeout: timeout.map { TimeAmount($0) }) }
    do {
      return BegunCall(stream: try await begun.value(), connection: id)
    } catch {
      if error is CancellationError { begun.whenSuccess { $0.abandon() } } else { retire(id) }
      throw error
    }
  }

  /// Has later calls go over a new connection, unless they do already; calls under way end as they will.
  /// - Parameter id: of the connection that is not to be trusted.
  func retire(_ id: Int) {
    let connection = state.withLock { state in
      if state.current?.id == id { state.current = nil }
      return state.open[id]
    }
    connection?.retire()
  }

  /// As `retire` for the connection that there is.
  func retireCurrent() {
    if let id = state.withLock({ $0.current?.id }) { retire(id) }
  }

  /// Ends all calls and waits until the connections are closed.
  func close() async {
    for closed in closeAll() { try? await closed.get() }
  }

  private func closeAll() -> [EventLoopFuture<Void>] {
    let (open, current) = state.withLock { state in
      defer { (state.open, state.current) = ([:], nil) }
      return (state.open, state.current)
    }
    // One that is still being made is not waited for.
    if let current, open[current.id] == nil { current.connection.whenSuccess { _ = $0.close() } }
    return open.values.map { $0.close() }
  }

  private func current() throws(RPCStatus) -> (id: Int, connection: EventLoopFuture<HTTP2Connection>) {
    let tls = try tls.get()
    if let current = state.withLock({ $0.current }) { return current }
    let promise = HTTP2Connection.makePromise()
    let (id, isNew, connection) = state.withLock { state in
      if let current = state.current { return (current.id, false, current.connection) }
      state.attempts += 1
      state.current = (state.attempts, promise.futureResult)
      return (state.attempts, true, promise.futureResult)
    }
    guard isNew else {
      promise.fail(CancellationError())
      return (id, connection)
    }
    HTTP2Connection.open(to: endpoint, tls: tls, keepalive) { [weak self] in self?.retire(id) }.cascade(to: promise)
    connection.whenComplete { [weak self] result in
      guard case .success(let connection) = result else { self?.retire(id); return }
      self?.keep(connection, id)
    }
    return (id, connection)
  }

  private func keep(_ connection: HTTP2Connection, _ id: Int) {
    state.withLock { $0.open[id] = connection }
    connection.closed.whenComplete { [weak self] _ in
      self?.retire(id)
      self?.state.withLock { $0.open[id] = nil }
    }
  }
}

/// A call, and the connection it is made on.
struct BegunCall: Sendable {
  let stream: CallStream
  let connection: Int
}

extension Endpoint {
  /// What TLS is spoken with; `nil` in plain text.
  fileprivate func contextForTLS() -> Result<TLSContext?, RPCStatus> {
    guard case .tls(let trustRoots) = security else { return .success(nil) }
    do throws(TLSFailure) {
      return .success(try TLSContext(trustRoots: trustRoots, http2: true))
    } catch .unreadableCertificate(let file) {
      let complaint = "The certificates to trust in \(file) cannot be read. Check --trust: a file with certificates as PEM."
      return .failure(RPCStatus(.invalidArgument, complaint))
    } catch {
      return .failure(RPCStatus(.invalidArgument, "No connection to \(text) can be set up: \(error)"))
    }
  }
}
