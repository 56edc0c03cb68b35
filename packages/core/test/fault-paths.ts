import { definitionFaultIncrementally } from '../src/authoring/definition-fault.ts'
import { runToEnd } from '../src/model/incremental.ts'
import { flagSetDefinitionSchema } from '../src/schema.ts'

/** Returns the path of the first fault of a definition, or `undefined` if there is none. */
export function pathByGuards(definition: unknown): string | undefined {
  return runToEnd(definitionFaultIncrementally(definition))?.path
}

/** Returns the path that the schema returns for the first fault of a definition. */
export function pathBySchema(definition: unknown): string | undefined {
  const issue = flagSetDefinitionSchema.safeParse(definition).error?.issues[0]
  return issue?.path.map(String).join('.')
}
