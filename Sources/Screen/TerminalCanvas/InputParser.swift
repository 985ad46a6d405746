// SPDX-License-Identifier: Apache-2.0

/// Converts the bytes of a terminal to events. The result does not depend on how the bytes are split into reads.
///
/// Supports CSI and SS3 keys with modifiers (xterm, rxvt, linux console, kitty), SGR mouse reports, bracketed paste,
/// focus reports and UTF-8. Other reports are dropped. Malformed input is dropped up to the next valid byte. The parser
/// never traps. A control byte ends any unfinished sequence, so a truncated report cannot lock the keyboard.
///
/// The only ambiguity of the protocol is a lone ESC. If `needsFlush` remains true for 25 ms, the caller must call
/// `flush()`.
package struct InputParser: Sendable {
  /// The bytes of an unfinished sequence. Their count is bounded.
  private var pending: [UInt8] = []
  /// The text of a paste whose end has not yet arrived.
  private var paste: PasteBuffer?

  /// The maximum stored length of a control sequence or a report. Longer sequences are dropped.
  static let maximumSequence = 64
  static let maximumReport = 1 << 16

  package init() {}

  /// Whether the pending bytes could be a complete key, such as a lone ESC.
  package var needsFlush: Bool {
    guard paste == nil, pending.first == 0x1B else { return false }
    switch pending.count {
    case 1: return true
    case 2: return pending[1] == 0x1B || Self.isIntroducer(pending[1])
    case 3: return pending[1] == 0x1B && Self.isIntroducer(pending[2])
    default: return false
    }
  }

  /// Parses bytes and returns the completed events.
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

  /// Ends the wait for more bytes. Pending bytes that could be a key become that key.
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
  /// The count of newest bytes that match the first bytes of the end mark.
  private var matched = 0

  /// The maximum length of a paste in bytes. The rest is dropped.
  private static let maximum = 1 << 20
  private static let end: [UInt8] = Array("\u{1B}[201~".utf8)

  /// Appends a byte. Returns the text when the end mark is complete.
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

extension InputParser {
  enum Step {
    /// More bytes are needed to complete an event.
    case incomplete
    /// The count of consumed bytes, and their event; `nil` if they have no meaning.
    case complete(Int, InputEvent?)
    case pasteBegins(Int)
  }

  /// Parses one event at the start of a non-empty slice.
  static func step(_ bytes: ArraySlice<UInt8>, isFlush: Bool) -> Step {
    guard let first = bytes.first else { return .incomplete }
    if first == 0x1B { return escape(bytes, isFlush: isFlush) }
    if first < 0x20 || first == 0x7F { return .complete(1, controlKey(first).map { .key($0) }) }
    return text(bytes, modifiers: [])
  }

  /// The key of a C0 byte or DEL.
  private static func controlKey(_ byte: UInt8) -> Key? {
    switch byte {
    case 0x00: Key(.character(" "), .ctrl)
    case 0x08, 0x7F: Key(.backspace)
    case 0x09: Key(.tab)
    case 0x0D: Key(.enter)
    case 0x1B: Key(.escape)
    case 0x01...0x1A: .ctrl(Character(Unicode.Scalar(byte + 0x60)))
    default: .ctrl(Character(Unicode.Scalar(byte + 0x40)))
    }
  }

  /// Parses one scalar of UTF-8. Ignores invalid bytes and C1 controls.
  private static func text(_ bytes: ArraySlice<UInt8>, modifiers: Key.Modifiers) -> Step {
    let start = bytes.startIndex
    let lead = bytes[start]
    let length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0
    guard length > 0 else { return .complete(1, nil) }
    let available = bytes.prefix(length)
    if let wrong = available.dropFirst().firstIndex(where: { $0 & 0xC0 != 0x80 }) {
      return .complete(wrong - start, nil)
    }
    guard available.count == length else { return .incomplete }
    guard let decoded = String(validating: available, as: UTF8.self), let scalar = decoded.unicodeScalars.first,
      scalar.value >= 0xA0 || scalar.value < 0x7F
    else { return .complete(length, nil) }
    return .complete(length, .key(Key(.character(Character(scalar)), modifiers)))
  }

  private static func escape(_ bytes: ArraySlice<UInt8>, isFlush: Bool) -> Step {
    let rest = bytes.dropFirst()
    guard let next = rest.first else { return isFlush ? .complete(1, .key(Key(.escape))) : .incomplete }
    if next == 0x1B {
      // rxvt sends alt-arrow as ESC ESC [ A. Any other second ESC starts a new sequence.
      guard rest.count > 1 else { return isFlush ? .complete(1, .key(Key(.escape))) : .incomplete }
      guard [UInt8(ascii: "["), UInt8(ascii: "O")].contains(rest[rest.startIndex + 1]) else {
        return .complete(1, .key(Key(.escape)))
      }
      if isFlush, rest.count == 2 { return .complete(1, .key(Key(.escape))) }
      return withAlt(escape(rest, isFlush: isFlush))
    }
    if isIntroducer(next) {
      if rest.count == 1 {
        return isFlush ? .complete(2, .key(.alt(Character(Unicode.Scalar(next))))) : .incomplete
      }
      switch next {
      case UInt8(ascii: "["): return controlSequence(bytes)
      case UInt8(ascii: "O"): return singleShift(bytes)
      default: return report(bytes, isOperatingSystem: next == UInt8(ascii: "]"))
      }
    }
    if next < 0x20 || next == 0x7F {
      return .complete(2, controlKey(next).map { .key(Key($0.base, $0.modifiers.union(.alt))) })
    }
    switch text(rest, modifiers: .alt) {
    case .complete(let count, let event): return .complete(count + 1, event)
    case let step: return step
    }
  }

  /// The result of a step that follows an additional ESC. A key gets the modifier alt. Reports, mouse events and pastes
  /// are not typed, so the ESC before them is a separate key.
  private static func withAlt(_ step: Step) -> Step {
    switch step {
    case .complete(let count, .key(let key)):
      .complete(count + 1, .key(Key(key.base, key.modifiers.union(.alt))))
    case .complete, .pasteBegins: .complete(1, .key(Key(.escape)))
    case .incomplete: .incomplete
    }
  }

  /// Parses `ESC O letter`. Some terminals send a modifier digit before the letter.
  private static func singleShift(_ bytes: ArraySlice<UInt8>) -> Step {
    var index = bytes.startIndex + 2
    var modifiers: Key.Modifiers = []
    if (UInt8(ascii: "1")...UInt8(ascii: "8")).contains(bytes[index]) {
      modifiers = ControlSequence.modifiers(Int(bytes[index]) - 0x30)
      index += 1
      guard index < bytes.endIndex else { return .incomplete }
    }
    let byte = bytes[index]
    guard byte >= 0x20 else { return .complete(index - bytes.startIndex, nil) }
    let base = byte == UInt8(ascii: "M") ? .enter : ControlSequence.letterKey(byte)
    return .complete(index - bytes.startIndex + 1, base.map { .key(Key($0, modifiers)) })
  }

  /// Parses `ESC [ parameters final`.
  private static func controlSequence(_ bytes: ArraySlice<UInt8>) -> Step {
    let start = bytes.startIndex + 2
    if bytes[start] == UInt8(ascii: "[") {
      // The linux console sends F1 to F5 as ESC [ [ A to E.
      guard start + 1 < bytes.endIndex else { return .incomplete }
      let number = Int(bytes[start + 1]) - 0x40
      if bytes[start + 1] < 0x20 { return .complete(3, nil) }
      return .complete(4, (1...5).contains(number) ? .key(Key(.f(number))) : nil)
    }
    guard let end = bytes.prefix(maximumSequence)[start...].firstIndex(where: { !(0x20...0x3F).contains($0) }) else {
      return bytes.count >= maximumSequence ? .complete(maximumSequence, nil) : .incomplete
    }
    let final = bytes[end]
    let count = end - bytes.startIndex + 1
    guard (0x40...0x7E).contains(final) else { return .complete(count - 1, nil) }
    if final == UInt8(ascii: "M"), end == start {
      // The old mouse report: three bytes follow.
      return bytes.count < count + 3 ? .incomplete : .complete(count + 3, nil)
    }
    let sequence = ControlSequence(parameters: bytes[start..<end], final: final)
    return sequence.beginsPaste ? .pasteBegins(count) : .complete(count, sequence.event)
  }

  /// Parses `ESC ] text BEL` or `ESC P text ESC \`. Reports are dropped, except the text of a short operating system
  /// command.
  private static func report(_ bytes: ArraySlice<UInt8>, isOperatingSystem: Bool) -> Step {
    let body = bytes.prefix(maximumReport).dropFirst(2)
    guard let end = body.firstIndex(where: { $0 < 0x20 && $0 != 0x09 }) else {
      return bytes.count >= maximumReport ? .complete(maximumReport, nil) : .incomplete
    }
    let text = String(decoding: body[..<end], as: UTF8.self)
    let event = InputEvent.reply(isOperatingSystem ? .operatingSystem(text) : .other)
    let count = end - bytes.startIndex
    if bytes[end] == 0x07 { return .complete(count + 1, event) }
    guard bytes[end] == 0x1B else { return .complete(count, nil) }
    guard end + 1 < bytes.endIndex else { return .incomplete }
    return bytes[end + 1] == UInt8(ascii: "\\") ? .complete(count + 2, event) : .complete(count, nil)
  }
}

/// An event that a terminal reports.
package enum InputEvent: Hashable, Sendable {
  case key(Key)
  case mouse(MouseEvent)
  /// Text that was pasted. It can contain anything and is never interpreted as key presses.
  case paste(String)
  /// Whether the terminal's window now has the focus.
  case focus(Bool)
  case resize(Size)
  /// A reply to a query. It may be late and can be ignored.
  case reply(Reply)

  package enum Reply: Hashable, Sendable {
    /// The reply `CSI 0 n`: the terminal has drawn everything before the query.
    case drawn
    /// The payload of an operating system command such as a color report.
    case operatingSystem(String)
    /// Any other report.
    case other
  }
}

/// A mouse action at a cell. Cells are counted from zero.
package struct MouseEvent: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable { case press, release, drag, wheelUp, wheelDown }

  package enum Button: String, Hashable, Sendable { case left, middle, right, none }

  package var kind: Kind
  package var button: Button
  package var x: Int
  package var y: Int
  package var modifiers: Key.Modifiers

  package init(kind: Kind, button: Button = .left, x: Int, y: Int, modifiers: Key.Modifiers = []) {
    self.kind = kind
    self.button = button
    self.x = x
    self.y = y
    self.modifiers = modifiers
  }

  package var point: Point { Point(x: x, y: y) }
}
