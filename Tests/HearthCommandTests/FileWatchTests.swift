// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Testing

@testable import DashboardHost
@testable import HearthCommand

@Suite("Watching user files")
@MainActor
struct FileWatchTests {
  private let folder: TemporaryFolder
  private let told: AsyncStream<Void>
  private let watch: FileWatch

  init() throws {
    folder = try TemporaryFolder.made()
    try folder.write("hearth/config.toml", "")
    let (told, continuation) = AsyncStream.makeStream(of: Void.self)
    self.told = told
    let folders = ["\(folder.path)/hearth", "\(folder.path)/hearth/themes"]
    let watch = FileWatch(folders: folders) { continuation.yield() }
    self.watch = try #require(watch)
  }

  @Test("A file changed in place is detected even if a sibling folder is missing", .timeLimit(.minutes(15)))
  func inPlace() async throws {
    for line in ["one\n", "two\n"] {
      let file = try #require(FileHandle(forUpdatingAtPath: "\(folder.path)/hearth/config.toml"))
      try file.seekToEnd()
      try file.write(contentsOf: Data(line.utf8))
      try file.close()
      for await _ in told { break }
    }
    watch.stop()
  }
}
