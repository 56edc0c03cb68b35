import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogFields } from '@ff/server'
import { expect, it, onTestFinished } from 'vitest'
import { warnOfWidePermissions } from './file-permissions.ts'

function warnings(folderMode: number, fileMode: number): readonly unknown[] {
  const parent = mkdtempSync(join(tmpdir(), 'ff-permissions-'))
  onTestFinished(() => rmSync(parent, { recursive: true }))
  const folder = join(parent, 'data')
  mkdirSync(folder, { mode: folderMode })
  writeFileSync(join(folder, 'ff.sqlite'), '', { mode: fileMode })
  const found: unknown[] = []
  const warn = (_message: string, { path, permissions }: LogFields = {}) => {
    found.push([String(path).slice(parent.length), permissions])
  }
  const ignore = () => undefined
  const logger = { debug: ignore, info: ignore, warn, error: ignore }
  warnOfWidePermissions(join(folder, 'ff.sqlite'), logger)
  return found
}

it('A folder or a file that other users can open causes a warning', () => {
  expect(warnings(0o755, 0o600)).toEqual([['/data', '755']])
  expect(warnings(0o700, 0o640)).toEqual([['/data/ff.sqlite', '640']])
})

it('A folder and a file that only the owner can open cause no warning', () => {
  expect(warnings(0o700, 0o600)).toEqual([])
})
