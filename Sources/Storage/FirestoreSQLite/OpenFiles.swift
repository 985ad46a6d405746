// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization

/// Detects deleted, replaced or moved files of an open database. The files are checked when their directory changes,
/// and at most once a second when they are used. A deleted or replaced file can still be written to, but its data is
/// lost when the process ends. A directory that was moved still contains the data, but the next process does not find
/// the data at the expected path.
package final class OpenFiles: Sendable {
  private struct State: Sendable {
    /// The time of the last check, in seconds (see `tick`).
    var tick: Int64
    /// The inode numbers, by file name, of the database and (once it exists) of its write-ahead log.
    var numbers: [String: ino_t]
    var loss: StoreError?
    var isOver = false
    var observers: [@Sendable (StoreError) -> Void] = []
    var watch: DirectoryWatch?
  }

  /// The seconds between periodic checks: the first number applies if the system reports changes of the directory, and
  /// the second if it does not.
  private static let (watchedPause, unwatchedPause) = (60, 1)

  private let files: DatabaseFiles
  /// The end of the error message, which describes the consequence.
  private let consequence: String
  private let directory: Int32
  private let state: Mutex<State>

  /// - Parameters:
  ///   - files: the files of a database that was just opened.
  ///   - consequence: describes the consequence for the user, in one or two sentences. It follows a colon, so the first
  ///     sentence begins in lower case.
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

  /// The time of a monotonic clock, in seconds.
  package static var tick: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return Int64(time.tv_sec)
  }

  /// The error for a lost file; `nil` if no file was lost.
  package var loss: StoreError? { state.withLock { $0.loss } }

  /// Checks the files, unless they were already checked in this second and both exist.
  /// - Throws: `gone` if a file was lost, in this and every later call.
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
  /// - Parameter observer: called once, on any thread, when a lost file is detected. This includes detection by
  ///   `check`.
  package func watch(_ observer: @escaping @Sendable (StoreError) -> Void) {
    guard observe(observer) else { return }
    let watch = DirectoryWatch(directory) { [weak self] in self?.lookNow() }
    state.withLock { $0.watch = watch }
    lookAgain(after: watch == nil ? Self.unwatchedPause : Self.watchedPause)
  }

  /// - Returns: whether this is the first observer.
  @discardableResult
  func observe(_ observer: @escaping @Sendable (StoreError) -> Void) -> Bool {
    state.withLock { state in
      state.observers.append(observer)
      return state.observers.count == 1
    }
  }

  /// Stops the checks. Call it before the database is closed, because closing deletes the log.
  package func end() {
    state.withLock { state in
      state.isOver = true
      state.watch = nil
    }
  }

  private func lookNow() {
    state.withLock { $0.tick = .min }
    // `check` notifies the observers of a loss.
    try? check()
  }

  /// Checks periodically until this object ends or a lost file is detected.
  private func lookAgain(after pause: Int) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(pause)) { [weak self] in
      guard let self else { return }
      // `check` notifies the observers of a loss.
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

  /// Whether the path of the directory now refers to a different directory than the opened one, or to no directory.
  private func isMoved(_ opened: stat) -> Bool {
    var current = stat()
    guard stat(files.directory, &current) == 0 else { return errno == ENOENT || errno == ENOTDIR }
    return current.st_ino != opened.st_ino || current.st_dev != opened.st_dev
  }

  private func lost(_ what: String) -> StoreError {
    StoreError(.gone, "\(what) while it was in use: \(consequence)")
  }
}

/// Reports files that are created, removed or moved in a directory, using inotify(7). Does not report changes that
/// other machines make on a shared file system.
final class DirectoryWatch: Sendable {
  private static let names = UInt32(
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
  /// The time during which changes are collected before they are reported together.
  private static let pause = DispatchTimeInterval.milliseconds(100)

  private let descriptor: Int32
  private let watch: Int32
  private let hasEnded = Atomic(false)

  /// - Parameters:
  ///   - directory: the descriptor of the directory. The directory is also watched after it is moved.
  ///   - changed: called on any thread soon after one or more changes; not called after the directory is deleted.
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
      // The event that ends the watch also ends the source.
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
  /// - Returns: whether no more events will arrive.
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
