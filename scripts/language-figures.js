import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/**
 * Prints figures on the language of comments and documentation, for information: words that turn programs and data into
 * persons, and doc comments that start with a question word. `--list` prints each occurrence.
 */
const root = join(import.meta.dirname, '..')
const isListed = process.argv.includes('--list')
const IDIOSYNCRATIC =
  /\b(?:who|whoever|whom|whose|nobody|somebody|everybody|anybody|anew|told|tells|is here|comes back)\b/gi
const QUESTION = /^(?:What|Who|Whether|How)\b/

const files = execFileSync('git', ['ls-files', 'packages', 'docs', '*.md'], {
  cwd: root,
  encoding: 'utf8',
}).split('\n')
const isSource = (file) =>
  /^packages\/[^/]+\/src\/.*\.(?:js|tsx?)$/.test(file) && !/\.test\.tsx?$/.test(file)
const isPage = (file) => /^docs\/.*\.md$/.test(file) || /(?:^|\/)README\.md$/.test(file)

const comments = files.filter(isSource).flatMap((file) => commentsOf(file))
const pages = files.filter(isPage).map((file) => ({ file, text: proseOf(read(file)) }))
const docComments = comments.filter(({ isDoc }) => isDoc)
const questions = docComments.filter(({ text }) => QUESTION.test(text.trim()))

print('comments in packages/*/src', perThousand(comments), 'at most 1 in 1,000 words')
print('docs/ and READMEs', perThousand(pages), 'at most 1.5 in 1,000 words')
print('doc comments that start with a question word', share(questions, docComments), 'at most 4 %')
if (isListed) {
  for (const { file, text } of questions) print(file, text.trim().split('\n')[0])
  for (const { file, text } of [...comments, ...pages]) {
    for (const [word] of text.matchAll(IDIOSYNCRATIC)) print(file, word)
  }
}

function read(file) {
  return readFileSync(join(root, file), 'utf8')
}

/** Returns the comments of a source file, without code spans. */
function commentsOf(file) {
  const text = read(file)
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const ranges = new Map()
  const visit = (node) => {
    for (const range of ts.getLeadingCommentRanges(text, node.pos) ?? [])
      ranges.set(range.pos, range)
    for (const range of ts.getTrailingCommentRanges(text, node.end) ?? [])
      ranges.set(range.pos, range)
    for (const child of node.getChildren(source)) visit(child)
  }
  visit(source)
  return [...ranges.values()].map(({ pos, end }) => {
    const comment = text.slice(pos, end)
    const content = comment.replace(/^\/\*\*?|\*\/$|^\/\//g, '').replace(/\n\s*\* ?/g, '\n')
    return { file, isDoc: comment.startsWith('/**'), text: content.replace(/`[^`]*`/g, '`x`') }
  })
}

/** Returns the text of a page without code. */
function proseOf(markdown) {
  return markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}

function perThousand(texts) {
  const count = (pattern) =>
    texts.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0)
  const [found, words] = [count(IDIOSYNCRATIC), count(/[A-Za-z][A-Za-z'’-]*/g)]
  return `${((1000 * found) / words).toFixed(2)} idiosyncratic words in 1,000 (${found} of ${words})`
}

function share(part, whole) {
  return `${((100 * part.length) / whole.length).toFixed(1)} % (${part.length} of ${whole.length})`
}

function print(title, ...texts) {
  process.stdout.write(`${title}: ${texts.join('; ')}\n`)
}
