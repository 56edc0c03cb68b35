// @ts-check
// Writes a software bill of materials of packed packages and everything that npm installs with them:
// node scripts/sbom.js FOLDER_WITH_TARBALLS OUTPUT_FILE
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const [tarballs = '', output = ''] = process.argv.slice(2)
const project = mkdtempSync(join(tmpdir(), 'ff-sbom-'))

/** @param {readonly string[]} parameters */
function npm(...parameters) {
  return execFileSync('npm', parameters, { cwd: project, encoding: 'utf8' })
}

try {
  const manifest = { name: 'ff-packages', version: '0.0.0', private: true }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  const files = readdirSync(tarballs).filter((file) => file.endsWith('.tgz'))
  const paths = files.map((file) => resolve(tarballs, file))
  npm('install', '--package-lock-only', '--prefer-offline', '--no-audit', '--no-fund', ...paths)
  const bill = npm('sbom', '--package-lock-only', '--sbom-format', 'cyclonedx')
  writeFileSync(output, bill)
} finally {
  rmSync(project, { recursive: true, force: true })
}
