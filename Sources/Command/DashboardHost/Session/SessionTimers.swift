// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import Dispatch
import FirestoreModel
import Glibc
import Terminal

/// Draws a frame when it was requested and the terminal is ready. All changes before the frame are shown together.
@MainActor
final class FramePacer {
  private struct Request {
    var cause: FrameGate.Cause
    var due: FrameGate.Moment
    var draw: @MainActor () -> Void
  }

  private let screen: Screen
  private var request: Request?

  init(_ screen: Screen) { self.screen = screen }

  /// Calls `draw` once as soon as possible. Requests that arrive before this call are merged into one, with the most
  /// urgent of their causes.
  func request(for cause: FrameGate.Cause, _ draw: @escaping @MainActor () -> Void) {
    if let request, request.cause >= cause { return }
    schedule(cause, draw)
  }

  /// Checks the gate again, because a frame may now be allowed.
  func reconsider() {
    if let request { schedule(request.cause, request.draw) }
  }

  private func schedule(_ cause: FrameGate.Cause, _ draw: @escaping @MainActor () -> Void) {
    let now = FrameGate.Moment.now
    let due = screen.gate.due(for: cause, at: now)
    if let request, request.due <= due {
      self.request?.cause = max(request.cause, cause)
      return
    }
    request = Request(cause: cause, due: due, draw: draw)
    let delay = Int(((due - now) / .microseconds(1)).rounded(.up))
    DispatchQueue.main.asyncAfter(deadline: .now() + .microseconds(delay)) { [weak self] in
      MainActor.assumeIsolated { self?.fire(due) }
    }
  }

  private func fire(_ due: FrameGate.Moment) {
    // An earlier request has drawn meanwhile, or will draw.
    guard let request, request.due == due else { return }
    self.request = nil
    request.draw()
  }
}

/// Wakes the dashboard at the next time when its screen changes although no event occurs.
@MainActor
struct Ticker {
  private var timer: (any DispatchSourceTimer)?
  private var due: Timestamp?

  /// Replaces the timer. `nil` cancels it, so that it needs no CPU time.
  mutating func schedule(at moment: Timestamp?, _ fire: @escaping @MainActor () -> Void) {
    guard moment != due else { return }
    timer?.cancel()
    timer = nil
    due = moment
    guard let moment else { return }
    let (wait, isTooLong) = moment.microseconds.subtractingReportingOverflow(Timestamp.now.microseconds)
    let delay = isTooLong ? 0 : max(0, wait)
    let timer = DispatchSource.makeTimerSource(queue: .main)
    timer.schedule(deadline: .now() + .microseconds(Int(min(delay, 86_400_000_000))))
    timer.setEventHandler { MainActor.assumeIsolated { fire() } }
    timer.activate()
    self.timer = timer
  }
}

/// Ends the process if its client does not end in time. So the user gets the shell back after quitting, even if a
/// server, a disk or a connection hangs. Nothing is lost, because accepted writes are on disk before they are shown
/// (S10).
struct ExitDeadline {
  private static let patience = DispatchTimeInterval.seconds(5)

  private let timer: any DispatchSourceTimer

  /// Starts the timer on a separate queue, because the main queue may hang.
  init(status: Int32) {
    timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + Self.patience)
    timer.setEventHandler {
      StandardError.write("hearth: the client did not end in time and was abandoned; stored writes are kept.")
      _exit(status)
    }
    timer.activate()
  }

  func cancel() { timer.cancel() }
}

/// Events that are delayed until a frame shows them. They are applied in the order of arrival, so that a delayed status
/// never replaces a newer status.
@MainActor
final class HeldUpdates<Update> {
  private var waiting: [Update] = []
  private var isHappening = false
  private let happen: (Update) -> Void

  /// - Parameter happen: applies an event. If this causes other events, they are queued.
  init(happen: @escaping (Update) -> Void) { self.happen = happen }

  var isEmpty: Bool { waiting.isEmpty }

  /// Queues an event. Applies all queued events unless `isHeld`.
  func take(_ news: Update, isHeld: Bool) {
    waiting.append(news)
    if !isHeld { release() }
  }

  /// Applies all queued events.
  func release() {
    if isHappening { return }
    isHappening = true
    defer { isHappening = false }
    while !waiting.isEmpty { happen(waiting.removeFirst()) }
  }
}
