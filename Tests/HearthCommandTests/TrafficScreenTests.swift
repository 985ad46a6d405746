// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import TerminalCanvas
import Testing

@testable import HearthCommand

/// The screen of a proxy, from events to cells.
@Suite struct TrafficScreenTests {
  private static let start = Timestamp(seconds: 1_000)

  private static func event(
    _ kind: ProtocolEvent.Kind, connection: Int = 1, stream: Int? = 1, _ method: String = "", at seconds: Int64 = 1_000,
    _ change: (inout ProtocolEvent) -> Void = { _ in }
  ) -> ProtocolEvent {
    var event = ProtocolEvent(
      kind, at: Timestamp(seconds: seconds), connection: connection, stream: stream, method: method)
    change(&event)
    return event
  }

  private static func message(_ kind: String, _ change: (inout MessageSummary) -> Void = { _ in }) -> MessageSummary {
    var message = MessageSummary()
    message.kind = kind
    change(&message)
    return message
  }

  /// A client that listens to a collection, was sent two documents and a token, and waits for a write.
  private static var board: TrafficBoard {
    var board = TrafficBoard()
    board.note(
      event(.connected, stream: nil) { ($0.address, $0.remark) = ("127.0.0.1:5000", "HTTP/2") })
    board.note(event(.opened, "Listen"))
    board.note(
      event(.request, "Listen") {
        $0.message = message("addTarget") { ($0.targets, $0.collection, $0.tokenLength) = ([2], "cities", 0) }
        $0.bytes = 50
      })
    board.note(event(.response, "Listen") { $0.message = message("added") { $0.targets = [2] } })
    for name in ["cities/SF", "cities/LA"] {
      board.note(
        event(.response, "Listen") {
          $0.message = message("documentChange") { ($0.documents, $0.count, $0.targets) = ([name], 1, [2]) }
          $0.bytes = 100
        })
    }
    board.note(
      event(.response, "Listen", at: 1_010) {
        $0.message = message("current") { ($0.targets, $0.tokenLength) = ([2], 8) }
      })
    board.note(event(.opened, stream: 2, "Write"))
    board.note(
      event(.request, stream: 2, "Write", at: 1_020) {
        $0.message = message("writes") { ($0.documents, $0.count) = (["cities/SF", "cities/LA"], 2) }
      })
    return board
  }

  private static func lines(_ state: TrafficState, _ width: Int = 120, _ height: Int = 36) -> [String] {
    let canvas = TrafficView(state, Size(width: width, height: height), .unicode, utcOffset: 0).canvas
    return (0..<height).map { y in canvas.row(y).map(\.text).joined() }
  }

  private static func state(_ board: TrafficBoard = board) -> TrafficState {
    var state = TrafficState(at: "127.0.0.1:8081", to: "127.0.0.1:8080", now: Timestamp(seconds: 1_030))
    state.board = board
    return state
  }

  @Test("A listener shows what it received, and a write its wait and then its response")
  func rows() throws {
    var board = Self.board
    let listener = try #require(board.listeners.first)
    #expect(listener.documents == 2 && listener.bytes == 200 && listener.state == .current)
    let before = Self.lines(Self.state(board))
    #expect(before.contains { $0.contains("#1") && $0.contains("127.0.0.1:5000") && $0.contains("2 open") })
    #expect(before.contains { $0.contains("cities") && $0.contains("2 sent") && $0.contains("token 20 s ago") })
    #expect(before.contains { $0.contains("Write") && $0.contains("10 s") && $0.contains("cities/SF cities/LA") })
    board.note(
      Self.event(.response, stream: 2, "Write", at: 1_021) {
        $0.message = Self.message("writeResults") { $0.count = 2 }
      })
    #expect(board.writes.isEmpty)
    let after = Self.lines(Self.state(board))
    #expect(after.contains { $0.contains("Write") && $0.contains("ok") && $0.contains("cities/SF and 1 more") })
  }

  @Test("A REST write waits until it is answered, and a read does not")
  func rest() {
    var board = TrafficBoard()
    for (stream, method) in [(1, "UpdateDocument"), (2, "GetDocument")] {
      board.note(Self.event(.opened, stream: stream, method))
      board.note(
        Self.event(.request, stream: stream, method) {
          $0.transport = .rest
          $0.message = Self.message("") { $0.documents = ["c/\(method)"] }
        })
    }
    #expect(board.writes.map(\.documents) == [["c/UpdateDocument"]])
    board.note(Self.event(.ended, "UpdateDocument") { $0.httpStatus = 200 })
    #expect(board.writes.isEmpty && board.requests.map(\.code) == ["HTTP 200"])
  }

