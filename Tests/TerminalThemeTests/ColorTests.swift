// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TerminalTheme

@Suite struct ColorTests {
  @Test("Hex colors are parsed in short and long form and printed in long form")
  func hex() {
    #expect(RGB(hex: "#f80")?.description == "#ff8800")
    #expect(RGB(hex: "#11141a") == RGB(17, 20, 26))
    for wrong in ["", "#", "#ff", "ff8800", "#gg0000", "#ff88000", "#ff é0"] { #expect(RGB(hex: wrong) == nil) }
  }

  @Test("Contrast follows WCAG")
  func contrast() {
    #expect(RGB(0, 0, 0).contrast(to: RGB(255, 255, 255)) == 21)
    #expect((4.4...4.6).contains(RGB(0x77, 0x77, 0x77).contrast(to: RGB(255, 255, 255))))
  }

  @Test(
    "The nearest of the 240 fixed colors is chosen perceptually",
    arguments: [
      ("#000000", 16), ("#ffffff", 231), ("#ff0000", 196), ("#808080", 244), ("#64ecd5", 122), ("#005e9c", 25),
    ])
  func quantiser(hex: String, index: UInt8) throws {
    #expect(XtermPalette.nearest(to: try #require(RGB(hex: hex))) == index)
  }

  @Test("Every fixed color is its own nearest, except duplicate grays")
  func quantiserIdentity() throws {
    for index in UInt8(16)...255 {
      let color = try #require(XtermPalette.color(index))
      #expect(XtermPalette.color(XtermPalette.nearest(to: color)) == color)
    }
    #expect(XtermPalette.color(15) == nil)
  }

  @Test("For green-blind viewers, red and green are far less different")
  func colorVision() throws {
    let green = try #require(RGB(hex: "#859900"))
    let red = try #require(RGB(hex: "#dc322f"))

    #expect((85...95).contains(ColorVision.normal.difference(green, red)))
    #expect((9...13).contains(ColorVision.deuteranopia.difference(green, red)))
  }
}
