// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dispatch
import FirestoreClientState
import Glibc

/// The connection of one watcher, such as `hearth attach`. Only `Inspection` uses it.
struct Watcher {
  /// The maximum number of bytes in the output queue of a watcher that is not reading.
  static let mostWaiting = 1 << 20
  /// The maximum number of concurrent requests. It is high because a dashboard counts all root collections at the same
  /// time.
  static let mostRequests = 1_000

  private let descriptor: CInt
  private let reading: any DispatchSourceRead
  private let writing: any DispatchSourceWrite
  private var isWriting = false
  private var waiting: [UInt8] = []
  private var sent = 0

  var received = ReceivedLines()
  /// The watcher's first message; `nil` until it arrives.
  var word: InspectionWord?
  var requests = 0
  /// The number of snapshots that the watcher did not receive, because the watcher did not read or the budget was
  /// spent.
  var missed = 0
  /// The number of write outcomes that the watcher did not receive.
  var missedOutcomes = 0
  /// Whether the watcher's list of listeners is out of date.
  var isBehind = false
  var hasSwitchedOff = false
  var hasSetFaults = false

  /// Takes over an accepted connection.
  /// - Parameters:
  ///   - descriptor: the nonblocking connection. It is closed together with the watcher.
  ///   - readable: called on the queue when the connection has data to read.
  ///   - writable: called on the queue when more can be sent after a partial write.
  init(
    _ descriptor: CInt, on queue: DispatchQueue, readable: @escaping @Sendable () -> Void,
    writable: @escaping @Sendable () -> Void
  ) {
    self.descriptor = descriptor
    reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    // A separate descriptor, because each source closes the descriptor that it watches.
    let writableDescriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    writing = DispatchSource.makeWriteSource(fileDescriptor: writableDescriptor, queue: queue)
    reading.setEventHandler(handler: readable)
    writing.setEventHandler(handler: writable)
    reading.setCancelHandler { close(descriptor) }
    writing.setCancelHandler { close(writableDescriptor) }
    reading.activate()
  }

  /// Whether the output queue can accept more events.
  var hasRoom: Bool { waiting.count - sent < Self.mostWaiting }
  var isEmpty: Bool { waiting.isEmpty }

  /// Counts an event that did not fit into the output queue.
  mutating func miss(_ event: ClientEvent) {
    isBehind = true
    switch event {
    case .snapshot: missed += 1
    case .writeAcknowledged, .writeRejected, .writeCancelled: missedOutcomes += 1
    case .outcomesMissed(let count): missedOutcomes += count
    default: break
    }
  }

  /// Reads from the connection without blocking.
  /// - Returns: the received bytes; `nil` if the watcher disconnected.
  func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    let count = recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
    if count < 0, errno == EAGAIN || errno == EINTR { return [] }
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  /// Sends as much as the connection accepts, and queues the rest.
  /// - Returns: false if the watcher disconnected.
  mutating func send(_ bytes: [UInt8]) -> Bool {
    if waiting.isEmpty { waiting = bytes } else { waiting += bytes }
    return isWriting || sendWaiting()
  }

  mutating func sendWaiting() -> Bool {
    while sent < waiting.count {
      let count = waiting[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        setWriting(true)
        if sent > Self.mostWaiting / 2 {
          waiting.removeFirst(sent)
          sent = 0
        }
        return true
      }
      if count <= 0 { return false }
      sent += count
    }
    (waiting, sent) = ([], 0)
    setWriting(false)
    return true
  }

  private mutating func setWriting(_ isWanted: Bool) {
    guard isWanted != isWriting else { return }
    isWriting = isWanted
    if isWanted { writing.resume() } else { writing.suspend() }
  }

  /// Closes the connection. Idempotent.
  mutating func end() {
    // A source must not be released while it is suspended.
    writing.cancel()
    setWriting(true)
    reading.cancel()
  }
}

/// Decides which long parts of a status to omit because they were sent recently.
struct StatusOmissions {
  /// The minimum interval between statuses that contain read statistics, which change constantly.
  private static let readsPace = Duration.seconds(2)
  /// The minimum interval between statuses that contain a long queue, because every write creates a new list.
  private static let queuePace = Duration.seconds(1)
  static let longestPace = DispatchTimeInterval.milliseconds(2_100)
  private static let shortQueue = 20

  private var lastReads: ContinuousClock.Instant?
  private var lastQueue: ContinuousClock.Instant?

  mutating func next(_ status: ClientStatus, at now: ContinuousClock.Instant) -> Set<StatusChanges.Part> {
    var omitted: Set<StatusChanges.Part> = []
    if let lastReads, now - lastReads < Self.readsPace { omitted.insert(.reads) } else { lastReads = now }
    let isShort = status.pendingWrites.count <= Self.shortQueue
    if !isShort, let lastQueue, now - lastQueue < Self.queuePace {
      omitted.insert(.pendingWrites)
    } else {
      lastQueue = now
    }
    return omitted
  }
}

/// The processor time that a program may spend on sending events to watchers: 1 % of the program's own time, or 5 ms
/// per second, whichever is more. Events that would need more are not sent.
package struct InspectionBudget {
  private static let share = 100
  /// The maximum processor time that can be saved for later. It suffices for the first events, and for the reply to one
  /// keystroke.
  private static let mostSaved = Duration.milliseconds(40)
  /// The maximum processor time by which the budget can be exceeded. It is small, so that sending resumes soon after a
  /// large event.
  private static let mostOwed = Duration.milliseconds(20)

  /// The default resting share: 1/200 of elapsed time (5 ms per second) is always available.
  package static let usualRestingShare = 200

  /// The divisor for the share of elapsed time that is always available; `nil` if the budget is unlimited.
  private let restingShare: Int?
  private var lastProcess: Duration
  private var lastTime: Duration
  /// The processor time that can be spent now.
  private(set) var saved = Self.mostSaved

  init(restingShare: Int?) {
    self.restingShare = restingShare
    lastProcess = Self.time(CLOCK_PROCESS_CPUTIME_ID)
    lastTime = Self.time(CLOCK_MONOTONIC)
  }

  /// Whether more than the reserved time `kept` can be spent now.
  mutating func hasTime(beyond kept: Duration = .zero) -> Bool {
    guard let restingShare else { return true }
    let (process, time) = (Self.time(CLOCK_PROCESS_CPUTIME_ID), Self.time(CLOCK_MONOTONIC))
    saved = max(saved, .zero - Self.mostOwed)
    saved += max((process - lastProcess) / Self.share, (time - lastTime) / restingShare)
    saved = min(saved, Self.mostSaved)
    (lastProcess, lastTime) = (process, time)
    return saved > kept
  }

  /// Runs a closure and charges its processor time to the budget.
  mutating func pay<Result>(_ body: () throws -> Result) rethrows -> Result {
    let start = Self.time(CLOCK_THREAD_CPUTIME_ID)
    defer { saved -= Self.time(CLOCK_THREAD_CPUTIME_ID) - start }
    return try body()
  }

  /// Charges processor time that was spent outside of `pay` to the budget.
  mutating func charge(_ cost: Duration) { saved -= cost }

  private static func time(_ clock: clockid_t) -> Duration {
    // Reads the time as two words instead of by the members of `timespec`. The module that declares their types depends
    // on the other modules of the build.
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 2) { words in
      words.initialize(repeating: 0)
      words.withMemoryRebound(to: timespec.self) { if let time = $0.baseAddress { clock_gettime(clock, time) } }
      return .seconds(words[0]) + .nanoseconds(words[1])
    }
  }
}
