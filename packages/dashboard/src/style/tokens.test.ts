import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const css = readFileSync(join(import.meta.dirname, 'tokens.css'), 'utf8')
const THEMES = ['light', 'dark'] as const
const PAGES = ['background', 'surface', 'raised']
const VARIATIONS = Array.from({ length: 8 }, (_, index) => `variation-${index}`)

/** The colours that are used for text, with the backgrounds on which they appear. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  text: [...PAGES, 'accent-soft', 'on-soft', 'production-soft', 'danger-soft'],
  muted: PAGES,
  off: PAGES,
  accent: [...PAGES, 'accent-soft'],
  on: [...PAGES, 'on-soft'],
  production: [...PAGES, 'production-soft'],
  danger: [...PAGES, 'danger-soft'],
  'on-filled': ['filled', 'filled-hover', 'danger-filled', 'danger-filled-hover'],
  ...Object.fromEntries(VARIATIONS.map((name) => [name, PAGES])),
}

/** The colours of marks and of the borders of controls. */
const MARKS = ['control-line', 'accent', 'on', 'off', 'production', 'danger', ...VARIATIONS]

type Rgb = readonly [number, number, number]

function colourOf(name: string, theme: (typeof THEMES)[number]): Rgb {
  const value = new RegExp(`--${name}: ([^;]+);`).exec(css)?.[1]
  if (value === undefined) throw new Error(`There is no colour --${name}.`)
  const pair = /^light-dark\((#\w+), (#\w+)\)$/.exec(value)
  const hex = pair?.[theme === 'light' ? 1 : 2] ?? value
  const digits = /^#(?:([\da-f])([\da-f])([\da-f])|([\da-f]{2})([\da-f]{2})([\da-f]{2}))$/.exec(hex)
  if (digits === null) throw new Error(`--${name} is not a colour: ${hex}.`)
  const [red = '', green = '', blue = ''] = digits.slice(1).filter((each) => each !== undefined)
  const partOf = (part: string) => Number.parseInt(part.padEnd(2, part), 16)
  return [partOf(red), partOf(green), partOf(blue)]
}

/** The relative luminance of WCAG 2. */
function luminance(rgb: Rgb): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((part) => {
    const share = part / 255
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: Rgb, other: Rgb): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function tooLow(name: string, backgrounds: readonly string[], least: number): readonly string[] {
  return THEMES.flatMap((theme) =>
    backgrounds.flatMap((background) => {
      const value = contrast(colourOf(name, theme), colourOf(background, theme))
      return value < least ? [`${theme}: ${name} on ${background}: ${value.toFixed(2)}`] : []
    }),
  )
}

describe('the colours', () => {
  it('The contrast of black and white is 21.', () => {
    expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21)
  })

  it('Every text has a contrast of at least 4.5 on its backgrounds, in both themes.', () => {
    const faults = Object.entries(TEXTS).flatMap(([name, on]) => tooLow(name, on, 4.5))
    expect(faults).toEqual([])
  })

  it('Every mark has a contrast of at least 3 on its backgrounds, in both themes.', () => {
    expect(MARKS.flatMap((name) => tooLow(name, PAGES, 3))).toEqual([])
  })

  it('The knob of a switch has a contrast of at least 3 on its track, in both themes.', () => {
    expect(tooLow('surface', ['on', 'control-line'], 3)).toEqual([])
  })

  it('The list of colours for text and marks names every colour with a meaning.', () => {
    const names = [...css.matchAll(/--([\w-]+): (?:light-dark\()?#/g)].map(([, name = '']) => name)
    const backgrounds = [...Object.values(TEXTS).flat(), 'line']
    const unknown = names.filter((name) => !(name in TEXTS || MARKS.includes(name)))
    expect(unknown.filter((name) => !backgrounds.includes(name))).toEqual([])
  })
})
