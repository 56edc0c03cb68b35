import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageNames, root } from '../source-files.ts'

/** A complete program of a page: a block that begins with an import, and the `ts` blocks below it. */
export interface Program {
  /** The page and the number of the program, such as `packages-core-1`. */
  readonly name: string
  readonly code: string
  /** The environment variables of the command that starts the program: `KEY=value npx tsx …`. */
  readonly variables: Readonly<Record<string, string>>
  /** The first `curl` command below the program. */
  readonly command?: string
  /** The responses after the command: sentences such as "`URL` now responds with `text`". */
  readonly responses: readonly { readonly url: string; readonly text: string }[]
}

/** The programs of a page, and the `ts` blocks that belong to none. */
export interface Snippets {
  readonly programs: readonly Program[]
  /** The regions of the examples that contain the other blocks, as `page: file#region`. */
  readonly fragments: readonly string[]
}

/** The README files of the repository and of the packages. */
export const readmes = ['README.md', ...packageNames.map((name) => `packages/${name}/README.md`)]

/** Matches a fenced block with its language, and the comment above it that names its source. */
const BLOCK = /(?:<!-- code: (\S+) -->\n+)?^```(\w*).*\n([\s\S]*?)^```$/gm

const CURL = /^curl (?:.*\\\n)*.*$/m
const START = /`((?:[A-Z_]+=\S+ )+)npx tsx /
const RESPONSE = /`(http:\S+)`\s+(?:now\s+)?responds\s+with\s+`([^`]+)`/g

/** Returns the TypeScript snippets of a page. */
export function snippetsOf(page: string): Snippets {
  const text = readFileSync(join(root, page), 'utf8')
  const folder = page.replace(/\/?README\.md$/, '').replaceAll('/', '-') || 'root'
  const pasted: { code: string; end: number }[] = []
  const fragments: string[] = []
  for (const { 0: block, index, 1: source, 2: language, 3: code = '' } of text.matchAll(BLOCK)) {
    if (language !== 'ts') continue
    const last = pasted.at(-1)
    const end = index + block.length
    if (/^import /.test(code)) pasted.push({ code, end })
    else if (last === undefined) fragments.push(`${page}: ${source ?? 'no region of an example'}`)
    else Object.assign(last, { code: `${last.code}\n${code}`, end })
  }
  const programs = pasted.map(({ code, end }, n) => {
    const below = text.slice(end, pasted[n + 1]?.end)
    return { name: `${folder}-${n + 1}`, code, ...instructionsIn(below) }
  })
  return { programs, fragments }
}

/** Returns how to run a program, from the text below it. */
function instructionsIn(text: string): Pick<Program, 'variables' | 'command' | 'responses'> {
  const assignments = START.exec(text)?.[1]?.trim().split(' ') ?? []
  const command = CURL.exec(text)?.[0]
  const responses = [...text.matchAll(RESPONSE)]
  return {
    variables: Object.fromEntries(assignments.map((assignment) => assignment.split('='))),
    ...(command !== undefined && { command }),
    responses: responses.map(([, url = '', answer = '']) => ({ url, text: answer })),
  }
}
