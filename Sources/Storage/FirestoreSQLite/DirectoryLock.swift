// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The kind of use that a process makes of a directory: exclusive, or together with other processes.
package enum DirectoryUse: String, Hashable, Sendable {
  /// No other process uses the directory.
  case alone
  /// No other process opens the directory. Other processes use its data through the process that has locked it.
  case served = "serves"
  /// Other processes may also use the directory if they share it.
  case shared
}

/// A lock on a directory that this process uses exclusively or shares with other processes. It is an advisory lock on a
/// file in the directory, and the file contains the id of the process that has the lock. The kernel releases the lock
/// when the process ends in any way, so an old file does not block other processes.
///
/// Processes that share a directory open the database one after the other (`OpeningLock`). The first process has an
/// exclusive lock until it calls `share`, so that it can inspect the files while no other process uses them.
package struct DirectoryLock: ~Copyable {
  /// The absolute path. A relative path such as `file:x` would be treated as a URI by SQLite.
  package let directory: String
  /// Messages for the user about permissions that were changed to protect the stored data.
  package let notices: [String]
  /// Whether no other process was using the directory when this process locked it. Always true if the directory is not
  /// shared.
  package let isFirst: Bool
  private let descriptor: Int32
  private let turn: OpeningLock?
  private let place: String

  /// Creates the directory and its parents with mode 0700, or changes an existing directory to be private. Then locks
  /// it.
  /// - Parameters:
  ///   - name: the name of the directory in error messages, such as "data directory".
  ///   - own: the name prefixes of files that belong in the directory. A directory without other files gets mode 0700.
  ///   - use: whether other processes may use the directory at the same time.
  /// - Throws: `locked`, `notWritable`, `notPrivate`.
  package init(
    directory path: String, called name: String, own: [String], use: DirectoryUse = .alone
  ) throws(StoreError) {
    let directory = Self.absolute(path)
    let place = "\(name) \(path)"
    try Self.make(directory, place)
    let narrowed = try DirectoryPermissions.secure(
      directory, place, own: own + ["lock", OpeningLock.name, ClientPresence.name])
    let turn = use == .shared ? try OpeningLock(in: directory, place) : nil
    guard let file = try PrivateFile.open(directory + "/lock", creating: true) else {
      throw StoreError(.notWritable, "The \(place) cannot be locked: its file \"lock\" cannot be created.")
    }
    let isFirst = try Self.lock(file.descriptor, use, directory, place)
    if isFirst {
      // The text only informs other processes. If it cannot be written, the lock still works.
      let text = Array(Holder(process: getpid(), use: use).text.utf8)
      _ = ftruncate(file.descriptor, 0)
      _ = pwrite(file.descriptor, text, text.count, 0)
    }
    self.directory = directory
    self.isFirst = isFirst
    self.turn = turn
    self.place = place
    notices = [narrowed, file.notice].compactMap(\.self)
    descriptor = file.descriptor
  }

  /// Allows other processes to share the directory, after the first process has opened the database. Does nothing if
  /// the directory is not shared.
  /// - Throws: `locked` if another process locked the directory exclusively at this moment. In this case, do not use
  ///   the directory.
  package func share() throws(StoreError) {
    guard let turn else { return }
    defer { turn.end() }
    // The kernel briefly releases the exclusive lock when it converts it into the shared one.
    guard isFirst, flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return }
    throw StoreError(.locked, "Another process opened the \(place) at the same moment. Try again.")
  }

  deinit {
    // A child process that is being started shares the lock until it runs its program, so closing the file is not
    // enough to release the lock.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Locks the file, or closes it if it cannot be locked.
  /// - Returns: whether no other process has locked the directory.
  private static func lock(
    _ descriptor: Int32, _ use: DirectoryUse, _ directory: String, _ place: String
  ) throws(StoreError) -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    var reason = errno
    if use == .shared {
      if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return false }
      reason = errno
    }
    let holder = presentHolder(descriptor)
    close(descriptor)
    guard reason == EWOULDBLOCK else {
      throw StoreError(.notWritable, "The \(place) cannot be locked: \(StoreError.reason(reason)).")
    }
    func name(_ process: Int32) -> String {
      process == getpid() ? "process \(process) (this one)" : "process \(process)"
    }
    let sharers = holder?.use == .shared ? ClientPresence.processes(in: directory) : []
    if use != .shared, holder?.use == .shared {
      let who = sharers.isEmpty ? "other processes" : sharers.map(name).joined(separator: " and ")
      throw StoreError(
        .locked, "The \(place) is shared by \(who). End them, enable sharing here too, or choose another directory.")
    }
    let who = holder.map { name($0.process) } ?? "another process"
    let remedy =
      use == .shared
      ? ", which does not share it. End that process, enable sharing in that process" : ". End that process"
    throw StoreError(.locked, "The \(place) is in use by \(who)\(remedy), or choose another directory.")
  }

  private static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let current = getcwd(nil, 0) else { return "./" + path }
    defer { free(current) }
    return String(cString: current) + "/" + path
  }

  private static func make(_ path: String, _ place: String) throws(StoreError) {
    var made = ""
    for segment in path.split(separator: "/") {
      made += (path.hasPrefix("/") || !made.isEmpty ? "/" : "") + segment
      // A parent directory may forbid writing but still be accessible.
      if mkdir(made, 0o700) == 0 || errno == EEXIST || errno == EISDIR || access(made, F_OK) == 0 { continue }
      throw StoreError(.notWritable, "The \(place) cannot be created at \(made): \(StoreError.reason(errno)).")
    }
  }

  /// The process that has locked a directory, according to the file "lock" in it.
  package struct Holder: Hashable, Sendable {
    package var process: Int32
    /// The process's use of the directory, read from the second line of the file. An unknown word counts as `alone`.
    fileprivate var use: DirectoryUse

    /// Whether other processes use the data through this process.
    package var serves: Bool { use == .served }

    fileprivate init(process: Int32, use: DirectoryUse) { (self.process, self.use) = (process, use) }

    fileprivate init?(text: some StringProtocol) {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      guard let process = Int32(lines[0]) else { return nil }
      self.init(process: process, use: lines.dropFirst().first.flatMap { DirectoryUse(rawValue: String($0)) } ?? .alone)
    }

    fileprivate var text: String { "\(process)\n" + (use == .alone ? "" : use.rawValue + "\n") }
  }

  /// The process that last wrote the file. It may have ended.
  package static func lastHolder(of directory: String) -> Holder? {
    let descriptor = open(absolute(directory) + "/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return holder(descriptor)
  }

  /// The process that has locked the directory; `nil` if unknown. A process is unknown if it has not written its process
  /// id into the file. An example is a child process that inherited the lock.
  package static func presentHolder(of directory: String) -> Holder? {
    let descriptor = open(absolute(directory) + "/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return presentHolder(descriptor)
  }

  private static func presentHolder(_ descriptor: Int32) -> Holder? {
    holder(descriptor).flatMap { OpenFile.isOpen(descriptor, in: $0.process) ? $0 : nil }
  }

  /// Whether this or another process has locked a directory.
  package static func isHeld(_ directory: String) -> Bool {
    let descriptor = open(absolute(directory) + "/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    // This lock ends when the descriptor is closed. A process that tries to lock the directory at this moment tries
    // again.
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  private static func holder(_ descriptor: Int32) -> Holder? {
    var buffer = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    return Holder(text: String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self))
  }
}

/// The permissions of an existing directory. They determine whether data may be stored in it.
///
/// A user who can write to the directory could replace files. A user who can read the directory could read the files in
/// it that are not private.
package struct DirectoryPermissions: Hashable, Sendable {
  var owner: uid_t
  var mode: mode_t
  /// Whether the directory contains files that do not belong to the store.
  var isShared: Bool

  package enum Verdict: Hashable, Sendable {
    case use
    /// The mode of the directory must be changed to 0700.
    case narrow
    /// The directory cannot be used. The text contains the reason.
    case refuse(String)
  }

  /// Decides whether a user may use the directory. Root may use another user's directory, as in a container with an
  /// external volume. In that case, the directory's mode is not changed.
  package func verdict(for user: UInt32) -> Verdict {
    let (isWritable, isReadable) = (mode & 0o022 != 0, mode & 0o077 != 0)
    guard owner == user else {
      if user != 0 { return .refuse("it belongs to another user (\(owner))") }
      return isWritable ? .refuse("users other than its owner can write to it (mode \(Self.text(mode)))") : .use
    }
    if !isReadable { return .use }
    // Other users may need access to the other files in the directory. The store's files are private themselves.
    let isOfOthers = isShared || mode & S_ISVTX != 0
    if !isOfOthers { return .narrow }
    return isWritable ? .refuse("other users can write to it (mode \(Self.text(mode)))") : .use
  }

  /// - Returns: a message for the user if permissions were changed.
  static func secure(_ path: String, _ place: String, own: [String]) throws(StoreError) -> String? {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let isFile = errno == ENOTDIR
      throw StoreError(
        .notWritable,
        "The \(place) \(isFile ? "is not a directory" : "cannot be opened: \(StoreError.reason(errno))").")
    }
    defer { close(descriptor) }
    var information = stat()
    guard fstat(descriptor, &information) == 0 else {
      throw StoreError(.notWritable, "The \(place) cannot be used: \(StoreError.reason(errno)).")
    }
    let mode = information.st_mode & 0o7777
    let permissions = DirectoryPermissions(
      owner: information.st_uid, mode: mode, isShared: holdsMore(path, than: own))
    switch permissions.verdict(for: geteuid()) {
    case .use: return nil
    case .refuse(let reason):
      throw StoreError(
        .notPrivate, "The \(place) is not private: \(reason). Run chmod, or choose another directory.")
    case .narrow:
      guard fchmod(descriptor, 0o700) == 0 else {
        throw StoreError(
          .notPrivate, "The \(place) is open to other users and cannot be made private: \(StoreError.reason(errno)).")
      }
      return "The \(place) was open to other users (mode \(text(mode))). Its mode is now 0700."
    }
  }

  private static func holdsMore(_ path: String, than own: [String]) -> Bool {
    guard let directory = opendir(path) else { return true }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != "..", !own.contains(where: { name.hasPrefix($0) }) { return true }
    }
    return false
  }

  static func text(_ mode: mode_t) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
