// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel
@testable import DashboardView

/// The use of a large screen. A cell carries nothing when it is blank, no part of a frame, and does not stand between two
/// texts of its pane's row that are at most `longestGap` columns apart: such blanks part words and columns.
@Suite("Large screen usage")
struct FilledRoomTests {
  static let sizes = [Size(width: 200, height: 60), Size(width: 120, height: 36), Size(width: 80, height: 24)]
  private static let longestGap = 12

  enum Main: String, CaseIterable, CustomTestStringConvertible {
    case online, offline, document, collection, young, empty, listeners, hundredThousand

    var testDescription: String { rawValue }

    /// The largest share of cells that carry nothing, in hundredths.
    func limit(at size: Size) -> Int {
      switch self {
      case .online, .offline, .document, .collection, .listeners, .hundredThousand: size.width == 200 ? 25 : 35
      // The first minute. A large screen has room for more than has happened.
      case .young, .empty: size.width == 200 ? 55 : 35
      }
    }

    func state(_ size: Size) -> DashboardState {
      switch self {
      case .online: return shop(size).state
      case .offline:
        var scene = shop(size)
        scene.at("12:06:20")
        scene.offline()
        scene.serveFromCache()
        for number in 0..<6 {
          let path = "orders/\(FilledRoomTests.id(20 + number))"
          scene.queue(row(Int64(42 + number), .update, path, .held, at: "12:06:2\(number)"))
        }
        scene.tick("12:06:40")
        return scene.state
      case .document:
        var scene = shop(size)
        scene.press("enter")
        let order = FilledRoomTests.order(10, of: "orders")
        scene.hear(.detail(order.key, remote: order, overlay: nil, local: order))
        return scene.state
      case .collection:
        var scene = shop(size)
        scene.press("g j")
        return scene.state
      case .young: return Shop.online(size, .unicode).state
      case .empty:
        var scene = Scene(size: size)
        scene.change { $0.configuration.reachingOptions = "" }
        scene.collections()
        scene.online([])
        return scene.state
      case .listeners:
        var scene = shop(size)
        for number in 0..<100 {
          scene.listen("tenant/\(number)", Query(path: ResourcePath("tenants/t\(number)/orders")))
        }
        scene.change { state in
          state.network.reads = state.listeners.map {
            ReadMeter(target: $0.query.target, sent: 40 + $0.tag.rawValue, kept: 3)
          }
        }
        return scene.state
      case .hundredThousand:
        var scene = shop(size, of: "events", total: 100_000)
        scene.change { state in
          let path = ResourcePath("events")
          state.browser.windows[path]?.offset = 49_980
          state.browser.windows[path]?.shown?.place = .from(FilledRoomTests.order(10, of: "events").key)
        }
        return scene.state
      }
    }

    /// Documents of eight fields, in which something has happened for a while.
    private func shop(_ size: Size, of path: String = "orders", total: Int = 187) -> Scene {
      var scene = Scene(size: size)
      scene.store[path] = (10..<90).map { FilledRoomTests.order($0, of: path) }
      scene.totals = [path: total, "users": 12, "products": 8, "chat": 1]
      scene.online([3, 4, 3, 6, 12, 3, 2, 5, 9, 30, 4, 3, 3, 7, 4, 5, 61, 4])
      for name in [path, "users", "chat"] { scene.listen(name, Query(path: ResourcePath(name))) }
      // The collection with a listener is opened.
      scene.collections("chat", path, "products", "users")
      scene.change { state in
        state.network.reads = state.listeners.map { ReadMeter(target: $0.query.target, sent: 187, kept: 12) }
      }
      scene.snapshot(
        "12:05:01.000", 1, (10..<30).map { change(.added, FilledRoomTests.order($0, of: path)) }, count: total)
      for number in 10..<50 {
        let old = FilledRoomTests.order(number + 1, of: path, id: number)
        scene.snapshot(
          "12:05:\(number).250", 1, [change(.modified, FilledRoomTests.order(number, of: path), from: old)],
          count: total)
      }
      scene.press("1 j j")
      scene.tick("12:06:00")
      return scene
    }
  }

  /// An id as the server makes them.
  static func id(_ number: Int) -> String { "Zt5vK\(number)aQ3xLm8TgR1w4" }

  static func order(_ number: Int, of path: String, id: Int? = nil) -> Document {
    stored(
      "\(path)/\(Self.id(id ?? number))",
      [
        "status": .string(["new", "paid", "packed", "sent"][number % 4]), "total": .double(Double(number) * 3.5),
        "user": .string(["ada", "grace", "edsger", "barbara"][number % 4]), "note": .string("leave it at the door"),
        "city": .string(["Amsterdam", "Antwerp", "Gent"][number % 3]), "items": .array([.string("kettle × 1")]),
        "priority": .integer(Int64(number % 3)), "paidAt": .timestamp(Scene.time("11:58:03.120")),
      ])
  }

  @Test(
    "At most 35 % of a screen is empty, and at most 25 % of a large screen with data", arguments: Main.allCases, sizes)
  func filled(_ main: Main, _ size: Size) {
    let state = main.state(size)
    let canvas = view(state)

    let share = Self.blank(canvas, state.layout(size))

    #expect(share <= main.limit(at: size), "\(main.rawValue): \(share) of 100\n\(canvas.text)")
  }

  /// The share of cells that carry nothing, in hundredths.
  static func blank(_ canvas: Canvas, _ layout: Layout) -> Int {
    var rows: [Rect] = []
    for pane in layout.panes.keys {
      let content = layout.content(of: pane)
      rows += (content.y..<content.maxY).map { Rect(x: content.x, y: $0, width: content.width, height: 1) }
    }
    let lines = [layout.header, layout.band, layout.footer].compactMap(\.self)
    rows += lines
    var blank = 0
    for row in rows {
      let texts = (row.x..<row.maxX).filter { canvas[$0, row.y].text != " " }
      guard let first = texts.first, let last = texts.last else {
        blank += row.width
        continue
      }
      blank += first - row.x + row.maxX - 1 - last
      blank += zip(texts, texts.dropFirst()).reduce(0) { sum, pair in
        let gap = pair.1 - pair.0 - 1
        return sum + (gap > longestGap ? gap : 0)
      }
    }
    return blank * 100 / (canvas.size.width * canvas.size.height)
  }
}
