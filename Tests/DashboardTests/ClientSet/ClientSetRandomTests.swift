// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import SeededRandom
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Several clients under random input")
struct ClientSetRandomTests {
  @Test(
    "Under random input each area shows its client, and one client has the focus",
    arguments: [1, 2, 3] as [UInt64])
  func random(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var driver = ClientSetDriver.shared(Size(width: 160, height: 48), ["bob", "carl"])
    var keys = Keymap.standard.commands.flatMap(\.keys) + "ab1:/".map { .character($0) }
    // Quitting ends nothing here, and a replaced editor is not there to answer.
    keys.removeAll { $0 == Key("ctrl-z") }
    let commands = [
      "client add dora", "client remove dora", "client remove bob", "client add bob user u", "client carl",
      "client nobody", "listen cities", "theme nord",
    ]
    for step in 0..<TestSize.count(250, full: 2500) {
      switch step % 10 {
      case 3: driver.run(commands.randomElement(using: &random) ?? "")
      case 6:
        let kinds: [MouseEvent.Kind] = [.press, .release, .drag, .wheelUp, .wheelDown]
        driver.mouse(
          kinds.randomElement(using: &random) ?? .press, Int.random(in: 0..<210, using: &random),
          Int.random(in: 0..<65, using: &random))
      case 9:
        let size = Size(
          width: Int.random(in: 1...240, using: &random), height: Int.random(in: 1...60, using: &random))
        driver.send(.input(.resize(size), at: driver.now))
      case 5:
        let name = driver.names.randomElement(using: &random) ?? "one"
        driver.tell(
          name, .pendingWrites([pendingWrite(Int64(step), .set, "cities/SF", at: driver.now, .held)]),
          at: Double(step))
      default: driver.send(.input(.key(keys.randomElement(using: &random) ?? Key(.enter)), at: driver.now))
      }
      let clientSet = driver.clientSet
      #expect(clientSet.members.indices.contains(clientSet.focusIndex) && clientSet.first.name == "one")
      #expect(Set(driver.names).count == driver.names.count && driver.names.count <= ClientSetFacts.mostClients)
      for (member, place) in zip(clientSet.members, clientSet.layout.places) where !place.isEmpty {
        #expect(member.session.shown.size == place.size, "seed \(seed), step \(step), \(member.name)")
        #expect(member.session.live.clientSet.map { $0.own == member.name } ?? !clientSet.isShared)
      }
      if step.isMultiple(of: 5) { #expect(driver.canvas.size == clientSet.size) }
    }
  }
}
