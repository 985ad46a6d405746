// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Import and export in the dashboard")
struct TransferTests {
  private let request = TransferRequest.importing(file: "a.jsonl", into: nil)

  private func driver(_ kind: ConnectedBackend.Kind = .emulator, isReadOnly: Bool = false) -> Driver {
    var driver = Driver(kind: kind)
    driver.state.configuration.isReadOnly = isReadOnly
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders", "users"]), at: 0)
    return driver
  }

  private func run(_ command: String, _ driver: inout Driver) {
    driver.press(":")
    driver.type(command)
    driver.press("enter")
  }

  @Test("The selected collection or everything is exported to the given file")
  func export() {
    var driver = driver()
    run("export", &driver)
    #expect(driver.screen.contains("orders.jsonl"))
    driver.press("enter")
    #expect(driver.effects == [.client(.transfer(.export([ResourcePath("orders")], file: "orders.jsonl")))])
    run("whole database", &driver)
    driver.press("ctrl-u enter")
    #expect(driver.effects == [])
    #expect(driver.screen.contains("type the name of a file"))
    driver.type("~/all.json")
    driver.press("enter")
    #expect(driver.effects == [.client(.transfer(.export(nil, file: "~/all.json")))])
  }

  @Test("Progress is shown in dialog and footer, h hides it, and x cancels the transfer")
  func progress() {
    var driver = driver()
    run("import", &driver)
    driver.type("a.jsonl")
    driver.press("enter")
    #expect(driver.effects == [.client(.transfer(request))])
    driver.host(.transferring(TransferState(request)), at: 1)
    var news = TransferState(request, documents: 1204, refused: 2, perSecond: 3210, fraction: 0.45, secondsLeft: 72)
    driver.host(.transferring(news), at: 2)
    #expect(driver.screen.contains("1 204 documents, 3 210/s, 45 %, 1:12 left, 2 rejected"))
    #expect(driver.screen.contains(String(repeating: "█", count: 18) + " "))
    // A screen with a running import is not idle.
    driver.tick(30)
    #expect(!driver.screen.contains("idle since"))
    driver.press("h")
    #expect(driver.state.overlay == nil)
    news.fraction = 0.5
    driver.host(.transferring(news), at: 3)
    #expect(driver.state.overlay == nil, "news open nothing that was hidden")
    #expect(driver.screen.contains("[IMPORT 50 %]"))
    run("its progress", &driver)
    driver.press("x")
    #expect(driver.effects == [.client(.cancelTransfer)])
  }

  @Test("The summary shows counts, rejected lines with reasons, and the next step")
  func account() {
    var driver = driver()
    driver.host(.transferring(TransferState(request)), at: 1)
    let account = TransferSummary(
      request, .complete, documents: 998, elapsed: .milliseconds(1234), refused: ["line 3, column 9: no value"],
      refusedCount: 2, notes: ["Rejected documents are in a.jsonl.rejected. Fix and import them."])
    driver.host(.transferred(account), at: 2)
    #expect(driver.effects == [.client(.listCollections(below: .root))], "new collections show")
    for text in ["998 documents imported from a.jsonl in 1.2 s; 2 rejected", "line 3, column 9", "no value", "1 more"] {
      #expect(driver.screen.contains(text), "\(text) is missing:\n\(driver.screen)")
    }
    #expect(driver.state.feed.rows.last?.summary == account.text)
    driver.press("esc")
    #expect(driver.state.storage.transfers.running == nil)
    run("its progress", &driver)
    #expect(driver.screen.contains("998 documents imported"))
  }

  @Test("A transfer that ends in the background leaves the open dialog in place")
  func hidden() {
    var driver = driver()
    driver.host(.transferring(TransferState(request)), at: 1)
    driver.press("h :")
    driver.host(.transferred(TransferSummary(request, .cancelled, documents: 5, elapsed: .seconds(1))), at: 2)
    #expect(driver.state.overlay?.kind == .palette)
    #expect(driver.state.messages.last?.text == "import of a.jsonl canceled after 5 documents")
  }

  @Test("A second transfer, or a transfer while offline, is rejected with a message")
  func refused() {
    var driver = driver()
    driver.host(.transferring(TransferState(request)), at: 1)
    driver.press("h")
    run("whole database", &driver)
    #expect(driver.state.messages.last?.text.hasSuffix("is still running") == true)
    driver.host(.transferred(TransferSummary(request, .complete, documents: 5, elapsed: .seconds(1))), at: 2)
    driver.client(.status(Scenario.status(3, isEnabled: false)), at: 3)
    run("whole database", &driver)
    #expect(driver.state.messages.last?.text.hasPrefix("you are offline") == true)
  }

  @Test("A read-only dashboard exports but does not import")
  func readOnly() {
    var driver = driver(isReadOnly: true)
    run("import", &driver)
    #expect(driver.state.overlay == nil)
    #expect(driver.state.messages.last?.text == driver.state.readOnlyReason)
    #expect(driver.state.withoutWrites([.client(.transfer(request))]) == [])
    run("whole database", &driver)
    #expect(driver.state.overlay?.kind == .prompt)
  }

  @Test("Importing into real data requires typing the project")
  func cloud() {
    var driver = driver(.cloud)
    run("import", &driver)
    driver.type("a.jsonl")
    driver.press("enter")
    #expect(driver.effects == [])
    driver.press("tab enter")
    #expect(driver.effects == [])
    driver.type("demo-shop")
    driver.press("enter")
    #expect(driver.effects == [.client(.transfer(request))])
  }

  @Test("Quitting during a transfer asks first")
  func quit() {
    var driver = driver()
    driver.host(.transferring(TransferState(request)), at: 1)
    driver.press("h q")
    #expect(driver.effects == [])
    #expect(driver.screen.contains("Import a.jsonl is still running."))
  }
}
