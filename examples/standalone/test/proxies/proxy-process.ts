import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../../../packages/storage/test/free-port.ts'

/** The folders of programs that only administrators have in their path. */
const PATH = `${process.env['PATH']}:/usr/sbin:/usr/local/sbin`
const APACHE_MODULES = '/usr/lib/apache2/modules'

/** The proxies with which tests run a server, each with its file in the folder `deploy`. */
export const PROXIES = ['nginx', 'apache2'] as const
export type ProxyName = (typeof PROXIES)[number]

interface ProxyOptions {
  readonly name: ProxyName
  /** The port of the server behind the proxy. */
  readonly serverPort: number
  /** Changes of the documented configuration: each text is replaced by the next one. */
  readonly changes?: readonly (readonly [text: string, replacement: string])[]
}

/** Resolves if a proxy is installed. Rejects with `ENOENT` otherwise. */
export async function findProxy(name: ProxyName): Promise<void> {
  const child = spawn(name, ['-v'], { env: { PATH }, stdio: 'ignore' })
  await once(child, 'exit')
}

/** A proxy with the documented configuration. */
export class ProxyProcess {
  readonly port: number
  readonly url: string
  readonly #child: ChildProcess
  readonly #folder: string

  private constructor(child: ChildProcess, port: number, folder: string) {
    this.#child = child
    this.#folder = folder
    this.port = port
    this.url = `http://127.0.0.1:${port}`
  }

  /** Starts a proxy on a free port. Resolves when it accepts connections. */
  static async start({ name, serverPort, changes = [] }: ProxyOptions): Promise<ProxyProcess> {
    const port = await freePort()
    const folder = mkdtempSync(join(tmpdir(), `ff-${name}-`))
    const file = name === 'nginx' ? 'nginx.conf' : 'apache.conf'
    const documented = readFileSync(join(import.meta.dirname, '../../deploy', file), 'utf8')
    const site = [
      ['127.0.0.1:4400', `127.0.0.1:${serverPort}`] as const,
      ['listen 8080', `listen 127.0.0.1:${port}`] as const,
      ['*:8080', `127.0.0.1:${port}`] as const,
      ...changes,
    ].reduce((text, [from, to]) => text.replaceAll(from, to), documented)
    const path = join(folder, file)
    writeFileSync(
      path,
      name === 'nginx' ? nginxAround(site, folder) : apacheAround(site, folder, port),
    )
    const parameters = name === 'nginx' ? ['-c', path, '-p', folder] : ['-X', '-f', path]
    const child = spawn(name, parameters, { env: { PATH }, stdio: ['ignore', 'ignore', 'pipe'] })
    const kill = () => child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    await untilListening(child, port)
    return new ProxyProcess(child, port, folder)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit')
      this.#child.kill('SIGKILL')
      await ended
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function nginxAround(site: string, folder: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log error;
events { worker_connections 2048; }
http {
  access_log off;
  ${temporary.map((each) => `${each}_temp_path ${folder}/${each};`).join('\n  ')}
  ${site}
}
`
}

function apacheAround(site: string, folder: string, port: number): string {
  const modules = ['mpm_event', 'authz_core', 'filter', 'headers', 'deflate', 'proxy', 'proxy_http']
  // Root must name another account for the requests.
  const account = process.getuid?.() === 0 ? 'User nobody\nGroup nogroup' : ''
  return `
ServerRoot ${folder}
ServerName flags.test
PidFile ${folder}/apache.pid
DefaultRuntimeDir ${folder}
ErrorLog ${folder}/error.log
LogLevel error
Listen 127.0.0.1:${port}
ThreadsPerChild 64
MaxRequestWorkers 64
${account}
${modules.map((each) => `LoadModule ${each}_module ${APACHE_MODULES}/mod_${each}.so`).join('\n')}
${site}
`
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  let log = ''
  child.stderr?.on('data', (text) => {
    log += text
  })
  while (!(await isOpen(port))) {
    if (child.exitCode !== null) throw new Error(`The proxy has ended: ${log}`)
    await pause(50)
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect')
    // A connection to a port without a listener can be one to itself.
    return socket.localPort !== port
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
