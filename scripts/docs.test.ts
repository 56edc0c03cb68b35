import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
  ...readdirSync(join(root, 'packages')).map((name) => join('packages', name, 'README.md')),
]

/**
 * Matches `<!-- code: path/to/file.ts#region -->` and the fenced block after it. A region begins after
 * the comment `#region`.
 */
const CODE_BLOCK = /<!-- code: (\S+)#(\S+) -->\n+```\w*\n([\s\S]*?)```/g

describe.each(pages)('%s', (page) => {
  const text = readFileSync(join(root, page), 'utf8')

  it(`The code blocks of ${page} are equal to the regions of the examples`, () => {
    for (const [, file = '', region = '', block] of text.matchAll(CODE_BLOCK)) {
      expect(block, `${file}#${region}`).toBe(regionOf(join(root, file), region))
    }
  })

  it(`The links of ${page} point to existing files`, () => {
    for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const file = join(root, dirname(page), target)
      expect(existsSync(file), `${page} → ${relative(root, file)}`).toBe(true)
    }
  })
})

function regionOf(file: string, region: string): string | undefined {
  const code = readFileSync(file, 'utf8')
  const found = new RegExp(
    `^( *)(?://|#) #region ${region}\\n([\\s\\S]*?)^ *(?://|#) #endregion`,
    'm',
  ).exec(code)
  if (found === null) return undefined
  const [, indent = '', body = ''] = found
  return body.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
}
