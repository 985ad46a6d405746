// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOPosix
import SerialExecutors
import Synchronization
import TransportSecurity

/// The HTTP/2 connection to one endpoint, opened on first use.
///
/// After a failure, the next call immediately opens a new connection. The client's backoff decides how long to wait
/// between attempts (`ClientStream`).
final class Connection: Sendable {
  /// The times that determine when a broken connection is detected.
  struct Keepalive: Hashable, Sendable {
    /// The duration of silence after which the client sends a ping. Backends reject intervals shorter than 30 s.
    var time = Duration.seconds(30)
    /// The time within which the peer must answer a ping or, on a new connection, send its settings.
    var timeout = Duration.seconds(10)
  }

  private struct State {
    /// The newest attempt to connect; `nil` if no more calls may start on its connection.
    var current: (id: Int, connection: EventLoopFuture<HTTP2Connection>)?
    /// The open connections. Includes retired connections whose last call has not ended yet.
    var open: [Int: HTTP2Connection] = [:]
    var attempts = 0
  }

  private let endpoint: Endpoint
  private let heads: RequestHeads
  private let keepalive: Keepalive
  private let thread: ConnectionThread
  /// The TLS context. It is created only once, because reading the system's certificates takes milliseconds.
  private let tls: Result<TLSContext?, RPCStatus>
  private let state = Mutex(State())

  /// - Parameter database: the database that all calls use.
  init(
    to endpoint: Endpoint, database: DatabaseID, keepalive: Keepalive = Keepalive(),
    on thread: ConnectionThread = ConnectionThread()
  ) {
    self.endpoint = endpoint
    heads = RequestHeads(database: database, at: endpoint)
    self.keepalive = keepalive
    self.thread = thread
    tls = endpoint.contextForTLS()
  }

  deinit { _ = closeAll() }

  /// Starts a call on the current connection, or on a new one. If the caller is on the connection's thread and the
  /// connection is open, the call starts immediately.
  /// - Parameter message: the whole request; `nil` if the request is sent in pieces.
  /// - Throws: `RPCStatus` if the endpoint is invalid, for example because its trust roots are unreadable;
  ///   `TransportFailure`; `CancellationError`.
  func call(_ head: RequestHead, _ message: [UInt8]?) async throws -> BegunCall {
    if thread.isCurrent, let (id, connection) = openConnection {
      do throws(TransportFailure) {
        return BegunCall(stream: try connection.begin(head, message), connection: id)
      } catch {
        retire(id)
        throw error
      }
    }
    let (id, connection) = try current()
    let begun = connection.flatMapThrowing { try $0.begin(head, message) }
    do {
      return BegunCall(stream: try await begun.value(), connection: id)
    } catch {
      if error is CancellationError { begun.whenSuccess { $0.abandon() } } else { retire(id) }
      throw error
    }
  }

  /// The current connection; `nil` if it is not open.
  private var openConnection: (id: Int, connection: HTTP2Connection)? {
    state.withLock { state in
      guard let id = state.current?.id, let connection = state.open[id] else { return nil }
      return (id, connection)
    }
  }

  /// Makes later calls use a connection other than this one. Current calls continue.
  /// - Parameter id: the number of the connection to abandon.
  func retire(_ id: Int) {
    let connection = state.withLock { state in
      if state.current?.id == id { state.current = nil }
      return state.open[id]
    }
    connection?.retire()
  }

  /// Retires the current connection.
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
    // A connection that is still being opened is closed later, without waiting for it.
    if let current, open[current.id] == nil { current.connection.whenSuccess { _ = $0.close() } }
    return open.values.map { $0.close() }
  }

  private func current() throws(RPCStatus) -> (id: Int, connection: EventLoopFuture<HTTP2Connection>) {
    let tls = try tls.get()
    if let current = state.withLock({ $0.current }) { return current }
    let loop = thread.loop
    let promise = loop.makePromise(of: HTTP2Connection.self)
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
    let opening = HTTP2Connection.open(to: endpoint, tls: tls, heads, keepalive, on: loop) { [weak self] in
      self?.retire(id)
    }
    opening.cascade(to: promise)
    connection.whenComplete { [weak self] result in
      guard case .success(let connection) = result else {
        self?.retire(id)
        return
      }
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

/// A call that has started, and its connection.
struct BegunCall: Sendable {
  let stream: CallStream
  let connection: Int
}

extension Endpoint {
  /// The TLS context for the endpoint; `nil` for plain text.
  fileprivate func contextForTLS() -> Result<TLSContext?, RPCStatus> {
    guard case .tls(let trustRoots) = security else { return .success(nil) }
    do throws(TLSFailure) {
      return .success(try TLSContext(trustRoots: trustRoots, http2: true))
    } catch .unreadableCertificate(let file) {
      let complaint =
        "The trusted certificates in \(file) cannot be read. Check --trust: it needs a PEM file."
      return .failure(RPCStatus(.invalidArgument, complaint))
    } catch {
      return .failure(RPCStatus(.invalidArgument, "No connection to \(text) can be set up: \(error)"))
    }
  }
}

/// The thread on which one client runs its connections, engine and streams (`Datastore.loop`). A response is handled on
/// the thread that read it, and a request is written by the thread that created it. This avoids thread switches, which
/// would have to wake a processor.
///
/// While the engine works, nothing is read. The server's data waits in the kernel, and then at the server.
package final class ConnectionThread: WorkLoop, TaskExecutor {
  /// The threads that no client uses at present. A thread does not end together with its client, because late work must
  /// still run on the thread, such as the end of a task.
  private static let idle = Mutex<[MultiThreadedEventLoopGroup]>([])

  private let group: MultiThreadedEventLoopGroup
  let loop: any EventLoop

  package init() {
    group = Self.idle.withLock { $0.popLast() } ?? MultiThreadedEventLoopGroup(numberOfThreads: 1)
    loop = group.next()
  }

  deinit {
    let group = group
    Self.idle.withLock { $0.append(group) }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  package var isCurrent: Bool { loop.inEventLoop }

  /// Runs work on the thread after all work that was enqueued earlier.
  package func perform(_ work: @escaping @Sendable () -> Void) { loop.execute(work) }

  /// Lets the connections read between two steps of long work. Yielding is not sufficient, because enqueued work runs
  /// before the connections read.
  package func pause() async {
    // The thread lives as long as the process, so it never rejects a task.
    try? await loop.scheduleTask(in: .microseconds(100)) {}.futureResult.get()
  }
}
