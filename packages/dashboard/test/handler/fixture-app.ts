import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'

/** The content of the only script of the fixture. */
export const SCRIPT = `console.log(${JSON.stringify('x'.repeat(500))})`

const PAGE = `<!doctype html>
<html><head>
<base href="/">
<meta name="ff-api" content="">
</head><body></body></html>
`

/** Returns a folder with a built application. It is deleted after the test. */
export function fixtureApp(page = PAGE): string {
  const parent = mkdtempSync(join(tmpdir(), 'ff-app-'))
  onTestFinished(() => rmSync(parent, { recursive: true }))
  const folder = join(parent, 'app')
  mkdirSync(join(folder, 'assets'), { recursive: true })
  writeFileSync(join(parent, 'secret.txt'), 'a secret')
  symlinkSync(join(parent, 'secret.txt'), join(folder, 'assets', 'link.txt'))
  symlinkSync(parent, join(folder, 'assets', 'parent'))
  writeFileSync(join(folder, 'index.html'), page)
  writeFileSync(join(folder, 'notices.txt'), 'MIT')
  const script = join(folder, 'assets', 'index-1234.js')
  writeFileSync(script, SCRIPT)
  writeFileSync(`${script}.br`, brotliCompressSync(SCRIPT))
  writeFileSync(`${script}.gz`, gzipSync(SCRIPT))
  return folder
}
