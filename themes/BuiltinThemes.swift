// SPDX-License-Identifier: Apache-2.0

/// The theme files of this folder, embedded in the binary so that there is no bundle to lose.
package enum BuiltinThemes {
  /// Slug and TOML source of every built-in theme, in the order the picker shows them.
  package static let sources: [(slug: String, source: [UInt8])] = [
    ("ember", PackageResources.ember_toml),
    ("paper", PackageResources.paper_toml),
    ("high-contrast", PackageResources.high_contrast_toml),
    ("okabe-ito", PackageResources.okabe_ito_toml),
    ("solarized-dark", PackageResources.solarized_dark_toml),
    ("solarized-light", PackageResources.solarized_light_toml),
    ("gruvbox-dark", PackageResources.gruvbox_dark_toml),
    ("gruvbox-light", PackageResources.gruvbox_light_toml),
    ("nord", PackageResources.nord_toml),
    ("dracula", PackageResources.dracula_toml),
    ("catppuccin-mocha", PackageResources.catppuccin_mocha_toml),
    ("catppuccin-latte", PackageResources.catppuccin_latte_toml),
    ("tokyo-night", PackageResources.tokyo_night_toml),
    ("rose-pine-dawn", PackageResources.rose_pine_dawn_toml),
    ("monochrome", PackageResources.monochrome_toml),
  ]
}
