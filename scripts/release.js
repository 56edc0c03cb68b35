// @ts-check
// Checks and publishes all packages with provenance. docs/releasing.md describes a release.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { releaseRefusals } from './release-refusals.js'

const root = join(import.meta.dirname, '..')
const packages = join(root, 'packages')

/** @param {readonly string[]} parameters */
function pnpm(parameters, env = {}) {
  execFileSync('pnpm', parameters, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
}

const refusals = releaseRefusals({
  env: process.env,
  manifests: readdirSync(packages).map((name) =>
    JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')),
  ),
  pendingChangesets: readdirSync(join(root, '.changeset')).filter((file) => file.endsWith('.md')),
  changedFiles: execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== ''),
})

if (refusals.length > 0) {
  for (const refusal of refusals) console.error(refusal)
  process.exitCode = 1
} else {
  pnpm(['audit:known'])
  pnpm(['test'])
  pnpm(['test:slow'])
  // Builds all packages, and checks their tarballs.
  pnpm(['check'])
  // Skips versions that are already published, so that an interrupted release can be repeated.
  pnpm(['-r', '--filter', './packages/*', 'publish', '--access', 'public', '--no-git-checks'], {
    NPM_CONFIG_PROVENANCE: 'true',
  })
  // The workflow keeps the bill of materials with the release.
  pnpm(['-r', '--filter', './packages/*', 'pack', '--pack-destination', join(root, 'tarballs')])
  pnpm(['sbom', 'tarballs', 'sbom.cdx.json'])
}