  @Test("The end of a stream removes its listeners and shows its code and fault")
  func ends() {
    var board = Self.board
    board.note(Self.event(.fault, "Listen") { $0.remark = "the listener is refused" })
    board.note(
      Self.event(.ended, "Listen") {
        $0.status = RPCStatus(.permissionDenied, "no")
        $0.duration = .milliseconds(3)
      })
    #expect(board.listeners.isEmpty)
    let lines = Self.lines(Self.state(board))
    #expect(
      lines.contains {
        $0.contains("permission-denied") && $0.contains("3.0 ms") && $0.contains("the listener is refused")
      })
    board.note(Self.event(.disconnected, stream: nil))
    #expect(board.clients.isEmpty && board.writes.isEmpty)
  }

  @Test("Every size gets a frame of that size")
  func sizes() {
    var state = Self.state()
    for showsHelp in [false, true] {
      if showsHelp { _ = state.press(.character("?")) }
      for (width, height) in [(120, 36), (80, 24), (40, 10), (24, 4), (10, 2), (1, 1), (0, 0)] {
        let lines = Self.lines(state, width, height)
        #expect(lines.count == height && lines.allSatisfy { $0.count <= width })
        if height >= 24, !showsHelp {
          let titles = ["1 Clients", "2 Listeners", "3 Writes that wait", "4 Requests"]
          #expect(titles.allSatisfy { title in lines.contains { $0.contains(title) } })
        }
      }
    }
  }

  @Test("Names in the traffic cannot move the terminal's cursor")
  func hostile() {
    var board = TrafficBoard()
    board.note(Self.event(.opened, "Get\u{1b}[2J"))
    board.note(Self.event(.ended, "Get\u{1b}[2J") { $0.status = RPCStatus(.notFound, "\u{7}gone\n") })
    let text = Self.lines(Self.state(board)).joined()
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 } && text.contains("not-found"))
  }

  @Test("One key toggles the network, and invalid faults are reported")
  func keys() throws {
    var state = Self.state()
    #expect(state.press(.character("o")) == [.perform(.down(nil))])
    state.settings.isOffline = true
    #expect(Self.lines(state)[0].contains("UNPLUGGED"))
    #expect(state.press(.character("o")) == [.perform(.up)])
    func type(_ words: String) -> [TrafficState.Effect] {
      for character in ":" + words { _ = state.press(.character(character)) }
      return state.press(Key(.enter))
    }
    #expect(type("fault next write drop-ack") == [.perform(.event(.write(.dropAcknowledgement)))])
    #expect(type("calm") == [.perform(.calm)])
    #expect(type("latencie 3").isEmpty)
    #expect(Self.lines(state).last?.contains("not understood: column 1") == true)
    state.now = state.now.advanced(by: 10)
    #expect(Self.lines(state).last?.contains("quit") == true)
    #expect(type("quit") == [.quit])
    #expect(state.press(.character("q")) == [.quit])
  }

  @Test("Traffic beyond the screen scrolls in the focused pane")
  func scrolling() {
    var board = TrafficBoard()
    for number in 1...60 {
      board.note(Self.event(.opened, stream: number, "Commit"))
      board.note(
        Self.event(.request, stream: number, "Commit") {
          $0.message = Self.message("") { ($0.documents, $0.count) = (["c/d\(number)"], 1) }
        })
      board.note(Self.event(.ended, stream: number, "Commit") { $0.status = RPCStatus(.ok, "") })
    }
    var state = Self.state(board)
    #expect(Self.lines(state).contains { $0.contains("c/d60 ") })
    for key in ["4", "pgdn"] { if let key = Key(key) { _ = state.press(key) } }
    let lines = Self.lines(state)
    #expect(!lines.contains { $0.contains("c/d60 ") } && lines.contains { $0.contains("c/d50 ") })
    for key in ["G", "g"] { if let key = Key(key) { _ = state.press(key) } }
    #expect(Self.lines(state).contains { $0.contains("c/d60 ") })
  }

  @Test("Old traffic is dropped first, and events that come too fast are counted")
  func bounds() {
    var board = TrafficBoard()
    for number in 1...1_200 {
      board.note(Self.event(.opened, stream: number, "Commit"))
      board.note(Self.event(.ended, stream: number, "Commit"))
    }
    #expect(board.requests.count <= TrafficBoard.mostRequests && board.requestCount == 1_200)
    board.miss(7)
    #expect(Self.lines(Self.state(board))[0].contains("7 events missed"))
  }
}

extension Timestamp {
  fileprivate func advanced(by amount: Int64) -> Timestamp { Timestamp(seconds: seconds + amount) }
}
