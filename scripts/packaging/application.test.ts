import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../source-files.ts'
import { installedProject, MINUTE_MS } from './empty-project.ts'
import { tarballOf } from './tarball.ts'

const folder = mkdtempSync(join(tmpdir(), 'ff-application-'))
/** The files of the application: path → content. */
const files = new Map<string, Buffer>()

beforeAll(() => {
  execFileSync('tar', ['-xzf', tarballOf('dashboard'), '-C', folder])
  const app = join(folder, 'package', 'dist', 'app')
  for (const entry of readdirSync(app, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) files.set(relative(app, path), readFileSync(path))
  }
})

afterAll(() => rmSync(folder, { recursive: true }))

/** Returns the texts of the files with one of the extensions. */
const textsOf = (extensions: RegExp): readonly (readonly [string, string])[] =>
  [...files].filter(([path]) => extensions.test(path)).map(([path, file]) => [path, String(file)])

describe('the application in the tarball of dashboard', () => {
  it('The application contains no source map and no reference to one', () => {
    expect([...files.keys()].filter((path) => path.endsWith('.map'))).toEqual([])
    for (const [path, text] of textsOf(/\.(?:js|css)$/)) {
      expect(text.includes('sourceMappingURL='), path).toBe(false)
    }
  })

  it('The application contains no path of the machine that has built it', () => {
    for (const [path, text] of textsOf(/\.(?:html|js|css|txt|svg)$/)) {
      for (const name of [root, `${homedir()}/`, 'node_modules/']) {
        expect(text.includes(name), `${path} contains ${name}`).toBe(false)
      }
    }
  })

  it('The application is a production build, also if the environment is that of a test run', () => {
    expect(process.env['NODE_ENV']).toBe('test')
    for (const [path, text] of textsOf(/\.js$/)) {
      expect(text.includes('jsxDEV'), path).toBe(false)
    }
  })

  it('The page and the styles name no other host', () => {
    for (const [path, text] of textsOf(/\.(?:html|css)$/)) {
      expect([path, text.match(/(?:https?:)?\/\/[\w-]+\.[\w.-]+/g)]).toEqual([path, null])
    }
  })

  it('Every script and style has compressed copies with the same content', () => {
    const plain = [...files].filter(([path]) => /\.(?:js|css|txt)$/.test(path))
    expect(plain.length).toBeGreaterThan(2)
    for (const [path, file] of plain) {
      expect(gunzipSync(files.get(`${path}.gz`) ?? '').equals(file), path).toBe(true)
      expect(brotliDecompressSync(files.get(`${path}.br`) ?? '').equals(file), path).toBe(true)
    }
  })

  it('The licences of the libraries are part of the application', () => {
    const licences = String(files.get('notices.txt'))
    for (const name of ['react', 'react-dom', '@fontsource-variable/inter']) {
      expect(licences).toMatch(new RegExp(`^## ${name} - `, 'm'))
    }
  })

  it(
    'The handler serves the application from an installed tarball without other packages',
    async () => {
      const project = await installedProject({ packages: ['dashboard'] })
      const script = `import { createDashboard } from '@ff/dashboard'
        const dashboard = createDashboard({ basePath: '/ui' })
        console.log(await dashboard(new Request('http://host/ui/login')).text())`
      const html = await project.run('node', ['--input-type=module', '--eval', script])
      expect(html).toContain('<base href="/ui/"')
    },
    2 * MINUTE_MS,
  )
})
