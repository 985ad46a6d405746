// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

/// Rejected writes in pane 2: what their keys do, and what is said of them.
@Suite("Rejected writes in the dashboard")
struct RejectedWritesTests {
  private let denied = RPCStatus(.permissionDenied, "only admins may do this")

  private func rejected(_ batch: Int64) -> RejectedWrite {
    let mutation = Mutation(key: key("users/u\(batch)"), operation: .set(["n": .integer(batch)]))
    return RejectedWrite(
      id: BatchID(batch), mutations: [mutation], localWriteTime: at(1),
      rejection: Rejection(status: denied, time: at(9), attempts: 2), byteCount: 1_536)
  }

  /// The shop's three waiting writes 42 to 44, and the rejected 40 and 41.
  private func driver(_ size: Size = Size(width: 120, height: 36)) -> Driver {
    var driver = Scenario.online.play(size)
    driver.client(.rejectedWrites([rejected(40), rejected(41)]), at: 18)
    driver.press("2 G")
    return driver
  }

  @Test("Rejected writes are listed below pending writes with their errors")
  func shown() {
    let driver = driver()
    #expect(driver.state.writes.rows.map(\.batch.rawValue) == [42, 43, 44, 40, 41])
    #expect(driver.state.writes.selected?.batch == BatchID(41))
    #expect(driver.screen.contains("2 rejected"))
    #expect(driver.screen.contains("#41 permission-denied: only admins may do this"))
    #expect(driver.screen.contains("r send again"))
    #expect(driver.screen.contains("x drop"))
  }

  @Test("A rejected write shows its age at rejection, in the same unit as other ages")
  func age() {
    let row = driver().screen.split(separator: "\n").first { $0.contains("#41") && $0.contains("rejected") }
    #expect(row?.contains(" 0:08 ") == true, "\(row ?? "")")
  }

  @Test("A rejected write's row shows the line of the deciding rule", arguments: [(120, 36), (200, 60)])
  func rules(width: Int, height: Int) {
    var driver = Scenario.online.play(Size(width: width, height: height))
    let refusal = RPCStatus(.permissionDenied, "Missing or insufficient permissions. 'create' @ L7")
    driver.client(.writeRejected(BatchID(44), refusal), at: 18)
    driver.press("2 G")
    #expect(driver.screen.contains("#44 permission-denied: 'create' @ L7"), "\(driver.screen)")
    #expect(RPCStatus(.permissionDenied, "Missing or insufficient permissions.").lineText.hasSuffix("permissions."))

    driver.client(.listenerFailed(ListenerTag(2), refusal), at: 19)
    driver.press("4 G")
    #expect(driver.screen.contains("listener ended: permission-denied: 'cr"), "\(driver.screen)")
  }

  @Test(
    "The box of a rejected write edits it, sends it again or drops it",
    arguments: [
      ("s", [.client(.resend(BatchID(41)))]), ("x", [.client(.dropRejected([BatchID(41)]))]),
    ] as [(String, [Effect])])
  func box(_ letter: String, _ effects: [Effect]) {
    var driver = driver()
    driver.press("enter")
    for title in ["e edit and send again", "s send again", "x drop"] {
      let words = title.split(separator: " ", maxSplits: 1)
      #expect(driver.screen.contains(words[1]), "\(driver.screen)")
    }
    driver.press(letter)
    #expect(driver.effects == effects)
    driver.press("enter e")
    guard case .terminal(.edit(let request))? = driver.effects.first else {
      Issue.record("\(driver.effects)")
      return
    }
    #expect(request.subject == .rejectedWrite(BatchID(41)))
  }

  @Test("r resends the selected rejected write, or all marked ones")
  func resend() {
    var driver = driver()
    driver.press("r")
    #expect(driver.effects == [.client(.resend(BatchID(41)))])

    driver.press("k space space r")
    #expect(driver.effects == [.client(.resend(BatchID(40))), .client(.resend(BatchID(41)))])
    #expect(driver.state.writes.marked.isEmpty)
  }

  @Test("Pressing r on a pending write skips the wait before the next attempt")
  func retry() {
    var driver = driver()
    var status = Scenario.status(18)
    status.nextRetry = at(30)
    driver.client(.status(status), at: 18)
    driver.press("g r")
    #expect(driver.effects == [.client(.retryNow)])
  }

  @Test("Pressing e edits the rejected write as JSON")
  func edit() {
    var driver = driver()
    driver.press("e")
    let text = WriteJSON.text(of: rejected(41).mutations, relativeTo: database)
    #expect(driver.effects == [.terminal(.edit(EditRequest(.rejectedWrite(BatchID(41)), text: text)))])

    driver.press("g e")
    #expect(driver.effects == [])
    #expect(driver.state.toasts.last?.text == "only a rejected write can be edited")
  }

  @Test("Canceling an edit in $EDITOR does not reopen an earlier field editor")
  func editGivenUp() {
    var driver = driver()
    var earlier = FieldEditor(.document(key("orders/a")), ["n": 1], in: database)
    earlier.select(["n"])
    earlier.removeSelected()
    driver.state.typing.editing.handOver(earlier)

    driver.press("e")
    driver.host(.editorGaveUp("No editor"), at: 19)

    #expect(driver.state.overlay == nil)
  }

