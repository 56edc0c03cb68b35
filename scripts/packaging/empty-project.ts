import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { root } from '../source-files.ts'
import { tarballOf } from './tarball.ts'

/** The time limit of one command, which is long because the machine can be busy. */
const COMMAND_LIMIT_MS = 300_000

/** The unit of the time limits of tests. */
export const MINUTE_MS = 60_000

const COMPILER_OPTIONS = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  skipLibCheck: false,
  types: ['node'],
}

/** The contents of an empty project before the installation. */
export interface ProjectOptions {
  /** The names of the packages whose tarballs are installed, such as `core`. */
  readonly packages: readonly string[]
  /** Further packages to install, such as `zod@4.4.0`. */
  readonly others?: readonly string[]
  readonly moduleType?: 'module' | 'commonjs'
}

/** A project outside of the repository, with installed tarballs. */
export class EmptyProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'ff-project-'))

  /** Writes a file of the project. */
  write(file: string, text: string): void {
    const path = join(this.folder, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  /** Copies a file of the folder `programs` to `src`. */
  copyProgram(name: string): void {
    const program = join(import.meta.dirname, 'programs', name)
    this.write(join('src', name), readFileSync(program, 'utf8'))
  }

  /** Runs a command in the project. Returns its output. Throws an error with its output if it fails. */
  async run(command: string, parameters: readonly string[], env = {}): Promise<string> {
    const settings = {
      cwd: this.folder,
      env: { ...process.env, ...env },
      timeout: COMMAND_LIMIT_MS,
    }
    try {
      return (await promisify(execFile)(command, parameters, settings)).stdout
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
      throw new Error(`${command} ${parameters.join(' ')} failed:\n${stdout}${stderr}`)
    }
  }

  /** Compiles `src` to `dist`. Throws an error with the messages of the compiler if there are any. */
  async compile(...options: readonly string[]): Promise<void> {
    await this.run('npx', ['tsc', '--project', '.', ...options])
  }
}

/** Creates an empty project and installs packages with npm. The project is deleted after the test. */
export async function installedProject(options: ProjectOptions): Promise<EmptyProject> {
  const { packages, others = [], moduleType = 'module' } = options
  const project = new EmptyProject()
  onTestFinished(() => rmSync(project.folder, { recursive: true, force: true }))
  project.write('package.json', JSON.stringify({ private: true, type: moduleType }))
  const compilerOptions = { ...COMPILER_OPTIONS, rootDir: 'src', outDir: 'dist' }
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['src'] }))
  const tools = ['typescript', '@types/node'].map((name) => `${name}@${versionHere(name)}`)
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
  const tarballs = packages.map(tarballOf)
  await project.run('npm', ['install', ...flags, ...tarballs, ...tools, ...others])
  return project
}

/** Returns the version of a package that this repository uses. */
function versionHere(name: string): string {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version
}
