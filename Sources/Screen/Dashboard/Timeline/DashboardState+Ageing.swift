// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
package import FirestoreModel

extension DashboardState {
  /// The next time when the screen changes although no event occurs. If nothing on the screen ages, this is the next
  /// full minute, when the timeline of outages in pane 3 moves. So an idle dashboard does almost nothing. The owner
  /// sends `Action.tick` at that time.
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

  /// Whether the screen counts the seconds of a pending write, an outage, a retry or an import.
  private var countsSeconds: Bool {
    writes.waiting > 0 || network.isOffline || nextAttempt != nil || storage.transfers.running != nil
  }

  /// Whether the screen's clock is running. It runs while the screen counts seconds, and while the event rate still
  /// decays.
  package var hasRunningClock: Bool { countsSeconds || feed.rate.isDecaying(at: now) }

  /// Sets the current time, which removes expired messages, fades highlights and advances clocks.
  mutating func age(to time: Timestamp) {
    if time < now { setBack(to: time) } else { now = time }
    confirmCounts()
    notices.age(to: now)
    writes.age(to: now)
    outages.age(to: now)
    typing.age(to: now)
    tellReconnection()
    browser.forgetMarks(at: now)
    // A slow line draws these steps with the next event.
    if countsSeconds, !screen.isLinkSlow { feed.runBand(to: now) }
  }
}

extension DashboardState {
  /// The seconds between two updates of clock and ages on a slow terminal connection.
  private static let slowStep: Int64 = 10

  /// The state to draw. On a slow terminal connection, the clock, ages and tints are drawn as of the last multiple of
  /// ten seconds, so that few bytes are sent while time passes. The wall limits its bytes separately.
  package var forItsLine: DashboardState {
    guard screen.isLinkSlow, !showsWall else { return self }
    var state = self
    state.now = now.floor(toMultipleOf: Self.slowStep)
    state.headerClock.hold(at: headerClock.time.floor(toMultipleOf: Self.slowStep), isRunning: hasRunningClock)
    return state
  }
}

extension DashboardState {
  /// Shifts all times after the device's clock was set back. Remaining durations are unchanged.
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
