import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { packageNames, root } from '../source-files.ts'
import { type EmptyProject, installedProject, MINUTE_MS } from './empty-project.ts'
import { freePort } from './free-port.ts'

/** Matches a comment such as `<!-- file: flags.ts -->` and the fenced block below it. */
const STEP = /(?:<!-- (\w+)(?:: (.*?))? -->\n+)?^```(\w+)\n([\s\S]*?)^```$/gm

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const START_LIMIT_MS = 60_000

/** A block of the page, and the comment above it. */
interface Step {
  /** The word of the comment, such as `file`; `undefined` if there is no comment. */
  readonly mark: string | undefined
  /** The text after the word. */
  readonly detail: string
  readonly language: string
  readonly code: string
}

/** Returns a free port for each port of the quick starts. */
async function freePorts(): Promise<ReadonlyMap<string, string>> {
  const ports = new Map<string, string>()
  for (const port of ['4400', '3000', '3001', '3002']) ports.set(port, await freePort())
  return ports
}

/** Returns the blocks of the quick starts of a page in order. */
function stepsOf(page: string, ports: ReadonlyMap<string, string>): readonly Step[] {
  let text = readFileSync(join(root, page), 'utf8')
  text = text.slice(
    text.search(/^## .* quick start$/m),
    text.indexOf('<!-- end of quick starts -->'),
  )
  for (const [port, free] of ports) text = text.replaceAll(port, free)
  return [...text.matchAll(STEP)].map(([, mark, detail = '', language = '', code = '']) => {
    return { mark, detail, language, code }
  })
}

/** Runs the steps as a reader does, who pastes them one after another. */
class Reader {
  readonly #project: EmptyProject
  readonly #env: Record<string, string | undefined> = { ...process.env }

  constructor(project: EmptyProject) {
    this.#project = project
  }

  async follow({ mark, detail, language, code }: Step): Promise<void> {
    if (mark === 'install') return
    if (mark === 'file') this.#project.write(detail, code)
    else if (mark === 'start') await this.#start(code, detail)
    else if (language === 'sh') {
      const output = await this.#run(code)
      if (mark === 'output') expect(output.trimEnd(), code).toBe(detail)
    }
  }

  /** Runs a command and returns its output. Keeps the variable that the command exports. */
  async #run(code: string): Promise<string> {
    const variable = /^export (\w+)=/.exec(code)?.[1]
    const script = variable === undefined ? code : `${code}\nprintf %s "$${variable}"`
    const settings = { cwd: this.#project.folder, env: this.#env }
    const { stdout } = await promisify(execFile)('bash', ['-ec', script], settings)
    if (variable !== undefined) this.#env[variable] = stdout
    return stdout
  }

  /** Starts a program that continues to run, and waits until it responds at a URL. */
  async #start(code: string, url: string): Promise<void> {
    const command = code.trim().replace(/ &$/, '')
    const settings = { cwd: this.#project.folder, env: this.#env, detached: true } as const
    const running = spawn('bash', ['-c', `exec ${command}`], { ...settings, stdio: 'inherit' })
    onTestFinished(() => {
      if (running.pid !== undefined && running.exitCode === null)
        process.kill(-running.pid, 'SIGKILL')
    })
    const deadline = Date.now() + START_LIMIT_MS
    while (!(await responds(url))) {
      if (running.exitCode !== null || Date.now() > deadline)
        throw new Error(`${command} does not respond at ${url}`)
      await sleep(100)
    }
  }
}

it(
  'The quick starts of docs/clients.md and docs/openfeature.md work in an empty folder when they are pasted',
  async () => {
    expect(
      existsSync(CHROMIUM),
      `Install Chromium, or set CHROMIUM to its path (${CHROMIUM})`,
    ).toBe(true)
    const tools = ['tsx@4.23.15', 'esbuild@0.28.2', '@photostructure/sqlite@1']
    const sdks = ['core@1.12.0', 'server-sdk@1.23.0', 'web-sdk@1.10.0']
    const react = ['react@19', 'react-dom@19', '@types/react@19', '@types/react-dom@19']
    const others = [...tools, ...react, ...sdks.map((sdk) => `@openfeature/${sdk}`)]
    const project = await installedProject({ packages: packageNames, others })
    const ports = await freePorts()
    const reader = new Reader(project)
    for (const page of ['docs/clients.md', 'docs/openfeature.md']) {
      for (const step of stepsOf(page, ports)) await reader.follow(step)
    }
    await checkPages(project, ports)
  },
  5 * MINUTE_MS,
)

/** Opens the pages of the quick starts, switches the flag and waits for the pages to follow. */
async function checkPages(
  project: EmptyProject,
  ports: ReadonlyMap<string, string>,
): Promise<void> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  })
  onTestFinished(() => browser.close())
  const context = await browser.newContext()
  const faults: string[] = []
  context.on('weberror', (error) => faults.push(String(error.error())))
  context.on('console', (message) => {
    if (message.type() !== 'info' && !message.text().includes('favicon')) {
      faults.push(message.text())
    }
  })
  const pages = [await context.newPage(), await context.newPage()]
  for (const [turn, port] of ['3001', '3002'].entries()) {
    await pages[turn]?.goto(`http://localhost:${ports.get(port)}`)
  }
  for (const page of pages) await page.getByText('New checkout').waitFor()
  const flag = `http://localhost:${ports.get('4400')}/projects/shop/envs/live/flags/new-checkout`
  const token = ['-H', 'authorization: Bearer development-token']
  const change = ['-H', 'content-type: application/json', '-d', '{"default_variation_id":"false"}']
  await project.run('curl', ['-sf', '-X', 'PUT', flag, ...token, ...change])
  for (const page of pages) await page.getByText('Old checkout').waitFor()
  expect(faults).toEqual([])
}

async function responds(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )
}
