// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The place that the path of an output leads to.
package enum OutputPlace: Hashable, Sendable {
  /// An open descriptor of this process: `/dev/stdout`, `/dev/fd/3`, or the path that a shell makes of `>(command)`.
  case descriptor(Int32)
  /// A device or a pipe: it has a name, but its data goes elsewhere.
  case stream(String)
  /// A regular file, or none yet. Links are followed: this is the path of the file itself.
  case file(String)

  /// The largest number of links that are followed, as in the kernel.
  private static let linkLimit = 40

  /// - Throws: a failure that names the path, for a folder, a socket, or a path that cannot be examined.
  package init(_ path: String) throws(CommandFailure) {
    func failure(_ reason: String) -> CommandFailure {
      CommandFailure(.cannotCreate, "\(path) cannot be written: \(reason).")
    }

    if path.isEmpty { throw CommandFailure(.usage, "the name of the output is empty.") }
    var name = path
    for _ in 0..<Self.linkLimit {
      if let descriptor = Self.descriptor(named: name) {
        self = .descriptor(descriptor)
        return
      }
      var status = stat()
      guard lstat(name, &status) == 0 else {
        guard errno == ENOENT, Self.split(name).name != "" else { throw failure(String(cString: strerror(errno))) }
        self = .file(name)
        return
      }
      guard status.st_mode & S_IFMT == S_IFLNK else {
        self = try Self.special(name, status, failure) ?? .file(name)
        return
      }
      let target = try Self.target(of: name, failure)
      // The kernel's links to open files of other processes lead there, whatever their text says.
      if lstat(target, &status) != 0, stat(name, &status) == 0 {
        self = try Self.special(name, status, failure) ?? .stream(name)
        return
      }
      name = target
    }
    throw failure(String(cString: strerror(ELOOP)))
  }

  /// Whether a descriptor leads to a regular file.
  package static func isFile(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Splits a path into the folder and the name in it.
  package static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = path[..<slash]
    return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
  }

  private static func special(
    _ name: String, _ status: stat, _ failure: (String) -> CommandFailure
  ) throws(CommandFailure) -> OutputPlace? {
    switch status.st_mode & S_IFMT {
    case S_IFREG: return nil
    case S_IFDIR: throw failure("it is a folder")
    case S_IFSOCK: throw failure("it is a socket")
    default: return .stream(name)
    }
  }

  private static func target(
    of link: String, _ failure: (String) -> CommandFailure
  ) throws(CommandFailure) -> String {
    var count = 0
    let bytes = [CChar](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, initialized in
      count = buffer.baseAddress.map { readlink(link, $0, buffer.count) } ?? -1
      initialized = max(0, count)
    }
    guard count > 0 else { throw failure(String(cString: strerror(errno))) }
    let target = String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return target.hasPrefix("/") ? target : split(link).folder + "/" + target
  }

  /// The number at the end of a path into the kernel's list of this process's descriptors.
  private static func descriptor(named path: String) -> Int32? {
    let (folder, name) = split(path)
    guard let number = Int32(name), number >= 0, let folder = resolved(folder) else { return nil }
    return folder == resolved("/proc/self/fd") ? number : nil
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
