import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { root, sourceFiles } from './source-files.ts'

/** The attributes whose text a user reads or hears. */
const READ_ATTRIBUTES = new Set([
  'alt',
  'aria-description',
  'aria-label',
  'aria-placeholder',
  'aria-roledescription',
  'aria-valuetext',
  'description',
  'errorMessage',
  'label',
  'placeholder',
  'title',
])

/** Matches text with a letter. Signs such as `→` belong to no language. */
const LETTER = /\p{L}/u

/** Returns the texts in the elements of a component that a user reads. */
function textsIn(file: string, code: string): readonly string[] {
  const kind = ts.ScriptKind.TSX
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true, kind)
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) texts.push(node.text.trim())
    if (ts.isJsxExpression(node) && isRead(node) && node.expression !== undefined)
      texts.push(...literalsIn(node.expression))
    if (ts.isJsxAttribute(node) && node.initializer !== undefined && isReadAttribute(node)) {
      if (ts.isStringLiteral(node.initializer)) texts.push(node.initializer.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return texts.filter((text) => LETTER.test(text))
}

/** Returns `true` for an expression that is the content of an element, or of an attribute that is read. */
function isRead({ parent }: ts.JsxExpression): boolean {
  return ts.isJsxAttribute(parent) ? isReadAttribute(parent) : true
}

function isReadAttribute({ name }: ts.JsxAttribute): boolean {
  return READ_ATTRIBUTES.has(name.getText())
}

/** Returns the string literals of an expression that are its value, such as those of `a ? 'b' : 'c'`. */
function literalsIn(expression: ts.Expression): readonly string[] {
  if (ts.isStringLiteralLike(expression)) return [expression.text]
  if (ts.isParenthesizedExpression(expression)) return literalsIn(expression.expression)
  if (ts.isTemplateExpression(expression)) {
    return [expression.head.text, ...expression.templateSpans.map(({ literal }) => literal.text)]
  }
  if (ts.isConditionalExpression(expression)) {
    return [...literalsIn(expression.whenTrue), ...literalsIn(expression.whenFalse)]
  }
  return ts.isBinaryExpression(expression)
    ? [...literalsIn(expression.left), ...literalsIn(expression.right)].filter(() =>
        VALUE_OPERATORS.has(expression.operatorToken.kind),
      )
    : []
}

const VALUE_OPERATORS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.PlusToken,
  ts.SyntaxKind.QuestionQuestionToken,
])

const components = sourceFiles('dashboard').filter((file) => file.endsWith('.tsx'))

describe('the application of the dashboard', () => {
  it('Every text that a user reads is in messages/, not in a component', () => {
    const found = components
      .filter((file) => !file.includes('/src/messages/'))
      .flatMap((file) =>
        textsIn(file, readFileSync(file, 'utf8')).map((text) => `${relative(root, file)}: ${text}`),
      )
    expect(found).toEqual([])
  })

  it.each([
    ['text', '<p>Some text</p>', 'Some text'],
    ['a literal', "<p>{'Some text'}</p>", 'Some text'],
    ['a template', ['<p>{`$', '{n} flags`}</p>'].join(''), ' flags'],
    ['a condition', "<p>{a ? b : 'Some text'}</p>", 'Some text'],
    ['a label', '<input aria-label="Some text" />', 'Some text'],
    ['a placeholder', "<input placeholder={a ?? 'Some text'} />", 'Some text'],
    ['a title', "<i title='Some text' />", 'Some text'],
  ])('A text in %s is found', (_, code, text) => {
    expect(textsIn('a.tsx', `const a = ${code}`)).toEqual([text])
  })

  it.each([
    '<p className="card">{messages.title}</p>',
    '<p>→ · 1</p>',
    "<p>{state === 'on' ? texts.on : texts.off}</p>",
    '<input type="text" id="name" />',
    '<p data-state={a ? "on" : "off"}> </p>',
  ])('The element %s contains no text', (code) => {
    expect(textsIn('a.tsx', `const a = ${code}`)).toEqual([])
  })

  it('No component sets HTML from a string', () => {
    const setting = components.filter((file) =>
      /dangerouslySetInnerHTML|\.innerHTML|insertAdjacentHTML/.test(readFileSync(file, 'utf8')),
    )
    expect(setting.map((file) => relative(join(root, 'packages'), file))).toEqual([])
  })
})
