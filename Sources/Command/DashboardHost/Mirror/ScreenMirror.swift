// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreInspection
import Glibc
import LocalSockets
import Synchronization
import TerminalCanvas

/// Shows the screen of this dashboard to other terminals of the same user, who can change nothing.
@MainActor
final class ScreenMirror {
  private static let mostViewers = 8

  private let socket: LocalSocket
  private let greeting: MirrorGreeting
  private let listening: any DispatchSourceRead
  private var viewers: [MirrorViewer] = []
  private var last: Canvas?

  /// The name of the socket beside those of clients that may be watched.
  nonisolated static func name(of process: Int32) -> String { "\(process).screen" }

  /// Begins to listen.
  /// - Throws: the reason why there is no socket, in one line.
  init(in folder: InspectionFolder, _ greeting: MirrorGreeting) throws(InspectionFolder.Failure) {
    try folder.prepare()
    self.greeting = greeting
    let descriptor: CInt
    do throws(LocalSocketError) {
      socket = try LocalSocket(Self.name(of: greeting.process), in: folder.path)
      descriptor = try socket.listen()
    } catch {
      throw InspectionFolder.Failure(message: "\(error.path): \(error.text).")
    }
    listening = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
    listening.setCancelHandler { close(descriptor) }
    listening.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.accept(descriptor) } }
    listening.activate()
  }

  /// Passes a screen on to the viewers. One that does not read is sent the newest when it does.
  func show(_ canvas: Canvas) {
    last = canvas
    viewers.removeAll { $0.isGone }
    for viewer in viewers { viewer.show(canvas) }
  }

  func end() {
    socket.remove()
    listening.cancel()
    for viewer in viewers { viewer.end() }
    viewers = []
  }

  private func accept(_ listener: CInt) {
    while true {
      let descriptor = Glibc.accept(listener, nil, nil)
      if descriptor < 0 { return }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      viewers.removeAll { $0.isGone }
      guard let peer = SocketPeer(of: descriptor), peer.isTrusted, viewers.count < Self.mostViewers else {
        close(descriptor)
        continue
      }
      let viewer = MirrorViewer(descriptor, greeting)
      viewers.append(viewer)
      if let last { viewer.show(last) }
    }
  }
}

/// The connection of one viewer, on a queue of its own, which may wait for it.
final class MirrorViewer: Sendable {
  private struct State {
    /// The screen that is to be sent next.
    var next: Canvas?
    var isSending = false
    var isGone = false
  }

  private let descriptor: CInt
  private let queue = DispatchQueue(label: "hearth.mirror")
  private let state = Mutex(State())
  /// The screen that was sent last; used on the queue alone.
  private let sent = Mutex<Canvas?>(nil)

  /// - Parameter descriptor: closed with this value.
  init(_ descriptor: CInt, _ greeting: MirrorGreeting) {
    self.descriptor = descriptor
    queue.async { self.send(greeting) }
  }

  deinit { close(descriptor) }

  var isGone: Bool { state.withLock { $0.isGone } }

  func show(_ canvas: Canvas) {
    let starts = state.withLock { state in
      state.next = canvas
      defer { state.isSending = true }
      return !state.isSending
    }
    if starts { queue.async { self.sendNext() } }
  }

  /// Ends the connection, which also ends a send that waits.
  func end() { shutdown(descriptor, CInt(SHUT_RDWR)) }

  private func sendNext() {
    while true {
      let next = state.withLock { state in
        if state.next == nil || state.isGone { state.isSending = false }
        defer { state.next = nil }
        return state.isGone ? nil : state.next
      }
      guard let next else { return }
      let old = sent.withLock { sent in
        defer { sent = next }
        return sent
      }
      if let frame = MirrorFrame(from: old, to: next) { send(frame) }
    }
  }

  private func send(_ value: some Encodable) {
    // Every value sent here can be encoded.
    guard let bytes = try? InspectionLine.bytes(value) else { return }
    var count = 0
    while count < bytes.count {
      let written = bytes[count...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return state.withLock { $0.isGone = true } }
      count += written
    }
  }
}
