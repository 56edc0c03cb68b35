import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

/*
 * Builds the benchmark like a package and runs it. A test runner would affect the measurement by its
 * module system. `--node <binary>` selects another Node binary. All other arguments are passed on.
 */
const here = dirname(fileURLToPath(import.meta.url))
const peers = join(here, 'peers')
const args = process.argv.slice(2)
const nodeAt = args.indexOf('--node')
const [, node = process.execPath] = nodeAt === -1 ? [] : args.splice(nodeAt, 2)
if (!args.includes('--no-peers') && !installPeers()) {
  process.stdout.write('The other engines could not be installed. Only this engine is measured.\n')
  args.push('--no-peers')
}
const outDir = await mkdtemp(join(here, '.built-'))
try {
  await build({
    entry: ['main', 'task', 'start'].map((name) => join(here, `${name}.ts`)),
    config: false,
    silent: true,
    format: 'esm',
    target: 'es2022',
    splitting: false,
    outDir,
    outExtension: () => ({ js: '.js' }),
    esbuildOptions: (options) => {
      options.conditions = ['@ff/source']
    },
    noExternal: [/.*/],
  })
  const { status } = spawnSync(node, [join(outDir, 'main.js'), ...args], {
    stdio: 'inherit',
    // Some other engines skip checks in production.
    env: { ...process.env, NODE_ENV: 'production' },
  })
  process.exitCode = status ?? 1
} finally {
  await rm(outDir, { recursive: true, force: true })
}

/** Installs the other engines, which are not part of the workspace. Returns `false` on failure. */
function installPeers() {
  if (arePeersInstalled()) return true
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', ['ci', ...options], { cwd: peers, stdio: 'inherit' })
  return status === 0 && arePeersInstalled()
}

function arePeersInstalled() {
  const { dependencies } = manifestIn(peers) ?? {}
  return Object.entries(dependencies).every(([name, version]) => {
    return manifestIn(join(peers, 'node_modules', name))?.version === version
  })
}

function manifestIn(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  } catch {
    return undefined
  }
}
