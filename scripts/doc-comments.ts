import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** A name that a module declares and exports. */
export interface ExportedName {
  readonly name: string
  /** One comment serves all overloads of a function. */
  readonly hasComment: boolean
}

/**
 * Returns the names that a module declares and exports. Names of other modules are left out: their comments
 * are where the names are declared.
 */
export function exportedNames(file: string): readonly ExportedName[] {
  const text = readFileSync(file, 'utf8')
  const { statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const declared = new Set<string>()
  const documented = new Set<string>()
  const exported = new Set<string>()
  for (const statement of statements) {
    const names = declaredNames(statement)
    addAll(declared, names)
    if (ts.getJSDocCommentsAndTags(statement).length > 0) addAll(documented, names)
    if (isExported(statement)) addAll(exported, names)
    addAll(exported, namesInList(statement))
  }
  const own = [...exported].filter((name) => declared.has(name))
  return own.map((name) => ({ name, hasComment: documented.has(name) }))
}

function addAll(set: Set<string>, names: readonly string[]): void {
  for (const name of names) set.add(name)
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
}

function declaredNames(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText())
  }
  const { name } = statement as ts.DeclarationStatement
  return name === undefined ? [] : [name.getText()]
}

/** Returns the names of `export { a, b }`. */
function namesInList(statement: ts.Statement): readonly string[] {
  if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier !== undefined) return []
  const { exportClause } = statement
  if (exportClause === undefined || !ts.isNamedExports(exportClause)) return []
  return exportClause.elements.map(({ name, propertyName }) => (propertyName ?? name).getText())
}
