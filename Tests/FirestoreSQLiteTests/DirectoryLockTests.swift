// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Glibc
import Testing

@testable import FirestoreSQLite

@Suite("Store directory") struct DirectoryLockTests {
  private func lock(_ path: String) throws -> [String] {
    let lock = try DirectoryLock(directory: path, called: "data directory", own: ["data"])
    return lock.notices
  }

  @Test("A new directory and its new parents are private")
  func made() throws {
    let directory = TemporaryFolder()
    #expect(try lock(directory.path + "/a/b") == [])
    for part in ["", "/a", "/a/b"] { #expect(try mode(of: directory.path + part) == 0o700) }
    #expect(try mode(of: directory.path + "/a/b/lock") == 0o600)
  }

  @Test("A store directory that other users can access becomes private with a notice")
  func narrowed() throws {
    let directory = TemporaryFolder()
    try directory.make(mode: 0o755)
    _ = FileManager.default.createFile(
      atPath: directory.path + "/data.sqlite3", contents: Data(), attributes: [.posixPermissions: 0o644])

    let notices = try lock(directory.path)
    #expect(notices.count == 1 && notices[0].contains("was open to other users (mode 0755). Its mode is now 0700"))
    #expect(try mode(of: directory.path) == 0o700)
    let notice = try PrivateFile.secure(directory.path + "/data.sqlite3")
    #expect(notice?.contains("(mode 0644). Its mode is now 0600") == true)
    #expect(try mode(of: directory.path + "/data.sqlite3") == 0o600)
  }

  @Test("A directory with other files keeps its mode, but only its user may write to it")
  func shared() throws {
    let directory = TemporaryFolder()
    try directory.make(mode: 0o755)
    _ = FileManager.default.createFile(atPath: directory.path + "/letter.txt", contents: Data())
    #expect(try lock(directory.path) == [])
    #expect(try mode(of: directory.path) == 0o755)

    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory.path)
    let error = #expect(throws: StoreError.self) { _ = try lock(directory.path) }
    #expect(error?.kind == .notPrivate)
    #expect(error?.message.contains("other users can write to it (mode 0777)") == true)
  }

  @Test("A process is reported as the directory's owner only if it has the lock open")
  func holder() throws {
    let directory = TemporaryFolder()
    _ = try lock(directory.path)
    // Held by somebody who has not written its number: what stands there is of one that has nothing to do with it.
    let descriptor = open(directory.path + "/lock", O_RDWR)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    for number in ["1\n", "2147483647\nserves\n", "-1\n", "0\n", "x\n", ""] {
      ftruncate(descriptor, 0)
      pwrite(descriptor, Array(number.utf8), number.utf8.count, 0)
      let error = #expect(throws: StoreError.self) { _ = try lock(directory.path) }
      #expect(error?.kind == .locked && error?.message.contains("in use by another process. End that process") == true)
      #expect(DirectoryLock.presentHolder(of: directory.path) == nil)
    }
    flock(descriptor, LOCK_UN)
    let own = try DirectoryLock(directory: directory.path, called: "data directory", own: ["data"])
    let error = #expect(throws: StoreError.self) { _ = try lock(directory.path) }
    #expect(error?.message.contains("in use by process \(getpid()) (this one)") == true)
    #expect(DirectoryLock.presentHolder(of: directory.path)?.process == getpid())
    withExtendedLifetime(own.notices) {}
  }

  @Test("A directory's owner and mode decide if it is used, restricted or rejected")
  func verdicts() {
    func verdict(_ owner: UInt32, _ mode: UInt32, shared: Bool = false, user: UInt32) -> DirectoryPermissions.Verdict {
      DirectoryPermissions(owner: owner, mode: mode, isShared: shared).verdict(for: user)
    }
    #expect(verdict(1000, 0o700, user: 1000) == .use)
    #expect(verdict(1000, 0o770, user: 1000) == .narrow)
    #expect(verdict(1001, 0o700, user: 1000) == .refuse("it belongs to another user (1001)"))
    #expect(verdict(0, 0o1777, user: 1000) == .refuse("it belongs to another user (0)"))
    // Never all temporary files of a machine.
    #expect(verdict(0, 0o1777, user: 0) == .refuse("other users can write to it (mode 1777)"))
    #expect(verdict(1000, 0o755, user: 0) == .use)
    #expect(verdict(1000, 0o775, user: 0) == .refuse("users other than its owner can write to it (mode 0775)"))
  }

  @Test("A symbolic link in place of a file is not followed, and its target is unchanged", arguments: [true, false])
  func links(_ isSymbolic: Bool) throws {
    let directory = TemporaryFolder()
    try directory.make()
    let store = directory.path + "/store"
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    let victim = directory.path + "/victim"
    try Data("letter".utf8).write(to: URL(filePath: victim))
    if isSymbolic {
      try FileManager.default.createSymbolicLink(atPath: store + "/lock", withDestinationPath: victim)
    } else {
      try FileManager.default.linkItem(atPath: victim, toPath: store + "/lock")
    }

    let error = #expect(throws: StoreError.self) { _ = try lock(store) }
    #expect(error?.kind == .notPrivate)
    #expect(try String(contentsOfFile: victim, encoding: .utf8) == "letter")
  }

  @Test("A second lock fails and names the process that holds the first lock")
  func held() throws {
    let directory = TemporaryFolder()
    let first = try DirectoryLock(directory: directory.path, called: "data directory", own: [])
    let error = #expect(throws: StoreError.self) { _ = try lock(directory.path) }
    let process = ProcessInfo.processInfo.processIdentifier
    #expect(error?.kind == .locked)
    #expect(error?.message.contains("process \(process)") == true)
    #expect(first.directory == directory.path)
  }
}
