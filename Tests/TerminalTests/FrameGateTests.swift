// SPDX-License-Identifier: Apache-2.0
import SeededRandom
import Testing

@testable import Terminal

/// Frames over lines of different speeds, simulated in steps of a millisecond.
@Suite struct FrameGateTests {
  /// A terminal behind a line that carries bytes at a fixed rate, in order, and answers questions or does not.
  private struct Line {
    var bytesPerSecond: Double
    var answers: Bool
    /// Each way.
    var latency = Duration.zero
    private var free = FrameGate.Moment.now
    private(set) var replies: [FrameGate.Moment] = []

    init(_ bytesPerSecond: Double, answers: Bool = true, latency: Duration = .zero) {
      self.bytesPerSecond = bytesPerSecond
      self.answers = answers
      self.latency = latency
    }

    /// - Returns: when the terminal has drawn the bytes.
    mutating func send(_ bytes: Int, asks: Bool, at now: FrameGate.Moment) -> FrameGate.Moment {
      free = max(free, now) + .seconds(Double(bytes) / bytesPerSecond)
      if asks, answers { replies.append(free + latency + latency) }
      return free + latency
    }

    mutating func takeReplies(until now: FrameGate.Moment) -> Int {
      let due = replies.count { $0 <= now }
      replies.removeFirst(due)
      return due
    }
  }

  private struct Outcome {
    var frames = 0
    /// From each key to its frame on the terminal.
    var waits: [Duration] = []
    var isSlow = false
  }

  /// News all the time, which a frame shows in `newsBytes`, and a key of a hundred bytes now and then.
  private func run(_ line: Line, newsBytes: Int, for length: Duration = .seconds(20), seed: UInt64 = 1) -> Outcome {
    var (line, gate, outcome) = (line, FrameGate(), Outcome())
    var random = SeededGenerator(seed: seed)
    let start = FrameGate.Moment.now
    var now = start
    var pressed: FrameGate.Moment?
    while now < start + length {
      for _ in 0..<line.takeReplies(until: now) { gate.drawn(at: now) }
      if pressed == nil, now > start + .seconds(4), Int.random(in: 0..<700, using: &random) == 0 { pressed = now }
      if gate.due(for: pressed == nil ? .news : .input, at: now) <= now {
        let hasNews = !gate.holdsNews || gate.due(for: .news, at: now) <= now
        let bytes = (hasNews ? newsBytes : 0) + (pressed == nil ? 0 : 100)
        let shown = line.send(bytes, asks: gate.willSend(bytes, at: now), at: now)
        if let key = pressed { outcome.waits.append(shown - key) }
        pressed = nil
        outcome.frames += 1
      }
      now += .milliseconds(1)
    }
    outcome.isSlow = gate.isSlow
    return outcome
  }

  @Test("A fast terminal gets 30 frames a second")
  func fast() {
    let outcome = run(Line(10_000_000), newsBytes: 1_000)

    #expect((580...620).contains(outcome.frames))
    #expect((outcome.waits.max() ?? .seconds(9)) < .milliseconds(50))
    #expect(!outcome.isSlow)
  }

  @Test("At 4 KB/s under load a key is answered within half a second", arguments: [true, false])
  func slow(answers: Bool) {
    let outcome = run(Line(4_000, answers: answers), newsBytes: 700)

    #expect(outcome.waits.count > 10)
    #expect((outcome.waits.max() ?? .seconds(9)) <= .milliseconds(500), "\(outcome.waits)")
    #expect(outcome.frames > 40)
    #expect(outcome.isSlow == answers)
  }

  @Test("At 200 ms latency events get one frame per round trip, and keys do not wait")
  func distant() {
    let outcome = run(Line(1_000_000, latency: .milliseconds(200)), newsBytes: 1_000)

    #expect((45...90).contains(outcome.frames))
    #expect((outcome.waits.max() ?? .seconds(9)) < .milliseconds(250))
    #expect(outcome.isSlow)
  }

  @Test("The first frames measure the connection's speed; later single frames do not")
  func firstFrames() {
    var gate = FrameGate()
    var now = FrameGate.Moment.now
    for _ in 0..<3 {
      let asks = gate.willSend(100, at: now)
      #expect(asks)
      now += .milliseconds(300)
      gate.drawn(at: now)
      now += .seconds(5)
    }
    #expect(gate.isSlow)
    let asks = gate.willSend(100, at: now)
    #expect(!asks && gate.owedAnswer == nil)
  }

  @Test("The option for a slow connection applies whatever the round-trip time")
  func slowByOption() {
    var gate = FrameGate()
    #expect(!gate.isSlow && !gate.holdsNews)
    gate.isAlwaysSlow = true
    #expect(gate.isSlow && gate.holdsNews)
    gate.drawn(at: .now)
    gate.restart()
    #expect(gate.isSlow)
  }

  @Test("A remote screen gets event frames at the set interval, and keys do not wait")
  func fewFrames() {
    var gate = FrameGate()
    gate.newsInterval = .milliseconds(500)
    var now = FrameGate.Moment.now
    var frames = 0
    for _ in 0..<10_000 {
      if gate.due(for: .news, at: now) <= now {
        _ = gate.willSend(100, at: now)
        gate.drawn(at: now)
        frames += 1
      }
      now += .milliseconds(1)
    }
    #expect((19...21).contains(frames))
    _ = gate.willSend(100, at: now)
    #expect(gate.due(for: .input, at: now) - now == FrameGate.interval)
    #expect(gate.due(for: .news, at: now) - now == .milliseconds(500))
  }

  @Test("A terminal that never responds is queried only twice")
  func questions() {
    var gate = FrameGate()
    var now = FrameGate.Moment.now
    let first = gate.willSend(100, at: now)
    now += .seconds(1)
    let second = gate.willSend(100, at: now)
    #expect(first && second)

    var asked = 0
    for _ in 0..<300 {
      now += .milliseconds(33)
      if gate.willSend(100, at: now) { asked += 1 }
    }
    #expect(asked == 0)
  }
}
