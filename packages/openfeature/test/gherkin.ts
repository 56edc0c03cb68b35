import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AstBuilder, compile, GherkinClassicTokenMatcher, Parser } from '@cucumber/gherkin'
import { IdGenerator, type Pickle } from '@cucumber/messages'

/** A step of a scenario: its text, and the cells of its table. */
export interface Step {
  readonly text: string
  readonly table: readonly (readonly string[])[]
}

/** A scenario with the values of one row of its examples. */
export interface Scenario {
  /** The name of the scenario and its steps. */
  readonly title: string
  readonly tags: readonly string[]
  readonly steps: readonly Step[]
}

/** A step definition: the arguments are the groups of the pattern, the last one is the table. */
export type StepDefinition = readonly [
  RegExp,
  (...parameters: readonly string[]) => unknown,
  ((table: Step['table']) => unknown)?,
]

const folder = join(import.meta.dirname, 'fixtures/openfeature')

/** Returns the text of a file of the specification of OpenFeature. */
export function specification(file: string): string {
  return readFileSync(join(folder, file), 'utf8')
}

/** Returns the scenarios of a feature. */
export function scenariosOf(file: string): readonly Scenario[] {
  const newId = IdGenerator.incrementing()
  const parser = new Parser(new AstBuilder(newId), new GherkinClassicTokenMatcher())
  return compile(parser.parse(specification(file)), file, newId).map(toScenario)
}

function toScenario({ name, tags, steps }: Pickle): Scenario {
  const all = steps.map(({ text, argument }) => {
    const rows = argument?.dataTable?.rows ?? []
    return { text, table: rows.map(({ cells }) => cells.map(({ value }) => value)) }
  })
  const title = `${name}: ${all.map(({ text }) => text).join('; ')}`
  return { title, tags: tags.map((tag) => tag.name), steps: all }
}

/** Runs the steps of a scenario. Throws an error if a step has no definition. */
export async function run(
  { steps }: Scenario,
  definitions: readonly StepDefinition[],
): Promise<void> {
  for (const { text, table } of steps) {
    const found = definitions.find(([pattern]) => pattern.test(text))
    if (found === undefined) throw new Error(`The step "${text}" has no definition.`)
    const [pattern, action, withTable] = found
    const [, ...groups] = pattern.exec(text) ?? []
    await (withTable ? withTable(table) : action(...groups))
  }
}
