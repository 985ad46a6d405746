// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
package import FirestoreModel

extension DashboardState {
  /// The next time at which the screen changes by itself: while nothing on it ages, that is the outage ruler at the
  /// full minute, so that an idle dashboard does next to nothing. The owner sends `Action.tick` at that moment.
  package var nextTick: Timestamp {
    var moments = toasts.map(\.expiry)
    moments += [
      writes.nextExpiry, browser.nextMarkExpiry(after: now), browser.nextCount, nextReviewTick, nextCountAge,
      network.isOffline ? nil : browser.renewals.next,
      overlay?.editor?.recountAt, outages.networkReturn, outages.nextChange, nextQuestion, nextWallTick,
      nextGraphTick, typing.pressed?.expiry,
    ].compactMap(\.self)
    if screen.isLinkSlow {
      if hasRunningClock || nextCountAge != nil { moments.append(now.next(multipleOf: Self.slowStep)) }
    } else if hasRunningClock {
      moments.append(now.nextSecond)
    }
    return moments.reduce(now.nextMinute) { min($0, max($1, now.nextMillisecond)) }
  }

  /// Whether the screen counts seconds: the age of a pending write, an outage, a retry, the event rate.
  package var hasRunningClock: Bool {
    writes.waiting > 0 || network.isOffline || nextAttempt != nil || feed.rate.isDecaying(at: now)
  }

  /// Lets time pass: toasts disappear, highlights fade, clocks advance.
  mutating func age(to time: Timestamp) {
    if time < now { setBack(to: time) } else { now = time }
    confirmCounts()
    notices.age(to: now)
    writes.age(to: now)
    outages.age(to: now)
    typing.age(to: now)
    tellReconnection()
    browser.forgetMarks(at: now)
  }
}

extension DashboardState {
  /// The seconds between two changes of clock and ages where the line to the terminal is slow.
  private static let slowStep: Int64 = 10

  /// The state as it is drawn: on a slow line clock, ages and tints are those of the last ten seconds' beginning, so that
  /// time alone sends little. The wall has a pace of its own.
  package var forItsLine: DashboardState {
    guard screen.isLinkSlow, !showsWall else { return self }
    var state = self
    state.now = now.floor(toMultipleOf: Self.slowStep)
    state.headerClock.hold(at: headerClock.time.floor(toMultipleOf: Self.slowStep), isRunning: hasRunningClock)
    return state
  }
}

extension DashboardState {
  /// Moves all times after the device's clock was set back: a remaining duration stays the same.
  private mutating func setBack(to time: Timestamp) {
    let distance = now.microseconds &- time.microseconds
    // A smaller distance means two events that overtook each other.
    guard distance >= 1_000_000 else { return }
    func moved(_ moment: Timestamp) -> Timestamp { Timestamp(microseconds: moment.microseconds &- distance) }
    now = time
    notices.move(moved)
    writes.move(moved)
    outages.move(moved)
    feed.moveBand(moved)
    wall.move(moved)
    browser.marks = browser.marks.mapValues { Browser.Mark(names: $0.names, isNew: $0.isNew, until: moved($0.until)) }
    browser.result?.move(moved)
    browser.recounts = browser.recounts.mapValues(moved)
    browser.nextReview = browser.nextReview.map(moved)
    browser.renewals.move(moved)
    for path in browser.windows.keys { browser.windows[path]?.count.move(moved) }
    if let due = overlay?.editor?.recountAt { overlay?.editor?.recountAt = moved(due) }
    moveQuestion(moved)
    network.since = moved(network.since)
    network.nextRetry = network.nextRetry.map(moved)
    headerClock.move(moved)
    typing.forgetMoments()
  }
}
