// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization

/// Watches the files of an open database: checks them when their directory changes, and at most once a second when they
/// are used. A file that was deleted or replaced can still be written to, but is lost when the process ends. A renamed
/// or replaced directory still holds the data, but the next process looks for it in the old place.
package final class OpenFiles: Sendable {
  private struct State: Sendable {
    /// The second of the last check.
    var tick: Int64
    /// The inode numbers of the files, by name: the database, and its log once it exists.
    var numbers: [String: ino_t]
    var loss: StoreError?
    var isOver = false
    var observers: [@Sendable (StoreError) -> Void] = []
    var watch: DirectoryWatch?
  }

  /// The seconds between checks, with and without notifications about directory changes.
  private static let (watchedPause, unwatchedPause) = (60, 1)

  private let files: DatabaseFiles
  /// The end of the message, which states the consequence.
  private let consequence: String
  private let directory: Int32
  private let state: Mutex<State>

  /// - Parameters:
  ///   - files: the files of a database that was just opened.
  ///   - consequence: the consequence for the user: one or two sentences, the first in lower case after a colon.
  /// - Returns: `nil` if the directory cannot be opened.
  package init?(_ files: DatabaseFiles, consequence: String) {
    self.files = files
    self.consequence = consequence
    directory = open(files.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    state = Mutex(State(tick: Self.tick, numbers: [:]))
    guard directory >= 0 else { return nil }
    state.withLock { _ = look(&$0) }
  }

  deinit {
    if directory >= 0 { close(directory) }
  }

  /// The seconds of a monotonic clock.
  package static var tick: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return Int64(time.tv_sec)
  }

  /// The loss of a file, once detected.
  package var loss: StoreError? { state.withLock { $0.loss } }

  /// Checks the files, unless they were already checked in this second and both found.
  /// - Throws: `gone`, on this and every later call.
  package func check(at tick: Int64 = OpenFiles.tick) throws(StoreError) {
    let (loss, observers) = state.withLock { state -> (StoreError?, [@Sendable (StoreError) -> Void]) in
      guard state.loss == nil, !state.isOver, state.tick != tick || state.numbers.count < 2 else {
        return (state.loss, [])
      }
      state.tick = tick
      state.loss = look(&state)
      return (state.loss, state.loss == nil ? [] : state.observers)
    }
    guard let loss else { return }
    for observer in observers { observer(loss) }
    throw loss
  }

  /// Starts to check whenever the directory changes.
  /// - Parameter observer: called once, on any thread, when a file is found missing, also by `check`.
  package func watch(_ observer: @escaping @Sendable (StoreError) -> Void) {
    guard observe(observer) else { return }
    let watch = DirectoryWatch(directory) { [weak self] in self?.lookNow() }
    state.withLock { $0.watch = watch }
    lookAgain(after: watch == nil ? Self.unwatchedPause : Self.watchedPause)
  }

  /// - Returns: whether this is the only observer.
  @discardableResult
  func observe(_ observer: @escaping @Sendable (StoreError) -> Void) -> Bool {
    state.withLock { state in
      state.observers.append(observer)
      return state.observers.count == 1
    }
  }

  /// Stops the checks before the database is closed, which deletes its log.
  package func end() {
    state.withLock { state in
      state.isOver = true
      state.watch = nil
    }
  }

  private func lookNow() {
    state.withLock { $0.tick = .min }
    // The observers are notified of the loss.
    try? check()
  }

  /// Checks repeatedly until the value ends or a loss is found.
  private func lookAgain(after pause: Int) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(pause)) { [weak self] in
      guard let self else { return }
      // The observers are notified of the loss.
      try? check()
      if state.withLock({ $0.loss == nil && !$0.isOver }) { lookAgain(after: pause) }
    }
  }

  private func look(_ state: inout State) -> StoreError? {
    var information = stat()
    if fstat(directory, &information) == 0, information.st_nlink == 0 {
      return lost("The directory \(files.directory) was deleted")
    }
    if isMoved(information) {
      return StoreError(
        .gone,
        "The directory \(files.directory) was renamed or replaced while it was in use, so writing has stopped. The "
          + "data is in the renamed directory. End this process, move the directory back, and start again.")
    }
    for name in [files.name, files.name + "-wal"] {
      let isThere = fstatat(directory, name, &information, AT_SYMLINK_NOFOLLOW) == 0
      let (number, known) = (isThere ? information.st_ino : nil, state.numbers[name])
      // SQLite creates the log when it first needs it.
      if known == nil, name == files.name || number != nil { state.numbers[name] = number }
      if let known, known != number {
        return lost("\(files.directory)/\(name) was \(isThere ? "replaced" : "deleted")")
      }
    }
    return nil
  }

  /// Whether the path of the directory no longer leads to the opened directory.
  private func isMoved(_ opened: stat) -> Bool {
    var current = stat()
    guard stat(files.directory, &current) == 0 else { return errno == ENOENT || errno == ENOTDIR }
    return current.st_ino != opened.st_ino || current.st_dev != opened.st_dev
  }

  private func lost(_ what: String) -> StoreError {
    StoreError(.gone, "\(what) while it was in use: \(consequence)")
  }
}

/// Reports names that are created, removed or moved in a directory, by inotify(7), without polling. Changes that other
/// machines make on a shared file system are not reported.
final class DirectoryWatch: Sendable {
  private static let names = UInt32(
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
  /// The time within which changes are reported as one.
  private static let pause = DispatchTimeInterval.milliseconds(100)

  private let descriptor: Int32
  private let watch: Int32
  private let hasEnded = Atomic(false)

  /// - Parameters:
  ///   - directory: the descriptor of the directory, which is watched even if it is moved.
  ///   - changed: called on any thread soon after a change, once for a burst; never after the directory is deleted.
  /// - Returns: `nil` if the system cannot watch more directories.
  init?(_ directory: Int32, changed: @escaping @Sendable () -> Void) {
    // O_NONBLOCK and O_CLOEXEC equal IN_NONBLOCK and IN_CLOEXEC, which Swift does not import as numbers.
    let descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    let watch = inotify_add_watch(descriptor, "/proc/self/fd/\(directory)", Self.names)
    guard watch >= 0 else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    self.watch = watch
    let queue = DispatchQueue.global(qos: .utility)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setCancelHandler { close(descriptor) }
    source.setEventHandler { [weak self] in
      let isLast = Self.drain(descriptor)
      // The end of the watch arrives as an event and also ends the source.
      guard let self else { return source.cancel() }
      if isLast {
        hasEnded.store(true, ordering: .relaxed)
        source.cancel()
      }
      queue.asyncAfter(deadline: .now() + Self.pause, execute: changed)
    }
    source.activate()
  }

  deinit {
    if !hasEnded.load(ordering: .relaxed) { inotify_rm_watch(descriptor, watch) }
  }

  /// Reads all pending events.
  /// - Returns: whether no more will arrive.
  private static func drain(_ descriptor: Int32) -> Bool {
    var isLast = false
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
        var position = 0
        while position + MemoryLayout<inotify_event>.size <= count {
          let event = buffer.load(fromByteOffset: position, as: inotify_event.self)
          if event.mask & UInt32(IN_IGNORED) != 0 { isLast = true }
          position += MemoryLayout<inotify_event>.size + Int(event.len)
        }
      }
    }
    return isLast
  }
}
