// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A folder that gets its name in one step, once it is complete and on the disk. If the process fails or is killed
/// earlier, the previous folder with this name remains, and an incomplete folder may remain next to it. The name of an
/// incomplete folder begins with a dot, and the next export with the same name removes it.
package struct FolderReplacement: Sendable {
  /// The content of the folders that may be replaced.
  package struct Content: Sendable {
    /// The noun for a folder with this content in messages, such as `export`.
    let noun: String
    /// Whether a file or folder with this name belongs to the content.
    let holds: @Sendable (String) -> Bool

    package init(_ noun: String, holds: @escaping @Sendable (String) -> Bool) {
      (self.noun, self.holds) = (noun, holds)
    }

    static let export = Content("export") { $0 == "all_namespaces" || $0.hasSuffix(ExportLocation.ending) }
  }

  private let content: Content
  /// The path as the caller passed it.
  let path: String
  /// The last component of the path.
  let name: String
  private let parent: String
  private let part: String
  /// The number of incomplete folders that this process has created. It makes their names unique.
  private static let count = Atomic(0)

  /// - Parameter path: the path of a folder with such content, an empty folder, or a folder that does not exist.
  /// - Throws: `unwritable`.
  package init(of path: String, _ content: Content) throws(ExportError) {
    self.path = path
    self.content = content
    var target = ExportLocation.withoutSlashes(path)
    // A symbolic link remains; the folder at its target is replaced.
    if let resolved = realpath(target, nil) {
      target = String(cString: resolved)
      free(resolved)
    }
    parent = ExportLocation.folder(of: target)
    name = String(target.split(separator: "/", omittingEmptySubsequences: true).last ?? "")
    guard !name.isEmpty, name != ".", name != ".." else {
      throw ExportError(.unwritable, path, "The path does not end with the name of a folder. Add a name.")
    }
    try Self.checkMovable(target, path, content)
    let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    part = "\(parent)/.\(name).part-\(getpid())-\(number)"
    try Self.checkReplaceable(target, path, content)
    Self.removeAbandonedParts(of: name, in: parent)
    guard mkdir(part, 0o777) == 0 else {
      throw ExportError(.unwritable, path, "Cannot create a folder in \(parent): \(String(cString: strerror(errno))).")
    }
  }

  /// Rejects a folder that cannot be renamed: this process's working directory, or a mount point.
  private static func checkMovable(_ target: String, _ path: String, _ content: Content) throws(ExportError) {
    if let here = getcwd(nil, 0) {
      defer { free(here) }
      if (String(cString: here) + "/").utf8.starts(with: (target + "/").utf8) {
        throw ExportError(
          .unwritable, path,
          "The working directory is in this folder, which would be replaced. Use a folder in it, such as "
            + "\(path.hasSuffix("/") ? path : path + "/")\(content.noun).")
      }
    }
    if MountedFolders.contain(target) {
      throw ExportError(
        .unwritable, path,
        "A file system is mounted in this folder, which would be replaced. Use a folder in it, such as "
          + "\(path.hasSuffix("/") ? path : path + "/")\(content.noun).")
    }
  }

  /// Rejects a file, or a folder with other content, since an export only replaces exports.
  private static func checkReplaceable(_ target: String, _ path: String, _ content: Content) throws(ExportError) {
    var status = stat()
    guard lstat(target, &status) == 0 else {
      if errno == ENOENT { return }
      throw ExportError(.unwritable, path, "The folder cannot be written: \(String(cString: strerror(errno))).")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw ExportError(.unwritable, path, "The path exists and is not a folder.")
    }
    if let other = try ExportLocation.names(in: target).first(where: { !content.holds($0) }) {
      throw ExportError(
        .unwritable, path,
        "The folder has files that are not part of the \(content.noun), such as \(other). Use another folder.")
    }
  }

  // MARK: Files

  func makeFolders(_ names: String) throws(ExportError) {
    var folder = part
    for name in names.split(separator: "/") {
      folder += "/" + name
      guard mkdir(folder, 0o777) == 0 || errno == EEXIST else { throw failure() }
    }
  }

  /// - Returns: the descriptor of a new file.
  package func make(_ name: String) throws(ExportError) -> Int32 {
    let descriptor = open(part + "/" + name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure() }
    return descriptor
  }

  func write(_ bytes: [UInt8], to descriptor: Int32) throws(ExportError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { throw failure() }
    }
  }

  /// Closes the file after fsync, so that it survives a power failure.
  package func end(_ descriptor: Int32) throws(ExportError) {
    defer { Glibc.close(descriptor) }
    // Some file systems cannot sync a single file.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure() }
  }

  package func write(_ bytes: [UInt8], to name: String) throws(ExportError) {
    let descriptor = try make(name)
    do throws(ExportError) { try write(bytes, to: descriptor) } catch {
      Glibc.close(descriptor)
      throw error
    }
    try end(descriptor)
  }

  package static func close(_ descriptor: Int32) { Glibc.close(descriptor) }

  // MARK: End

  /// Renames the folder to its final path.
  package func commit() throws(ExportError) {
    Self.sync(part)
    let target = parent + "/" + name
    // Exchanging the folders is one step, so the path always exists.
    if Self.exchange(part, target) {
      Self.remove(part)
    } else if rename(part, target) != 0 {
      try replaceInTwoSteps(target)
    }
    Self.sync(parent)
  }

  /// Replaces the old folder with two renames, on file systems that cannot exchange two names.
  private func replaceInTwoSteps(_ target: String) throws(ExportError) {
    let old = part + "-replaced"
    guard rename(target, old) == 0 else { throw failure() }
    guard rename(part, target) == 0 else {
      let failure = failure()
      rename(old, target)
      throw failure
    }
    Self.remove(old)
  }

  /// Removes the incomplete folder.
  package func discard() { Self.remove(part) }

  /// Exchanges the names of two files in one step.
  /// - Returns: false if one of the files is absent, or the file system cannot exchange them.
  private static func exchange(_ one: String, _ other: String) -> Bool {
    // The function is declared here because Swift does not import it from <stdio.h>.
    typealias Rename = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
    guard let symbol = dlsym(nil, "renameat2") else { return false }
    let exchanging: UInt32 = 2
    return unsafeBitCast(symbol, to: Rename.self)(AT_FDCWD, one, AT_FDCWD, other, exchanging) == 0
  }

  private static func sync(_ folder: String) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    Glibc.close(descriptor)
  }

  private static func remove(_ path: String) {
    // Cleanup only: a folder that cannot be listed remains.
    guard let names = try? ExportLocation.names(in: path) else { return }
    for name in names where unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
    rmdir(path)
  }

  /// Removes the incomplete folders of killed processes that wrote an export with this name.
  private static func removeAbandonedParts(of name: String, in folder: String) {
    // Cleanup only: if the folder cannot be listed, writing into it later fails with the reason.
    guard let found = try? ExportLocation.names(in: folder) else { return }
    let beginning = ".\(name).part-"
    for part in found where part.hasPrefix(beginning) {
      guard let process = pid_t(part.dropFirst(beginning.count).prefix { $0 != "-" }) else { continue }
      if kill(process, 0) != 0, errno == ESRCH { remove(folder + "/" + part) }
    }
  }

  private func failure() -> ExportError {
    ExportError(.unwritable, path, "The folder cannot be written: \(String(cString: strerror(errno))).")
  }
}

/// The mount points according to proc(5).
enum MountedFolders {
  private static let table = "/proc/self/mountinfo"

  /// - Parameter path: a path without links.
  /// - Returns: false if the system does not provide its table of mounted file systems.
  static func contain(_ path: String) -> Bool {
    guard let file = fopen(table, "re") else { return false }
    defer { fclose(file) }
    var (line, capacity) = (UnsafeMutablePointer<CChar>?.none, 0)
    defer { free(line) }
    while getline(&line, &capacity, file) > 0 {
      if let line, folder(String(cString: line).utf8) == Array(path.utf8) { return true }
    }
    return false
  }

  /// The mount point in a line of the table of mounted file systems. It is the fifth word; spaces and similar
  /// characters are escaped as `\\ooo`.
  static func folder(_ line: String.UTF8View) -> [UInt8]? {
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
    guard words.count > 4 else { return nil }
    var (name, rest) = ([UInt8](), Substring(words[4]).utf8)
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3, let octal = UInt8(String(digits) ?? "", radix: 8) {
        name.append(octal)
        rest.removeFirst(3)
      } else {
        name.append(byte)
      }
    }
    return name
  }
}
