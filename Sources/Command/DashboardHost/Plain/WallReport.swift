// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel

/// The statistics of the wall (the view of all listeners) as one JSON object on a line.
enum WallReport {
  private typealias Member = JSONSyntax.Member

  /// - Returns: a line about the minute before the current second.
  static func line(of state: DashboardState) -> String {
    let figures = WallFigures(FrameState(state), end: state.now.seconds)
    return object([
      Member("type", string("wall")), Member("time", string(Timestamp(seconds: figures.end).rfc3339Text)),
      Member("seconds", integer(Wall.span)), Member("online", string(state.network.onlineState.rawValue)),
      Member("networkEnabled", JSONSyntax(.boolean(state.network.isNetworkEnabled))),
      Member("listeners", array(state.listeners.map { listener(figures.row(of: $0)) })),
      Member("writes", writes(figures, state)), Member("roundTrips", roundTrips(figures)),
      Member("outages", array(figures.outages.map { integer($0 ? 1 : 0) })),
    ]).lineText
  }

  private static func listener(_ row: WallFigures.Row) -> JSONSyntax {
    let record = row.listener
    let values = row.mix.map { mix in
      object([
        Member("field", string(mix.field)),
        Member("documents", object(mix.values.map { Member($0.value, integer($0.documents)) })),
      ])
    }
    return object([
      Member("name", string(record.name)), Member("query", string(QueryText.line(record.query))),
      Member("documents", record.count.map(integer) ?? null),
      Member("fromCache", JSONSyntax(.boolean(row.isFromCache))),
      Member("error", record.failure.map { string($0.description) } ?? null),
      Member("perSecond", JSONSyntax(.double(row.perSecond))), Member("events", array(row.events.map(integer))),
      Member("values", values ?? null),
    ])
  }

  private static func writes(_ figures: WallFigures, _ state: DashboardState) -> JSONSyntax {
    object([
      Member("waiting", integer(state.writes.waiting)), Member("acknowledged", integer(state.wall.totals.acknowledged)),
      Member("rejected", integer(state.wall.totals.rejected)), Member("madeEvents", array(figures.made.map(integer))),
      Member("acknowledgedEvents", array(figures.acknowledged.map(integer))),
      Member("rejectedEvents", array(figures.rejected.map(integer))),
    ])
  }

  /// The longest round trip in each second; `null` if there was none.
  private static func roundTrips(_ figures: WallFigures) -> JSONSyntax {
    let times = figures.roundTripTimes
    func percentile(_ share: Int) -> JSONSyntax { times.count == 0 ? null : integer(times.percentile(share)) }
    return object([
      Member("p50", percentile(50)), Member("p95", percentile(95)),
      Member("milliseconds", array(figures.roundTrips.map { $0 == 0 ? null : integer($0 - 1) })),
    ])
  }

  private static let null = JSONSyntax(.null)
  private static func object(_ members: [Member]) -> JSONSyntax { JSONSyntax(.object(members)) }
  private static func array(_ items: [JSONSyntax]) -> JSONSyntax { JSONSyntax(.array(items)) }
  private static func string(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }
  private static func integer(_ number: Int) -> JSONSyntax { JSONSyntax(.integer(Int64(number))) }
}
