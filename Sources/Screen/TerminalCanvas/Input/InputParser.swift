// SPDX-License-Identifier: Apache-2.0

/// Turns the bytes of a terminal into events; the same bytes give the same events however they are split.
///
/// Understands CSI and SS3 keys with modifiers (xterm, rxvt, linux console, kitty), SGR mouse reports, bracketed
/// paste, focus reports and UTF-8, and swallows reports. Malformed input is dropped up to the next sensible byte and
/// never traps: a control byte ends any unfinished sequence, so that a truncated report cannot lock the keyboard.
///
/// The only ambiguity of the protocol, a lone ESC, is the caller's: when `needsFlush` stays true for 25 ms, call
/// `flush()`.
package struct InputParser: Sendable {
  /// Bytes of an unfinished sequence, bounded by the limits below.
  private var pending: [UInt8] = []
  /// The text of a paste whose end has not arrived.
  private var paste: PasteBuffer?

  /// The longest control sequence and the longest report that are kept; longer ones are dropped.
  static let maximumSequence = 64
  static let maximumReport = 1 << 16

  package init() {}

  /// Whether the bytes so far could be a key of their own, such as a lone ESC.
  package var needsFlush: Bool {
    guard paste == nil, pending.first == 0x1B else { return false }
    switch pending.count {
    case 1: return true
    case 2: return pending[1] == 0x1B || Self.isIntroducer(pending[1])
    case 3: return pending[1] == 0x1B && Self.isIntroducer(pending[2])
    default: return false
    }
  }

  /// Reads bytes and returns what they complete.
  package mutating func feed(_ bytes: some Sequence<UInt8>) -> [InputEvent] {
    var events: [InputEvent] = []
    if paste != nil {
      var iterator = bytes.makeIterator()
      resumePaste(&iterator, &events)
      while let byte = iterator.next() { pending.append(byte) }
    } else {
      pending.append(contentsOf: bytes)
    }
    drain(&events, isFlush: false)
    return events
  }

  /// Decides that no more bytes follow soon: pending bytes that could be a key are one.
  package mutating func flush() -> [InputEvent] {
    guard needsFlush else { return [] }
    var events: [InputEvent] = []
    drain(&events, isFlush: true)
    return events
  }

  private mutating func drain(_ events: inout [InputEvent], isFlush: Bool) {
    var position = 0
    while position < pending.count {
      switch Self.step(pending[position...], isFlush: isFlush) {
      case .incomplete:
        pending.removeFirst(position)
        return
      case .complete(let count, let event):
        position += max(1, count)
        if let event { events.append(event) }
      case .pasteBegins(let count):
        position += count
        paste = PasteBuffer()
        var rest = pending[position...].makeIterator()
        resumePaste(&rest, &events)
        if paste != nil {
          pending.removeAll()
          return
        }
        let remaining = Array(IteratorSequence(rest))
        position = pending.count - remaining.count
      }
    }
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func resumePaste(_ bytes: inout some IteratorProtocol<UInt8>, _ events: inout [InputEvent]) {
    guard var buffer = paste else { return }
    paste = nil
    while let byte = bytes.next() {
      if let text = buffer.append(byte) {
        events.append(.paste(text))
        return
      }
    }
    paste = buffer
  }

  static func isIntroducer(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "["), UInt8(ascii: "O"), UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"): true
    case UInt8(ascii: "^"), UInt8(ascii: "_"): true
    default: false
    }
  }
}

/// Collects a bracketed paste until `CSI 201 ~`.
private struct PasteBuffer: Sendable {
  private var bytes: [UInt8] = []
  /// The number of the last bytes that match the beginning of the end mark.
  private var matched = 0

  /// The longest paste in bytes; the rest is dropped.
  private static let maximum = 1 << 20
  private static let end: [UInt8] = Array("\u{1B}[201~".utf8)

  /// Takes a byte; returns the text when the end mark is complete.
  mutating func append(_ byte: UInt8) -> String? {
    if byte == Self.end[matched] {
      matched += 1
      return matched == Self.end.count ? String(decoding: bytes, as: UTF8.self) : nil
    }
    keep(Self.end[..<matched])
    // ESC occurs in the mark only at its start, so a failed match can continue only with that byte.
    matched = byte == Self.end[0] ? 1 : 0
    if matched == 0 { keep([byte]) }
    return nil
  }

  private mutating func keep(_ more: some Collection<UInt8>) {
    if bytes.count + more.count <= Self.maximum { bytes.append(contentsOf: more) }
  }
}
