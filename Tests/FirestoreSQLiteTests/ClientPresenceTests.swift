// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Testing

@testable import FirestoreSQLite

@Suite struct ClientPresenceTests {
  @Test("A closed client's place is free even if a child process inherited its descriptor")
  func leaving() throws {
    let folder = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
    var leaving: ClientPresence? = try ClientPresence(in: folder.path)
    let place = try #require(leaving?.place)
    let copies = descriptors(of: folder.path + "/" + ClientPresence.name).map { dup($0) }
    defer { copies.forEach { close($0) } }
    let other = try ClientPresence(in: folder.path)
    #expect(!copies.isEmpty && other.isTaken(place))

    leaving = nil

    #expect(!other.isTaken(place))
    #expect(try ClientPresence(in: folder.path).place == place)
  }

  /// The descriptors of this process that a file is open by.
  private func descriptors(of path: String) -> [CInt] {
    let path = URL(filePath: path).resolvingSymlinksInPath().path
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return all.compactMap { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
      return target == path ? CInt(name) : nil
    }
  }
}