  @Test("x drops the selected write after confirmation, and X drops all")
  func drop() {
    var driver = driver()
    driver.press("x enter")
    #expect(driver.effects == [])
    driver.press("x tab enter")
    #expect(driver.effects == [.client(.dropRejected([BatchID(41)]))])

    driver.press("X")
    #expect(driver.screen.contains("Drop 2 rejected writes"))
    driver.press("tab enter")
    #expect(driver.effects == [.client(.dropRejected([BatchID(40), BatchID(41)]))])

    driver.client(.rejectedWrites([]), at: 19)
    #expect(driver.state.writes.rows.count == 3)
    driver.press("X")
    #expect(driver.state.toasts.last?.text == "no write was rejected")
  }

  @Test("Pressing x on marked pending and rejected writes asks for one confirmation")
  func both() {
    var driver = driver()
    driver.press("k space g j space x")
    #expect(driver.screen.contains("Cancel or drop 2 writes"))
    driver.press("tab enter")
    #expect(driver.effects == [.client(.cancelWrite(BatchID(43))), .client(.dropRejected([BatchID(40)]))])
  }

  @Test("A rejected write moves below the pending writes immediately, with a message")
  func arrives() {
    var driver = driver()
    driver.client(.writeRejected(BatchID(43), denied), at: 20)
    #expect(driver.state.writes.rows.map(\.batch.rawValue) == [42, 44, 40, 41, 43])
    #expect(driver.state.toasts.last?.kind == .error)

    // The list of waiting writes may still have it; the list of rejected ones decides.
    driver.client(.rejectedWrites([rejected(43)]), at: 20)
    #expect(driver.state.writes.rows.map(\.batch.rawValue) == [42, 44, 43])
  }

  @Test("A canceled write disappears without an error")
  func takenBack() {
    var driver = driver()
    driver.client(.writeCancelled(BatchID(43)), at: 20)
    #expect(driver.state.writes.rows.map(\.batch.rawValue) == [42, 44, 40, 41])
    #expect(driver.state.toasts.allSatisfy { $0.kind != .error })
  }

  @Test(
    "The write queue has a size column if the screen is wide enough",
    arguments: [(120, false), (159, false), (250, true)])
  func sizes(_ width: Int, _ hasColumn: Bool) {
    let driver = driver(Size(width: width, height: 36))
    #expect(driver.screen.contains("1.5 kB") == hasColumn)
  }
}

@Suite("Human-readable sizes")
struct ByteTextTests {
  @Test(
    "Sizes have two significant digits",
    arguments: [
      (0, "0 B"), (999, "999 B"), (1_024, "1.0 kB"), (1_536, "1.5 kB"), (20_480, "20 kB"), (104_857_600, "100 MB"),
      (1_023_900, "1.0 MB"), (-5, "0 B"), (5_000_000_000_000, "4.5 TB"),
    ])
  func short(_ count: Int, _ text: String) {
    #expect(ByteText.short(count) == text)
  }
}

@Suite("Snapshot causes")
struct SnapshotReasonTests {
  @Test("The feed names each snapshot cause that has no column")
  func reasons() {
    let causes: [(SnapshotCause, String?)] = [
      (.listenerAdded, "listener added"), (.localWrite(BatchID(1)), nil), (.acknowledged(BatchID(1)), nil),
      (.rejected(BatchID(1), RPCStatus(.aborted, "")), nil), (.cancelled(BatchID(1)), nil), (.fromServer, nil),
      (.networkDisabled, "you went offline"), (.offline, "server out of reach"),
      (.limboResolved(key("users/ada")), "looked up ada"),
      (.existenceFilter, "server's count differs from the cache"), (.userChanged, "another user signed in"),
      (.bundleLoaded("b1"), "bundle b1 loaded"), (.cacheRecovered, "the cache works again"),
    ]
    for (cause, text) in causes {
      var driver = Scenario.online.play(Size(width: 160, height: 36))
      let old = Scenario.orders[0]
      let new = document("orders/4hT0q9Lm", at: 20, ["total": 43.5])
      Scenario.snapshot(
        &driver, ListenerTag(2), [.init(.modified, new, previous: old)], count: 3, [.fromServer, cause], at: 20)
      #expect(driver.state.feed.selected?.why == text)
      if let text { #expect(driver.screen.contains(text)) }

      // Where nothing changed, the reason is all there is to say.
      Scenario.snapshot(&driver, ListenerTag(2), [], count: 3, [cause], at: 21)
      #expect(driver.state.feed.selected?.summary == text ?? "3 docs")
    }
  }

  @Test("Of many limbo lookups in a snapshot, two are named and the others are counted")
  func lookups() {
    let causes = (0..<5).map { SnapshotCause.limboResolved(key("users/u\($0)")) }
    #expect(SnapshotReasons.text(of: causes, separator: ", ") == "looked up u0, looked up u1, 3 more looked up")
  }

  @Test("The outage ruler distinguishes time with unknown status from online time")
  func ruler() {
    var history = OnlineHistory()
    history.note(isOffline: false, isKnown: false, at: at(0))
    #expect(history.ruler(columns: 2, at: at(0)) == [.unknown, .unknown])
    history.note(isOffline: false, isKnown: true, at: at(10))
    // Whole minutes, from 12:01 to 12:10.
    let known: [OnlineHistory.Part] = Array(repeating: .unknown, count: 3) + Array(repeating: .online, count: 7)
    #expect(history.ruler(columns: 10, at: at(400)) == known)
    history.note(isOffline: true, isKnown: true, at: at(405))
    #expect(history.ruler(columns: 10, at: at(406)) == known.dropLast() + [.outage])
  }
}
