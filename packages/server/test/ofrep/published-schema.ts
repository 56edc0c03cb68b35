import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect } from 'vitest'
import { parse } from 'yaml'

const ROOT = 'https://openfeature.test/openapi'

interface PublishedDocument {
  readonly components: { readonly schemas: Record<string, Record<string, unknown>> }
}

/**
 * Loads the published document with two corrections. A flag without a value is an object of any
 * form there, so that every flag with a value matches two alternatives: here it has no `value`. An
 * integer is also a float, so that it matches two alternatives: here one of them is enough.
 */
function loadDocument(): PublishedDocument {
  const path = join(import.meta.dirname, 'protocol', 'openapi.yaml')
  const document = parse(readFileSync(path, 'utf8')) as PublishedDocument
  const { schemas } = document.components
  const { codeDefaultFlag, evaluationSuccess } = schemas
  if (codeDefaultFlag === undefined || evaluationSuccess === undefined) {
    throw new Error('The document has another form')
  }
  codeDefaultFlag['not'] = { required: ['value'] }
  const [common, { oneOf, ...rest }] = evaluationSuccess['allOf'] as [object, { oneOf: unknown }]
  evaluationSuccess['allOf'] = [common, { ...rest, anyOf: oneOf }]
  return document
}

let ajv: Ajv2020 | undefined

function validator(): Ajv2020 {
  if (ajv !== undefined) return ajv
  ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addFormat('float', true)
  ajv.addSchema(loadDocument(), ROOT)
  return ajv
}

/** Expects a value to match a schema of the published OFREP document. */
export function assertPublished(schema: string, value: unknown): void {
  const known = validator()
  const validate = known.getSchema(`${ROOT}#/components/schemas/${schema}`)
  if (validate === undefined) throw new Error(`No schema ${schema}`)
  validate(value)
  expect(validate.errors ?? []).toEqual([])
}
