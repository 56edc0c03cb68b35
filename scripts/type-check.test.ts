import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { root } from './source-files.ts'

/** The examples outside the workspace, programs that the packaging tests check, and one benchmark. */
const OUTSIDE =
  /^examples\/(next-client|nextjs|nextjs-14|runtimes)\/|^scripts\/packaging\/programs\/|^packages\/client\/bench\//

/** Adds the files of a project and of its references, by the path of the `tsconfig.json`. */
function addProject(path: string, projects: Map<string, readonly string[]>): void {
  if (projects.has(path)) return
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined }
  const project = ts.getParsedCommandLineOfConfigFile(path, {}, host)
  if (project === undefined) throw new Error(`${path} is not a TypeScript project.`)
  projects.set(path, project.fileNames)
  for (const reference of project.projectReferences ?? []) {
    addProject(ts.resolveProjectReferencePath(reference), projects)
  }
}

/** Returns the paths of the files of all projects that `pnpm check:types` builds. */
function checkedFiles(): readonly string[] {
  const projects = new Map<string, readonly string[]>()
  addProject(join(root, 'tsconfig.json'), projects)
  return [...projects.values()].flat().map((file) => relative(root, file))
}

function typeScriptFiles(): readonly string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx']
  const files = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim().split('\n')
  return files.filter((file) => existsSync(join(root, file)) && !OUTSIDE.test(file))
}

it('The type check covers every TypeScript file of the workspace', () => {
  const checked = new Set(checkedFiles())
  const files = typeScriptFiles()
  expect(files.length).toBeGreaterThan(0)
  expect(files.filter((file) => !checked.has(file))).toEqual([])
})

it('The type check covers no file in two projects', () => {
  const files = checkedFiles()
  expect(files.filter((file, index) => files.indexOf(file) !== index)).toEqual([])
})
