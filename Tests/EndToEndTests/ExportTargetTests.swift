// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.OnPseudoTerminal {
  @Suite(.serialized) struct ExportTargetTests {
    private let surroundings: Surroundings
    private let expected = "{\"path\": \"a/b\", \"data\": {\"n\": 1}}\n"

    init() async throws {
      surroundings = try Surroundings()
      #expect(try await HeadlessRun(["set", "a/b", "{\"n\": 1}"], surroundings).status == 0)
    }

    private func path(_ name: String) -> String { surroundings.folder.appending(path: name).path }

    private func export(to target: String, _ redirection: String = "<&0") async throws -> HeadlessRun {
      try await HeadlessRun(["export", "a", "-o", target], redirection: redirection, surroundings)
    }

    private func kind(_ name: String) -> mode_t {
      var status = stat()
      return lstat(path(name), &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    @Test("An export to a symbolic link replaces the target of the link")
    func link() async throws {
      try surroundings.write("old", "the old backup\n")
      symlink("old", path("middle"))
      symlink("middle", path("link"))
      #expect(try await export(to: path("link")).status == 0)
      #expect(kind("link") == S_IFLNK && kind("middle") == S_IFLNK)
      #expect(try surroundings.text("old") == expected)
    }

    @Test("An export can write to a named pipe")
    func namedPipe() async throws {
      #expect(mkfifo(path("pipe"), 0o600) == 0)
      let reader = try ChildProcess(
        ["cat", path("pipe")], environment: surroundings.environment, streams: .pipes)
      #expect(try await export(to: path("pipe")).status == 0)
      #expect(try await ChildProcess.all(reader.output) == expected)
      #expect(kind("pipe") == S_IFIFO)
    }

    @Test("An export can write to a device")
    func device() async throws {
      let terminal = try PseudoTerminal()
      symlink(terminal.path, path("device"))
      #expect(try await export(to: path("device")).status == 0)
      try await terminal.wait("{\"path\": \"a/b\"")
      #expect(kind("device") == S_IFLNK)
    }

    @Test("An export can write to an open descriptor and reports a full device")
    func descriptor() async throws {
      #expect(try await export(to: "/dev/stdout").output == expected)
      #expect(try await export(to: "-").output == expected)
      #expect(try await export(to: "/dev/fd/9", "9>>'\(path("appended"))'").status == 0)
      #expect(try await export(to: "/dev/fd/9", "9>>'\(path("appended"))'").status == 0)
      #expect(try surroundings.text("appended") == expected + expected)
      let full = try await export(to: "/dev/fd/9", "9>/dev/full")
      #expect(full.status == 74 && full.hasOneErrorLine && full.errors.contains("/dev/fd/9"), "\(full.errors)")
    }

    @Test("A failed export keeps the previous file and leaves no other file")
    func failure() async throws {
      try surroundings.write("backup", "the old backup\n")
      chmod(path("backup"), 0o640)
      for arguments in [["export", "a/absent"], ["export", "a", "--emulator", "127.0.0.1:1"]] {
        #expect(try await HeadlessRun(arguments + ["-o", path("backup")], surroundings).status != 0)
        #expect(try surroundings.text("backup") == "the old backup\n")
      }
      let missing = try await export(to: path("no such folder/backup"))
      #expect(missing.status == 73 && missing.hasOneErrorLine && missing.errors.contains("no such folder"))
      let folder = try await export(to: surroundings.folder.path)
      #expect(folder.status == 73 && folder.errors.contains("folder"), "\(folder.errors)")

      #expect(try await export(to: path("backup")).status == 0)
      #expect(try surroundings.text("backup") == expected)
      var status = stat()
      #expect(stat(path("backup"), &status) == 0 && status.st_mode & 0o777 == 0o640)
      let left = try FileManager.default.contentsOfDirectory(atPath: surroundings.folder.path)
      #expect(!left.contains { $0.contains(".part-") }, "\(left)")
    }

    @Test("An export includes subcollections or counts those that it omits")
    func subcollections() async throws {
      for path in ["a/b/c/d", "a/b/e/f", "a/ghost/c/d"] {
        #expect(try await HeadlessRun(["set", path, "{}"], surroundings).status == 0)
      }
      let flat = try await HeadlessRun(["export", "--all", "--no-recursive"], surroundings)
      #expect(flat.status == 0 && flat.output == expected)
      #expect(flat.hasOneErrorLine && flat.errors.contains("3 subcollections were skipped"), "\(flat.errors)")
      let whole = try await HeadlessRun(["export", "--all"], surroundings)
      #expect(whole.errors == "" && whole.lines.count == 4)
    }
  }
}
