// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// Replaces a file atomically: the new file gets its name only when it is complete and on disk. If the process fails or
/// is killed before that, the old file remains. Until then the new file has no name, if the file system supports
/// unnamed files.
package struct FileReplacement {
  /// The flag O_TMPFILE of <fcntl.h>, which Swift does not import.
  private static let withoutName = 0o20_000_000 | O_DIRECTORY

  package let descriptor: Int32
  private let path: String
  private let part: String
  private let isNamed: Bool

  /// - Parameters:
  ///   - path: the path of a regular file that may not exist yet, resolved by `OutputPlace`.
  ///   - mode: the permissions of a new file, reduced by the umask. A file that replaces another one keeps its
  ///     permissions.
  package init(of path: String, mode: mode_t = 0o666) throws(CommandFailure) {
    self.path = path
    part = "\(path).part-\(getpid())"
    let (folder, name) = OutputPlace.split(path)
    var old = stat()
    let replaces = stat(path, &old) == 0
    if replaces, access(path, W_OK) != 0 {
      throw CommandFailure(.cannotCreate, "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
    var descriptor = open(folder, Self.withoutName | O_WRONLY | O_CLOEXEC, mode)
    isNamed = descriptor < 0
    if descriptor < 0 {
      Self.removeAbandonedParts(of: name, in: folder)
      descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    }
    guard descriptor >= 0 else {
      throw CommandFailure(
        .cannotCreate,
        "\(path) cannot be written: no file can be created in \(folder): \(String(cString: strerror(errno))).")
    }
    self.descriptor = descriptor
    if replaces {
      // The new file keeps the owner and permissions of the old one. Only an administrator can change the owner.
      _ = fchown(descriptor, old.st_uid, old.st_gid)
      _ = fchmod(descriptor, old.st_mode & 0o7777)
    }
  }

  /// - Parameter isDurable: whether to return only when the file is on disk and would survive a power failure.
  package func commit(isDurable: Bool = true) throws(CommandFailure) {
    // Some file systems do not support fsync.
    guard !isDurable || fsync(descriptor) == 0 || errno == EINVAL else { throw failure(.inputOutput) }
    if !isNamed {
      unlink(part)
      guard linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, part, AT_SYMLINK_FOLLOW) == 0 else {
        throw failure(.cannotCreate)
      }
    }
    guard rename(part, path) == 0 else {
      let failure = failure(.cannotCreate)
      unlink(part)
      throw failure
    }
    close(descriptor)
    if !isDurable { return }
    let folder = open(OutputPlace.split(path).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }

  package func discard() {
    if isNamed { unlink(part) }
    close(descriptor)
  }

  private func failure(_ status: ExitStatus) -> CommandFailure {
    CommandFailure(status, "\(path) cannot be written: \(String(cString: strerror(errno))).")
  }

  /// Removes the unfinished files that killed processes left when they were writing a file with this name.
  private static func removeAbandonedParts(of name: String, in folder: String) {
    guard let listing = opendir(folder) else { return }
    defer { closedir(listing) }
    while let entry = readdir(listing) {
      let found = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      guard found.hasPrefix("\(name).part-"), let process = pid_t(found.dropFirst("\(name).part-".count)) else {
        continue
      }
      if kill(process, 0) != 0, errno == ESRCH { unlink("\(folder)/\(found)") }
    }
  }
}

/// A short text that replaces a file atomically.
package enum TextFile {
  package static func write(_ text: String, to path: String, mode: mode_t = 0o666) throws(CommandFailure) {
    let replacement = try FileReplacement(of: path, mode: mode)
    let file = OutputFile(replacement.descriptor, path)
    do {
      try file.data(text)
      try file.flush()
    } catch {
      replacement.discard()
      throw error as? CommandFailure ?? CommandFailure(.inputOutput, "\(path) cannot be written.")
    }
    try replacement.commit()
  }
}
