// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreEmulator
import FirestoreModel
import FirestoreSharing
import Synchronization

/// The backend that a port serves.
enum PortSource: Sendable {
  case memory(LocalBackend)
  case shared(SharedData)
}

/// A port that serves the embedded backend while this process has the data open. If another process has the data open,
/// the port asks that process to release the data. Connections wait until this process has it open.
struct ServedPort: Sendable {
  private var configuration: EmulatorServer.Configuration
  private let source: PortSource
  private let report: @Sendable (String) -> Void

  /// - Parameter report: called with the process that has opened the data, and when this process has opened it again.
  init(
    _ configuration: EmulatorServer.Configuration, _ source: PortSource, report: @escaping @Sendable (String) -> Void
  ) {
    self.configuration = configuration
    self.source = source
    self.report = report
  }

  /// Opens the data. If another process has it open, asks that process to release it.
  /// - Parameter enforced: the name of the option whose checks the port applies to requests; `nil` for none.
  /// - Throws: `unavailable` if the other process does not release the data.
  static func claim(_ data: SharedData, for enforced: String?) async throws(RPCStatus) {
    do throws(RPCStatus) { try await data.claim() } catch {
      if error.code == .cancelled { throw error }
      let remedy = "nd that process, or serve other data (--data)."
      let advice = enforced.map { "Only the process that has the data open can enforce \($0): e" } ?? "E"
      throw RPCStatus(.unavailable, "\(error.message) \(advice + remedy)")
    }
  }

  /// Serves until a stop is requested. Running calls then get a short time to finish.
  /// - Parameter ready: called once, with the port number, when connections can be accepted.
  /// - Throws: `RPCStatus` with the reason why it cannot listen on the address.
  func run(until stop: StopSignal, ready: @escaping @Sendable (Int) -> Void) async throws {
    switch source {
    case .memory(let backend): try await serve(backend, until: stop, orEnd: nil, ready)
    case .shared(let data):
      // Connections that arrive during a handover of the data wait.
      var port = self
      port.configuration.kept = ListeningPort()
      let first = FirstCall(ready)
      while let (backend, end) = try await open(data, until: stop) {
        try await port.serve(backend, until: stop, orEnd: end) { first($0) }
        if stop.isStopped { return }
      }
    }
  }

  /// - Parameter end: signals that this process no longer has the data open.
  private func serve(
    _ backend: LocalBackend, until stop: StopSignal, orEnd end: SharedData.End?,
    _ ready: @escaping @Sendable (Int) -> Void
  ) async throws {
    let server = EmulatorServer(configuration, backend: backend)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await _ in stop.stops() {
          configuration.kept?.letGo()
          await server.shutDown()
        }
      }
      if let end {
        group.addTask {
          await end()
          if !Task.isCancelled { await server.shutDown() }
        }
      }
      defer { group.cancelAll() }
      try await server.run(ready: ready)
    }
  }

  /// Waits until this process has the data open. If another process has opened it, for example while this process was
  /// stopped, asks that process to release it.
  /// - Returns: the data, and a signal for the time when it is no longer open here. Returns `nil` after a stop was
  ///   requested.
  private func open(_ data: SharedData, until stop: StopSignal) async throws -> (LocalBackend, SharedData.End)? {
    try await withThrowingTaskGroup(of: (LocalBackend, SharedData.End)?.self) { group in
      group.addTask {
        for await _ in stop.stops() { break }
        return nil
      }
      group.addTask {
        while true {
          let (access, end) = try await data.access()
          if case .own(let backend) = access { return (backend, end) }
          do throws(RPCStatus) { try await data.claim() } catch {
            if error.code == .cancelled { throw error }
            report("\(error.message) Connections wait until that process ends.")
            await end()
            if Task.isCancelled { return nil }
          }
        }
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}

/// Forwards only the first call.
private final class FirstCall: Sendable {
  private let isOver = Atomic(false)
  private let call: @Sendable (Int) -> Void

  init(_ call: @escaping @Sendable (Int) -> Void) { self.call = call }

  func callAsFunction(_ number: Int) { if !isOver.exchange(true, ordering: .relaxed) { call(number) } }
}

/// A request to stop. It cannot be withdrawn.
final class StopSignal: Sendable {
  private let state = Mutex((isStopped: false, waiting: [AsyncStream<Void>.Continuation]()))
  private let first: @Sendable () -> Void

  /// - Parameter first: called at the first request, before waiting tasks are resumed.
  init(first: @escaping @Sendable () -> Void) { self.first = first }

  var isStopped: Bool { state.withLock { $0.isStopped } }

  func stop() {
    let (isFirst, waiting) = state.withLock { state in
      defer { state.isStopped = true }
      return (!state.isStopped, state.waiting)
    }
    if isFirst { first() }
    for continuation in waiting { continuation.yield() }
  }

  /// A stream for one waiting task. It yields each time a stop is requested.
  func stops() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let isStopped = state.withLock { state in
      state.waiting.append(continuation)
      return state.isStopped
    }
    if isStopped { continuation.yield() }
    return stream
  }
}
