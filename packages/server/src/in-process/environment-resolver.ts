import { FlagError, isFlagError } from '@ff/core'
import type { Storage } from '@ff/storage'
import type { Clock } from '../runtime/clock.ts'
import { MAX_RESOLVED_ENVIRONMENTS } from '../runtime/memory-bounds.ts'
import type { SavedState } from '../snapshots/saved-state.ts'

/** A reference to an environment: its id, or the keys of its project and of the environment. */
export type EnvironmentRef = EnvironmentIdRef | EnvironmentKeyRef

/** A reference to an environment by its id. */
export interface EnvironmentIdRef {
  /** The id of the environment, a UUID. */
  readonly environmentId: string
}

/** A reference to an environment by keys. */
export interface EnvironmentKeyRef {
  /** The key of the project. */
  readonly project: string
  /** The key of the environment, such as `live`. */
  readonly environment: string
  /**
   * The id of the organization; required if several organizations have a project with this key.
   */
  readonly orgId?: string
}

/** The time after which a known reference is looked up again, in the background. */
const FRESH_MS = 10_000
/** The time for which an unknown reference is refused without a query. */
const REFUSED_MS = 1000

interface Resolved {
  readonly environmentId: string
  checkedAt: number
}

interface Refused {
  readonly error: FlagError
  readonly refusedAt: number
}

/** The name of the saved references. */
const SAVED_REFERENCES = 'environments'

interface EnvironmentResolverOptions {
  readonly storage: Storage
  /** Contains the references that are known while the store is unavailable. */
  readonly saved: SavedState
  readonly clock: Clock
}

/**
 * Resolves references to environments. A reference by keys is read from the store once, and again
 * in the background while it is in use, because a project or an environment can be deleted and
 * created again with the same key.
 */
export class EnvironmentResolver {
  readonly #options: EnvironmentResolverOptions
  readonly #known = new Map<string, Resolved | Refused>()
  readonly #pending = new Map<string, Promise<string>>()

  constructor(options: EnvironmentResolverOptions) {
    this.#options = options
  }

  /** Uses the saved references until they can be read from the store. */
  async restore(): Promise<void> {
    const saved = await this.#options.saved.load<Record<string, string>>(SAVED_REFERENCES)
    for (const [name, environmentId] of Object.entries(saved?.value ?? {})) {
      this.#remember(name, { environmentId, checkedAt: Number.NEGATIVE_INFINITY })
    }
  }

  /** Returns the id of the environment; `undefined` if the store must be read first. */
  find(ref: EnvironmentRef): string | undefined {
    if (!isObject(ref)) return undefined
    if ('environmentId' in ref) return ref.environmentId
    const name = nameOf(ref)
    const known = this.#known.get(name)
    if (known === undefined || 'error' in known) return undefined
    if (Math.abs(this.#options.clock.now() - known.checkedAt) > FRESH_MS) {
      known.checkedAt = this.#options.clock.now()
      this.#refresh(name, ref).catch(() => undefined)
    }
    return known.environmentId
  }

  /**
   * Returns the id of the environment, and reads the store if necessary. Throws `NOT_FOUND` if the
   * project or the environment does not exist, `INVALID_REQUEST` if the reference is not valid or
   * not unique, and `UNAVAILABLE` if the store cannot be read.
   */
  async resolve(ref: EnvironmentRef): Promise<string> {
    assertRef(ref)
    const found = this.find(ref)
    if (found !== undefined || 'environmentId' in ref) return found ?? ''
    const name = nameOf(ref)
    const known = this.#known.get(name)
    if (known !== undefined && 'error' in known) {
      if (Math.abs(this.#options.clock.now() - known.refusedAt) < REFUSED_MS) throw known.error
    }
    return this.#refresh(name, ref)
  }

  /** Reads a reference from the store. Concurrent calls share one read. */
  #refresh(name: string, ref: EnvironmentKeyRef): Promise<string> {
    const pending = this.#pending.get(name)
    if (pending !== undefined) return pending
    const read = this.#read(name, ref).finally(() => this.#pending.delete(name))
    this.#pending.set(name, read)
    return read
  }

  async #read(name: string, ref: EnvironmentKeyRef): Promise<string> {
    const { storage, saved, clock } = this.#options
    try {
      const environmentId = await loadEnvironmentId(storage, ref)
      const isKnown = idOf(this.#known.get(name)) === environmentId
      this.#remember(name, { environmentId, checkedAt: clock.now() })
      if (isKnown) saved.confirm(SAVED_REFERENCES)
      else saved.save(SAVED_REFERENCES, () => [this.#toJson()])
      return environmentId
    } catch (error) {
      // While the store fails, a known id stays valid.
      if (isFlagError(error) && (error.code === 'NOT_FOUND' || error.code === 'INVALID_REQUEST')) {
        this.#remember(name, { error, refusedAt: clock.now() })
      }
      throw error
    }
  }

  #toJson(): string {
    const ids = [...this.#known].map(([name, known]) => [name, idOf(known)] as const)
    return JSON.stringify(Object.fromEntries(ids))
  }

  #remember(name: string, known: Resolved | Refused): void {
    if (this.#known.size >= MAX_RESOLVED_ENVIRONMENTS && !this.#known.has(name)) {
      this.#known.clear()
    }
    this.#known.set(name, known)
  }
}

async function loadEnvironmentId(storage: Storage, ref: EnvironmentKeyRef): Promise<string> {
  const { project: key, environment, orgId } = ref
  const where = { key, ...(orgId !== undefined && { orgId }) }
  const { data: projects } = await storage.list('project', { where })
  const [project, other] = projects
  if (project === undefined) {
    throw new FlagError('NOT_FOUND', `There is no project with the key "${key}".`)
  }
  if (other !== undefined) {
    const message = `Several organizations have a project with the key "${key}": add \`orgId\`.`
    throw new FlagError('INVALID_REQUEST', message)
  }
  const { data } = await storage.list('environment', { where: { projectId: project.id } })
  const found = data.find((candidate) => candidate.key === environment)
  if (found !== undefined) return found.id
  const keys = data.map((candidate) => candidate.key).sort()
  const message = `The project "${key}" has no environment "${environment}", only ${keys.join(', ')}.`
  throw new FlagError('NOT_FOUND', message)
}

function idOf(known: Resolved | Refused | undefined): string | undefined {
  return known === undefined || 'error' in known ? undefined : known.environmentId
}

function nameOf({ project, environment, orgId = '' }: EnvironmentKeyRef): string {
  return `${orgId}\n${project}\n${environment}`
}

/** Throws `INVALID_REQUEST` for a reference that the compiler did not check. */
function assertRef(ref: EnvironmentRef): void {
  if (isObject(ref) && namesOf(ref).every((name) => typeof name === 'string')) return
  const message = 'An environment is `{ environmentId }`, or `{ project, environment }` with keys.'
  throw new FlagError('INVALID_REQUEST', message)
}

function namesOf(ref: EnvironmentRef): readonly unknown[] {
  if ('environmentId' in ref) return [ref.environmentId]
  return [ref.project, ref.environment, ref.orgId ?? '']
}

function isObject(ref: unknown): boolean {
  return typeof ref === 'object' && ref !== null
}
